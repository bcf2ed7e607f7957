"""The key of this store's redaction marks: made at first need, never shared unless a team sets one for all."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from memcli.errors import StoreError, UsageError
from memcli.store.atomic import make_folder, write_file
from memcli.store.layout import Layout
from memcli.store.lock import locked
from memcli.store.reading import read_regular

VARIABLE = "MEMCLI_REDACTION_KEY"
_FILE = "redaction.key"
_BYTES = 32
_LEAST_CHARACTERS = 16
_DOMAIN = b"memcli/redaction/1\0"  # keeps these marks apart from any other use of a team's key


def signer(layout: Layout, environ: Mapping[str, str]) -> Callable[[bytes], str]:
    """A function from a secret to its mark: 8 hex digits of HMAC-SHA256. The key is read, or made, when it is first used.

    The function raises UsageError for a key in the environment that is too short, StoreError.
    """
    keys: list[bytes] = []

    def sign(secret: bytes) -> str:
        import hashlib
        import hmac

        if not keys:
            keys.append(_given(environ) or own_key(layout))
        return hmac.new(keys[0], _DOMAIN + secret, hashlib.sha256).hexdigest()[:8]

    return sign


def _given(environ: Mapping[str, str]) -> bytes:
    text = environ.get(VARIABLE, "")
    if text and len(text) < _LEAST_CHARACTERS:
        raise UsageError(
            f"{VARIABLE} is shorter than {_LEAST_CHARACTERS} characters", "use a longer one: `openssl rand -hex 32`"
        )
    return text.encode("utf-8", "surrogateescape")


def own_key(layout: Layout) -> bytes:
    """The key of this store, which is made if there is none. Raises StoreError, LockedError."""
    path = layout.private(_FILE)
    key = _read(path)
    if key is not None:
        return key
    make_folder(os.path.dirname(path))
    with locked(layout.lock("redaction"), "the redaction key"):
        key = _read(path)
        if key is None:
            key = os.urandom(_BYTES)
            write_file(path, key, 0o600)
    return key


def _read(path: str) -> bytes | None:
    try:
        key = read_regular(path, _BYTES + 1)
    except OSError as error:
        raise StoreError(
            f"cannot read {path}: {error.strerror}", "replace it with a regular file that you own"
        ) from None
    if key is not None and len(key) != _BYTES:
        raise StoreError(
            f"{path} is not a key ({len(key)} bytes)", "delete it; memcli creates a new one, which changes the marks"
        )
    return key
