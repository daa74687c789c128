"""How long requests took. Every process of the web server counts; deploy/gunicorn.conf.py says where."""

from prometheus_client import Histogram

REQUEST_SECONDS = Histogram(
    "portal_request_seconds",
    "Time to answer a request, by the view's name and the status.",
    ["view", "status"],
    buckets=(0.01, 0.03, 0.1, 0.3, 1, 3, 10),
)
