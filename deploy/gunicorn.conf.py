"""The web server: a few processes with threads. Addresses and sizes come from the environment (docs/settings.md)."""

from portal.env import env_int, env_str

wsgi_app = "portal.wsgi"
bind = env_str("PORTAL_BIND", "127.0.0.1:8000")
workers = env_int("PORTAL_WEB_PROCESSES", 2, least=1)
worker_class = "gthread"
threads = env_int("PORTAL_WEB_THREADS", 8, least=1)
timeout = 60
graceful_timeout = 10
max_requests = 20_000  # a slow leak in a library never grows old
max_requests_jitter = 2_000
accesslog = None  # one line per request belongs to the proxy
control_socket_disable = True
