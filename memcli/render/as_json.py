"""`json`: the whole bundle."""

from __future__ import annotations

from memcli.codec.canonical import encode, encode_line
from memcli.codec.recall import bundle_to_json
from memcli.model.recall import Bundle
from memcli.render.clean import escape


def render(bundle: Bundle) -> str:
    """The bundle as canonical JSON; on one line under a budget, for indentation is tokens."""
    write = encode if bundle.query.budget is None else encode_line
    return escape(write(bundle_to_json(bundle)).decode())
