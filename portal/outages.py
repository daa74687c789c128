"""What keeps the portal from working without being its own fault: which it is, and what to do, in a sentence."""

import errno
from typing import Final

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, InterfaceError, OperationalError, ProgrammingError, connection
from kombu.exceptions import OperationalError as BrokerFailure

_OF_THE_MACHINE = frozenset(
    (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST, errno.EADDRINUSE)
)

AGAIN_SECONDS: Final = 30
"""After so long it is worth asking again for what an outage kept from being answered."""


def is_of_the_database(error: BaseException | None) -> bool:
    """It cannot be reached, read or written: not a statement or a row that is wrong."""
    return isinstance(error, OperationalError | InterfaceError) or type(error) is DatabaseError


def told(error: BaseException) -> str | None:
    """One sentence or two; None where only the traceback helps."""
    if isinstance(error, ImproperlyConfigured):
        return str(error)
    if is_of_the_database(error) or _lacks_tables(error):
        return _database(error)
    if isinstance(error, BrokerFailure):
        return f"The broker cannot be reached: {_line(error)}. See PORTAL_BROKER_URL, and whether it runs there."
    if isinstance(error, OSError) and error.errno in _OF_THE_MACHINE:
        return f"{error.filename or 'The portal'}: {error.strerror}. See the disk, the rights, and PORTAL_VAR."
    return None


def _lacks_tables(error: BaseException) -> bool:
    """PostgreSQL says of tables and columns that are not there yet that the statement is wrong."""
    return isinstance(error, ProgrammingError) and "does not exist" in str(error)


def _database(error: BaseException) -> str:
    if connection.vendor != "sqlite":
        mend = "See PORTAL_DATABASE_URL, whether the server runs there, and whether `manage.py migrate` has run."
        return f"The database cannot be used: {_line(error)}. {mend}"
    if type(error) is DatabaseError:  # what SQLite says of a file that is none of its own
        mend = "Move the file away: `manage.py migrate` makes a new one."
    else:
        mend = "See the disk, the rights of the file and its folder, and whether `manage.py migrate` has run."
    return f"The database {connection.settings_dict['NAME']} cannot be used: {_line(error)}. {mend}"


def _line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
