"""The portal's own settings under the environment of a test run; the database may be given from outside."""

import os
import tempfile

os.environ.setdefault("PORTAL_VAR", tempfile.mkdtemp(prefix="portal-test-"))
os.environ.update(
    PORTAL_MODE="demo",
    PORTAL_SECRET_KEY="a key for tests that is long enough to please the deployment check 0123456789",
    PORTAL_BIND="127.0.0.1:0",
)

from portal.settings import *  # noqa: E402,F403
from portal.settings import DATABASES, STORAGES, VAR_DIR  # noqa: E402

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # In a file as everywhere else: threads that share one in memory fail at each other's locks instead of waiting.
    DATABASES["default"]["TEST"] = {"NAME": VAR_DIR / "test.sqlite3"}
