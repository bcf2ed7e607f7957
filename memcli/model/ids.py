"""Ids and digests, made of content alone, so that the same input gives the same ids everywhere."""

from __future__ import annotations

import base64
import hashlib


def memory_id(space: str, path: str) -> str:
    """The id of the memory at `path`: `mem_` and 60 bits of SHA-256 over space and path, in base 32."""
    digest = hashlib.sha256(f"{space}\0{path}".encode()).digest()
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
