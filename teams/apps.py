from django.apps import AppConfig


class TeamsConfig(AppConfig):
    name = "teams"

    def ready(self) -> None:
        from teams import grants  # noqa: F401  (hears of what gives roles)
