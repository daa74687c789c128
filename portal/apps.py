import gc

from django.apps import AppConfig

_GARBAGE = 50_000  # lists make many objects and hardly any cycles: collecting every 700 costs a fifth of a pull


class PortalConfig(AppConfig):
    name = "portal"

    def ready(self) -> None:
        gc.set_threshold(_GARBAGE, 20, 20)
        from portal import celery  # noqa: F401  (tasks sent from the web process need the app)
