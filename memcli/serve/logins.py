"""Logins: browsers that came by a one-time link, each with a session of its own. A restart ends them all."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable

from memcli.digests import sha256
from memcli.record import Record

CODE_SECONDS = 600.0
SESSION_SECONDS = 12 * 3600.0
_BYTES = 24
_MOST = 1000


class _Entry(Record):
    """For which token an entry stands, by its digest, and until when."""

    token: str
    ends: float


class Logins:
    """Codes, each good once, and the sessions that they began. Both are known by digests alone."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._codes: dict[str, _Entry] = {}
        self._sessions: dict[str, _Entry] = {}

    def make_code(self, token: str) -> str:
        """A code that begins a session for the token with this digest."""
        return self._add(self._codes, token, CODE_SECONDS)

    def begin(self, code: str) -> str | None:
        """The name of a new session; None for a code that is wrong, used or too old."""
        entry = self._codes.pop(_digest(code), None)
        if entry is None or entry.ends <= self._now():
            return None
        return self._add(self._sessions, entry.token, SESSION_SECONDS)

    def token_of(self, session: str) -> str | None:
        """The digest of the token that a session stands for."""
        entry = self._sessions.get(_digest(session))
        return entry.token if entry is not None and entry.ends > self._now() else None

    def end(self, session: str) -> None:
        """Ends a session."""
        self._sessions.pop(_digest(session), None)

    def _add(self, entries: dict[str, _Entry], token: str, seconds: float) -> str:
        now = self._now()
        for name in [name for name, entry in entries.items() if entry.ends <= now]:
            del entries[name]
        while len(entries) >= _MOST:
            del entries[next(iter(entries))]
        text = secrets.token_urlsafe(_BYTES)
        entries[_digest(text)] = _Entry(token, now + seconds)
        return text


def csrf_of(session: str) -> str:
    """What the forms of a session bear."""
    return hmac.new(session.encode(), b"memcli/csrf", "sha256").hexdigest()


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
