from django.apps import AppConfig

from portal import collector


class PortalConfig(AppConfig):
    name = "portal"

    def ready(self) -> None:
        collector.relax()
        from portal import celery  # noqa: F401  (tasks sent from the web process need the app)
