def chrome(request):
    return {}
