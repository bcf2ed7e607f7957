"""Tokens, by which clients identify themselves, and the logins of browsers.

Tokens are stored on this machine only, all but the first as digests. A browser exchanges the code of a one-time link for a
session; sessions are in memory, so that a restart of the server ends them all.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import stat
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from memcli.codec.canonical import encode
from memcli.digests import sha256
from memcli.errors import ConflictError, CorruptError, NotFoundError, StoreError, UsageError
from memcli.extras.serve.access import Caller
from memcli.model.memory import Json
from memcli.model.names import check_space
from memcli.model.space import ADMIN, ROLES
from memcli.record import Record
from memcli.safety.secrets.detector import Detector
from memcli.store.atomic import make_folder, read_regular, remove_file, write_file
from memcli.store.layout import Layout
from memcli.store.lock import locked

FIRST = "first"
"""The name of the token that is made on first use, which its user can read in `serve-token` of the private state."""
PREFIX = "mct_"
_BYTES = 32
_MAX_BYTES = 1 << 20
_MOST_NAME = 40
_FORMAT = "memcli/tokens"


class Token(Record):
    """A stored token: its caller, the time of its creation, and the digest of its text."""

    caller: Caller
    created_at: str
    digest: str

    def to_json(self) -> dict[str, Json]:
        """The fields that users may see: all but the digest."""
        return {
            "name": self.caller.name, "role": self.caller.role, "spaces": list(self.caller.spaces),
            "created_at": self.created_at,
        }  # fmt: skip


class Tokens:
    """The tokens of the store at `layout`. Each call reads the files again if they have changed."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.first_file = layout.private("serve-token")
        """Holds the text of the first token."""
        self._others = layout.private("serve-tokens.json")
        self._read: tuple[object, Sequence[Token]] = None, ()
        """The state of the files when they were last read, and the tokens in them."""

    def make_first(self) -> str:
        """The text of the first token, which is created if there is none. Raises StoreError, LockedError."""
        # Read without the lock at first, since a store that cannot be written cannot be locked, but can be served.
        if (known := self._read_first()) is not None:
            return known
        make_folder(os.path.dirname(self.first_file))
        with self._locked():
            found = self._read_first()  # another process may have created it meanwhile
            if found is None:
                found = PREFIX + secrets.token_urlsafe(_BYTES)
                write_file(self.first_file, f"{found}\n".encode(), 0o600)
            return found

    def create(self, caller: Caller, now: str) -> str:
        """Creates a token and returns its text, which is not stored. Raises ConflictError, UsageError, StoreError, LockedError."""
        _check(caller)
        # The name goes into the audit log, which must not hold secrets.
        if Detector({}, lambda _: "").find(caller.name):
            raise UsageError("the name of the token holds a secret or an address", "choose another --name")
        make_folder(os.path.dirname(self._others))
        text = PREFIX + secrets.token_urlsafe(_BYTES)
        with self._locked():
            known = self._read_others()
            if caller.name == FIRST or any(token.caller.name == caller.name for token in known):
                raise ConflictError(f"there is a token {caller.name!r} already", "choose another --name, or revoke it")
            self._write([*known, Token(caller, now, _digest(text))])
        return text

    def revoke(self, name: str) -> None:
        """Deletes a token, which is invalid at once. Raises NotFoundError, StoreError, LockedError."""
        make_folder(os.path.dirname(self._others))
        with self._locked():
            known = self._read_others()
            left = [token for token in known if token.caller.name != name]
            if name == FIRST and os.path.lexists(self.first_file):
                remove_file(self.first_file)
            elif len(left) == len(known):
                raise NotFoundError(f"no token {name!r}", "`memcli serve token list` lists them")
            else:
                self._write(left)

    def all(self) -> Sequence[Token]:
        """The tokens in the order of their creation. Raises StoreError, CorruptError."""
        state = (_state(self.first_file), _state(self._others))
        if state != self._read[0]:
            first = self._read_first()
            own = [Token(Caller(FIRST, ADMIN), "", _digest(first))] if first else []
            self._read = state, [*own, *self._read_others()]
        return self._read[1]

    def find(self, text: str) -> Token | None:
        """The token with this text, or None. Raises StoreError, CorruptError."""
        digest, found = _digest(text), None
        # All are compared, each in constant time, so that the time of an answer gives no token away.
        for token in self.all():
            if hmac.compare_digest(token.digest, digest):
                found = token
        return found

    def _read_first(self) -> str | None:
        data = _own_file(self.first_file)
        text = None if data is None else data.decode("ascii", "replace").strip()
        if text is not None and not text.startswith(PREFIX):
            raise CorruptError(f"{self.first_file} holds no token", "delete it; `memcli serve` makes a new one")
        return text

    def _read_others(self) -> list[Token]:
        data = _own_file(self._others)
        found = []
        try:
            for one in () if data is None else json.loads(data)["tokens"]:
                caller = Caller(str(one["name"]), str(one["role"]), tuple(str(name) for name in one["spaces"]))
                _check(caller)
                found.append(Token(caller, str(one["created_at"]), str(one["sha256"])))
        except (ValueError, KeyError, TypeError, RecursionError, UsageError):
            raise CorruptError(f"{self._others} is damaged", "delete it, and create the tokens again") from None
        return found

    def _write(self, tokens: Sequence[Token]) -> None:
        rows = [{**token.to_json(), "sha256": token.digest} for token in tokens]
        write_file(self._others, encode({"format": _FORMAT, "version": 1, "tokens": rows}) + b"\n", 0o600)

    def _locked(self) -> AbstractContextManager[object]:
        return locked(self._layout.lock("serve"), "the tokens of this store")


def _check(caller: Caller) -> None:
    if caller.role not in ROLES:
        raise UsageError(f"no role {caller.role!r}", f"choose one of {', '.join(ROLES)}")
    if not caller.name.isprintable() or not 0 < len(caller.name) <= _MOST_NAME:
        raise UsageError("not a name of a token", f"use 1 to {_MOST_NAME} characters")
    for space in caller.spaces:
        check_space(space)


def _own_file(path: str) -> bytes | None:
    """The bytes of a file that only its owner can read; None if it does not exist. Raises StoreError."""
    try:
        data = read_regular(path, _MAX_BYTES)
        if data is not None and (found := os.stat(path, follow_symlinks=False)):
            if found.st_uid != os.getuid():
                raise StoreError(f"{path} belongs to another user", "delete it")
            if stat.S_IMODE(found.st_mode) & 0o077:
                raise StoreError(f"others can read {path}", f"delete it, or run `chmod 600 {path}`")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}", "replace it with a regular file") from None
    return data


def _state(path: str) -> object:
    """A value that differs if a file has changed; None if it does not exist."""
    # The mode and the time of the inode as well, since a file that others can read must be refused at once.
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_mode


def _digest(text: str) -> str:
    # Without a salt, and fast: what is hashed are random bytes, which no list of passwords has.
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


CODE_SECONDS = 600.0
SESSION_SECONDS = 12 * 3600.0
_LOGIN_BYTES = 24
# Whoever has a token can make links without end, and each takes memory.
_MOST = 1000


class Logins:
    """The one-time codes of links and the sessions that they began. Only digests of both are in memory."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        # By the digest of a code or a session: the digest of its token, and the time at which it expires.
        self._codes: dict[str, tuple[str, float]] = {}
        self._sessions: dict[str, tuple[str, float]] = {}

    def make_code(self, token: str) -> str:
        """A new code, which begins a session for the token with this digest; valid for CODE_SECONDS."""
        return self._add(self._codes, token, CODE_SECONDS)

    def begin(self, code: str) -> str | None:
        """A new session, as the text of its cookie; None if the code is wrong, used or too old."""
        # Removed by the first use: a link stays in histories of browsers and terminals.
        token, ends = self._codes.pop(_digest(code), ("", 0.0))
        return self._add(self._sessions, token, SESSION_SECONDS) if token and ends > self._now() else None

    def token_of(self, session: str) -> str | None:
        """The digest of the token that a session was begun with; None if the session is unknown or has expired."""
        token, ends = self._sessions.get(_digest(session), ("", 0.0))
        return token if token and ends > self._now() else None

    def end(self, session: str) -> None:
        """Ends a session."""
        self._sessions.pop(_digest(session), None)

    def _add(self, entries: dict[str, tuple[str, float]], token: str, seconds: float) -> str:
        now = self._now()
        for name in [name for name, (_, ends) in entries.items() if ends <= now]:
            del entries[name]
        while len(entries) >= _MOST:  # the oldest goes first: a dict has its insertion order
            del entries[next(iter(entries))]
        text = secrets.token_urlsafe(_LOGIN_BYTES)
        entries[_digest(text)] = token, now + seconds
        return text


def csrf_of(session: str) -> str:
    """The token against cross-site request forgery that the forms of a session send."""
    # Derived from the session, so that nothing more is stored, and a form stays valid in all tabs.
    return hmac.new(session.encode(), b"memcli/csrf", "sha256").hexdigest()
