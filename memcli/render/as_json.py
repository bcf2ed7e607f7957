"""`json`: the whole bundle."""

from __future__ import annotations

from memcli.codec.canonical import encode
from memcli.codec.recall import bundle_to_json
from memcli.model.recall import Bundle
from memcli.render.clean import escape


def render(bundle: Bundle) -> str:
    """The bundle as canonical JSON."""
    return escape(encode(bundle_to_json(bundle)).decode())
