"""`json`: the whole bundle."""

from __future__ import annotations

from memcli.codec.canonical import encode
from memcli.codec.recall import bundle_to_json
from memcli.model.recall import Bundle


def render(bundle: Bundle) -> str:
    """The bundle as canonical JSON."""
    return encode(bundle_to_json(bundle)).decode()
