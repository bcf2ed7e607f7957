"""The address of a server: its connection string, the schema of the store, and the part that messages may show."""

from __future__ import annotations

import os
from collections.abc import Mapping

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from memcli.digests import sha256
from memcli.errors import UsageError
from memcli.regex import regex

DEFAULT_SCHEMA = "memcli"
_SCHEMA = regex(r"[a-z_][a-z0-9_]{0,47}\Z")
_DEFAULTS: Mapping[str, tuple[str, str]] = {
    "connect_timeout": ("10", "PGCONNECT_TIMEOUT"),
    "application_name": ("memcli", "PGAPPNAME"),
    "keepalives_idle": ("30", ""),
    "tcp_user_timeout": ("30000", ""),
}
"""Connection parameters with their default and the environment variable of libpq, if any, that takes precedence."""
_PLACE = {
    "host": "PGHOST", "hostaddr": "PGHOSTADDR", "port": "PGPORT", "dbname": "PGDATABASE", "service": "PGSERVICE",
}  # fmt: skip
_SECRET = ("password", "sslpassword")


class Address:
    """The address of a store. `shown` is its host and port for messages, without user and password."""

    def __init__(self, conninfo: str, schema: str, shown: str, secrets: tuple[str, ...]) -> None:
        self.conninfo, self.schema, self.shown = conninfo, schema, shown
        self._secrets = secrets

    @property
    def identity(self) -> str:
        """A digest of host, port, database and schema, which identifies the store."""
        # Of the environment too: a URL may leave out the host, and two servers would then pass for one.
        given = conninfo_to_dict(self.conninfo)
        parts = [str(given.get(name) or os.environ.get(variable, "")) for name, variable in _PLACE.items()]
        return sha256("\0".join([*parts, self.schema]).encode()).hexdigest()

    def __repr__(self) -> str:
        return f"Address({self.shown!r}, {self.schema!r})"

    def cleaned(self, text: str) -> str:
        """`text` without the passwords of the URL."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text


def address_of(url: str, schema: str | None) -> Address:
    """The address that a URL names. Raises UsageError, which does not quote it."""
    base, mark, query = url.partition("?")
    parameters = query.split("&") if mark else []
    own = [one for one in parameters if one.startswith("schema=")]  # libpq refuses a parameter that it does not know
    rest = [one for one in parameters if one not in own]
    schema = schema or (own[0].removeprefix("schema=") if own else "") or DEFAULT_SCHEMA
    if not _SCHEMA.match(schema):
        raise UsageError(f"not a schema: {schema[:48]!a}", "use lowercase letters, digits and underscores")
    try:
        given = {
            name: str(value)
            for name, value in conninfo_to_dict(f"{base}?{'&'.join(rest)}" if rest else base).items()
            if value is not None
        }
    except ProgrammingError:  # its message quotes parts of the URL
        raise UsageError(
            "the URL of the store is not valid", "write postgresql://USER@HOST:PORT/DATABASE?sslmode=verify-full"
        ) from None
    for name, (value, variable) in _DEFAULTS.items():
        if not os.environ.get(variable):
            given.setdefault(name, value)
    given["client_encoding"] = "utf8"
    secrets = tuple(given[name] for name in _SECRET if given.get(name))
    return Address(make_conninfo("", **given), schema, _shown(given), secrets)


def _shown(given: Mapping[str, str]) -> str:
    host = given.get("host") or given.get("hostaddr") or os.environ.get("PGHOST") or ""
    if not host and given.get("service"):
        return f"service {given['service']}"
    port = given.get("port") or os.environ.get("PGPORT")
    return f"{host or 'localhost'}{f':{port}' if port else ''}"
