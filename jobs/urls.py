from django.urls import path

from jobs import views

app_name = "jobs"
urlpatterns = [
    path("clusters/<slug:cluster>/workloads/<str:uid>/", views.workload_page, name="workload"),
]
