from django.apps import AppConfig


class PortalConfig(AppConfig):
    name = "portal"

    def ready(self) -> None:
        from portal import celery  # noqa: F401  (tasks sent from the web process need the app)
