"""Ids and digests, made of content alone, so that the same input gives the same ids everywhere."""

from __future__ import annotations

import base64
import hashlib


def memory_id(space: str, path: str, number: int = 1) -> str:
    """The id of a memory made at `path`: `mem_` and 60 bits of SHA-256 over space and path, in base 32.

    From 2 on, `number` is part of the digest: it tells apart memories that were made at one path, of which the
    earlier ones have moved.
    """
    name = f"{space}\0{path}" if number == 1 else f"{space}\0{path}\0{number}"
    digest = hashlib.sha256(name.encode()).digest()
    return "mem_" + base64.b32encode(digest[:8]).decode("ascii").lower()[:12]


def text_hash(raw: str, content: bytes = b"") -> str:
    """`sha256:<hex>` over a memory's text and, where it has one, the canonical bytes of its content."""
    digest = hashlib.sha256(raw.strip().encode("utf-8", "surrogatepass"))
    if content:
        digest.update(b"\0" + content)
    return f"sha256:{digest.hexdigest()}"


def short_digest(text: str, length: int = 6) -> str:
    """The first hex digits of SHA-256 over `text`, to tell two names apart."""
    return hashlib.sha256(text.encode()).hexdigest()[:length]
