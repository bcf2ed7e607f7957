"""Headers: what every response bears, and what a request must say of where it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
MAX_HEAD = 32 << 10
"""The most bytes that the head of a request has."""
SECURITY_HEADERS = [
    (b"content-security-policy", _CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),  # under no-referrer, browsers send forms with the origin null
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
]
HOSTS = ("127.0.0.1", "localhost", "[::1]")
_FROM_HERE = ("same-origin", "none")


def hosts(port: int) -> frozenset[str]:
    """The values of Host that mean this server."""
    return frozenset(f"{host}:{port}" for host in HOSTS)


def head(pairs: Sequence[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """The headers of a request by name. Of one that is there twice, the last; Host must be there once."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in pairs}


def is_from_elsewhere(headers: Mapping[str, str], host: str, method: str) -> bool:
    """Whether a page of another origin sent the request. A link that somebody follows is no such thing."""
    origin = headers.get("origin")
    if origin is not None and origin != f"http://{host}":
        return True
    site = headers.get("sec-fetch-site", "none")
    is_followed = method == "GET" and headers.get("sec-fetch-mode") == "navigate"
    return site not in _FROM_HERE and not is_followed
