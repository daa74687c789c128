"""The portal's settings, read from the environment (docs/settings.md). No logic, no copies per environment."""

from ipaddress import ip_address
from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from portal import logs
from portal.env import (
    env_address,
    env_bool,
    env_choice,
    env_database,
    env_int,
    env_keys,
    env_list,
    env_secret,
    env_str,
    env_url,
)
from portal.languages import languages_in

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env_str("PORTAL_VAR", str(BASE_DIR / "var")))

# Mode: demo has a sign-in without passwords and therefore listens on loopback only
PORTAL_MODE = env_choice("PORTAL_MODE", ("production", "demo"), "production")
DEMO = PORTAL_MODE == "demo"
PORTAL_BIND = env_address("PORTAL_BIND", "127.0.0.1:8000")
if DEMO and not ip_address(PORTAL_BIND.rpartition(":")[0].strip("[]")).is_loopback:
    raise ImproperlyConfigured(
        f"PORTAL_MODE is demo and PORTAL_BIND is {PORTAL_BIND!r}: the demo listens on a loopback address only."
    )

# Web
SECRET_KEY = env_secret("PORTAL_SECRET_KEY")
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]"] if DEMO else env_list("PORTAL_HOSTS")
ROOT_URLCONF = "portal.urls"
WSGI_APPLICATION = "portal.wsgi.application"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.saml",
    "csp",
    "template_partials.apps.SimpleAppConfig",
    "portal",
    "accounts",
    "teams",
    "notices",
    "jobs",
]
MIDDLEWARE = [
    "portal.middleware.request_context",
    "portal.middleware.no_body_for_head",
    "portal.middleware.loopback_only_in_demo",
    "portal.views.operations.operations",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "portal.middleware.request_line",  # below whitenoise: static files are not worth a line
    "portal.middleware.utf_8_only",
    "portal.middleware.private_by_default",
    "accounts.tokens.no_pages_for_programs",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "portal.middleware.no_null_characters",
    "portal.middleware.sign_in_for_parts",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "accounts.tokens.sign_in_by_token",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "accounts.zones.show_in_readers_zone",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "loaders": [
                (
                    "template_partials.loader.Loader",
                    [("django.template.loaders.cached.Loader", ["django.template.loaders.filesystem.Loader"])],
                )
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "portal.web.chrome",
                "accounts.break_glass.broken_glass",
                "teams.navigation.menu",
            ],
            "builtins": [
                "django.templatetags.i18n",
                "template_partials.templatetags.partials",
                "portal.templatetags.ui",
            ],
        },
    }
]

# Security: over TLS everywhere but on the demo's loopback
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = SECURE_SSL_REDIRECT = not DEMO
CSRF_COOKIE_HTTPONLY = LANGUAGE_COOKIE_HTTPONLY = True  # sessions' are by default
LANGUAGE_COOKIE_SAMESITE = "Lax"  # the others are by default
SECURE_HSTS_SECONDS = 0 if DEMO else 31_536_000
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = not DEMO
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env_bool("PORTAL_BEHIND_PROXY", False) else None
SECURE_REFERRER_POLICY = "same-origin"
SESSION_ENGINE = "accounts.sessions"
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME, LANGUAGE_COOKIE_NAME, SAML_ARRIVAL_COOKIE_NAME = (
    name if DEMO else f"__Host-{name}" for name in ("sessionid", "csrftoken", "language", "saml-arrival")
)
SESSION_COOKIE_AGE = env_int("PORTAL_SESSION_HOURS", 12, least=1) * 3600
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],  # the front end's style sheet draws its small icons from data: addresses
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

# People
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["notices.inbox.ReaderBackend"]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "home"

# Sign-in by SAML (accounts/saml): allauth without its own accounts, forms and addresses
SOCIALACCOUNT_ONLY = True
SOCIALACCOUNT_EMAIL_VERIFICATION = ACCOUNT_EMAIL_VERIFICATION = "none"
SOCIALACCOUNT_ADAPTER = "accounts.saml.adapter.SocialAdapter"
ACCOUNT_ADAPTER = "accounts.saml.adapter.AccountAdapter"
SOCIALACCOUNT_PROVIDERS = {"saml": {"provider_class": "accounts.saml.provider.PortalSAMLProvider"}}
ALLAUTH_TRUSTED_PROXY_COUNT = 1 if SECURE_PROXY_SSL_HEADER else 0
SAML_KEY = env_secret("PORTAL_SAML_KEY", "")
SAML_CERTIFICATE = env_secret("PORTAL_SAML_CERTIFICATE", "")
if bool(SAML_KEY) != bool(SAML_CERTIFICATE):
    raise ImproperlyConfigured("PORTAL_SAML_KEY and PORTAL_SAML_CERTIFICATE belong together: set both or none.")

# Database
DATABASES: dict[str, Any] = {"default": env_database("PORTAL_DATABASE_URL", f"sqlite:///{VAR_DIR}/portal.sqlite3")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",  # deferred ones fail at once when two processes write
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA mmap_size=1073741824;",
    }
else:
    DATABASES["default"].setdefault("OPTIONS", {}).setdefault("connect_timeout", 5)  # else minutes, thread by thread
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True

# Celery: Redis in production, folders in the embedded default
CELERY_BROKER_URL = env_url(
    "PORTAL_BROKER_URL", ("redis", "rediss", "filesystem"), "filesystem://localhost" if DEMO else None
)
BROKER_DIR = VAR_DIR / "broker"
PULL_SECONDS = env_int("PORTAL_PULL_SECONDS", 60, least=1)

# Messages to people
PORTAL_ADDRESS = env_str("PORTAL_ADDRESS", f"http://{PORTAL_BIND}" if DEMO else f"https://{ALLOWED_HOSTS[0]}").rstrip(
    "/"
)
CHANNEL_KEYS = env_keys("PORTAL_CHANNEL_KEYS")
MAIL_URL = env_secret("PORTAL_MAIL_URL", "")
MAIL_FROM = env_str("PORTAL_MAIL_FROM", "")
INTERNAL_TARGETS = frozenset(env_str("PORTAL_INTERNAL_TARGETS", "").replace(",", " ").split())

# Languages and times: stored and bucketed in UTC, shown in the reader's zone
LANGUAGE_CODE = "en"
LOCALE_PATHS = [BASE_DIR / "locale"]
LANGUAGES = languages_in(LOCALE_PATHS[0])
USE_I18N = True
USE_THOUSAND_SEPARATOR = True
USE_TZ = True
TIME_ZONE = "UTC"

# Static files, the front end's packages among them (`make setup` copies those to var/vendor)
STATIC_URL = "static/"
STATIC_ROOT = Path(env_str("PORTAL_STATIC_ROOT", str(VAR_DIR / "static")))
STATICFILES_DIRS = [BASE_DIR / "static", ("vendor", BASE_DIR / "var/vendor")]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# Logs and metrics
METRICS_TOKEN = env_secret("PORTAL_METRICS_TOKEN", "")
LOGGING = logs.configured(env_choice("PORTAL_LOG_LEVEL", ("DEBUG", "INFO", "WARNING"), "INFO"))
