"""What a server reports, as errors of memcli: one line, what to do, and an exit code."""

from __future__ import annotations

import psycopg
from psycopg import errors

from memcli.errors import LockedError, MemcliError, RefusedError, StoreError
from memcli.postgres.address import Address
from memcli.postgres.connection import SilentError

RETRIED = (errors.SerializationFailure, errors.DeadlockDetected, errors.UniqueViolation)
"""What goes away when a transaction is made again."""
_UNREACHABLE = "check the address, the network and that the server runs"
_HINTS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("no password supplied",), "set PGPASSFILE or PGPASSWORD, or name a service in the URL"),
    (("password authentication", "authentication failed", "no pg_hba.conf entry"), "check the user, its password and pg_hba.conf"),
    (("certificate", "SSL", "ssl"), "check sslmode and sslrootcert in the URL"),
    (("does not exist",), "check the user and the database in the URL"),
    (("too many clients", "remaining connection slots"), "raise max_connections of the server, or try again later"),
)  # fmt: skip


class UnreachableError(StoreError):
    """The server could not be connected to. `is_for_now`: it is there, and starts or stops."""

    is_for_now = False


def is_lost(error: psycopg.Error) -> bool:
    """Whether the connection is gone, and with it what its transaction had not committed."""
    if isinstance(error, errors.AdminShutdown | errors.CrashShutdown | errors.CannotConnectNow):
        return True
    if isinstance(error, errors.IdleInTransactionSessionTimeout):
        return True
    return error.sqlstate is None and isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)


def unreachable(error: psycopg.Error, address: Address) -> UnreachableError:
    """The error for a server that cannot be connected to."""
    told = _line(error, address)
    hint = next((hint for words, hint in _HINTS if any(word in told for word in words)), _UNREACHABLE)
    found = UnreachableError(f"cannot connect to the store at {address.shown}: {_shown(told)}", hint)
    found.is_for_now = told.startswith("the database system is")
    return found


def failure(error: psycopg.Error, address: Address, what: str) -> MemcliError:
    """The error of memcli for one of the server's, while doing `what`."""
    told = _shown(_line(error, address))
    if isinstance(error, SilentError):
        return StoreError(f"cannot {what}: {address.shown} gives {told}", _UNREACHABLE)
    if is_lost(error):
        return StoreError(f"cannot {what}: the connection to {address.shown} was lost ({told})", _UNREACHABLE)
    if isinstance(error, errors.InsufficientPrivilege | errors.InvalidAuthorizationSpecification):
        return RefusedError(
            f"cannot {what}: the server does not allow it: {told}", "ask the owner of the schema to admit your role"
        )
    if isinstance(error, errors.LockNotAvailable):
        return LockedError(f"cannot {what}: another process holds the space", "try again later")
    if isinstance(error, RETRIED):
        return LockedError(f"cannot {what}: too many writers at once", "try again later")
    if isinstance(error, errors.QueryCanceled):
        return StoreError(f"cannot {what}: the server stopped it ({told})", "raise statement_timeout of the role")
    if isinstance(error, errors.ReadOnlySqlTransaction):
        return StoreError(f"cannot {what}: the server accepts no writes", "use the address of the primary server")
    if isinstance(error, errors.DiskFull | errors.OutOfMemory):
        return StoreError(f"cannot {what}: {told}", "free resources on the server")
    return StoreError(f"cannot {what}: {told}", "run `memcli doctor`")


def _line(error: psycopg.Error, address: Address) -> str:
    """The line of what the server said that names the fault, without passwords."""
    told = error.diag.message_primary or str(error) or type(error).__name__
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    fatal = next((line for line in lines if "FATAL:" in line), lines[0] if lines else "")
    return address.cleaned((fatal.rpartition("FATAL:")[2].strip() or fatal).removeprefix("connection failed: "))


def _shown(told: str) -> str:
    """What a server said, as far as it may be shown: whoever runs it, or writes to it, may say anything."""
    from memcli.safety.injection.reasons import quotable

    return quotable(told) or "its message is left out, since it reads as instructions"
