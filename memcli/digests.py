"""Digests, and a nonce made from one. They come from the modules behind `hashlib`, which itself would load OpenSSL at the
start of every command."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import blake2b, sha256
else:
    try:
        from _blake2 import blake2b

        if sys.version_info >= (3, 12):
            from _sha2 import sha256
        else:
            from _sha256 import sha256
    except ImportError:  # an interpreter that was built without hashes of its own
        from hashlib import blake2b, sha256

__all__ = ["blake2b", "nonce_of", "sha256"]


def nonce_of(body: str, use: bytes = b"memcli/prompt") -> str:
    """Eight decimal digits that do not occur in the body, and that a text in it cannot predict; `use` separates purposes."""
    # From the content, not at random: prompt caches need equal bytes for equal bundles. Decimal digits take few tokens.
    seed = body.encode("utf-8", "replace")
    for n in range(256):
        digest = sha256(use + b"\0%d\0" % n + seed).digest()
        nonce = f"{int.from_bytes(digest[:8], 'big') % 10**8:08}"
        if nonce not in body:
            return nonce
    raise AssertionError("256 digests in one text")
