"""The web server: a few processes with threads. Addresses and sizes come from the environment (docs/settings.md)."""

import os
import shutil
import sys
import tempfile
from importlib import import_module
from itertools import count

from django.core.exceptions import ImproperlyConfigured
from prometheus_client import values

from portal.env import env_int, env_str

wsgi_app = "portal.wsgi"
bind = env_str("PORTAL_BIND", "127.0.0.1:8000")
workers = env_int("PORTAL_WEB_PROCESSES", 2, least=1)
worker_class = "gthread"
threads = env_int("PORTAL_WEB_THREADS", 4, least=1)  # more only take turns: 8 triple the longest waits under load
timeout = 60
graceful_timeout = 10
max_requests = 20_000  # a slow leak in a library never grows old
max_requests_jitter = 2_000
accesslog = None  # the portal writes a line per request itself
control_socket_disable = True
forwarder_headers = ""  # nobody in front may say under which path the portal stands


def on_starting(server):
    """Wrong settings end it at once, where each process would fail with a traceback of its own. The processes count
    requests in files of one folder; whichever is asked for the metrics adds them up."""
    try:
        import_module("portal.settings")
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(prefix="portal-metrics-")


def on_exit(server):
    shutil.rmtree(os.environ["PROMETHEUS_MULTIPROC_DIR"], ignore_errors=True)


def pre_fork(server, worker):
    """A process has a slot, whose file its successor goes on with: files by process id would pile up."""
    taken = {other.slot for other in server.WORKERS.values()}
    worker.slot = next(slot for slot in count() if slot not in taken)


def post_fork(server, worker):
    values.ValueClass = values.MultiProcessValue(lambda: worker.slot)
