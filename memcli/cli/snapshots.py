"""The snapshot of what was said about a memory, from standard input or a session."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Protocol

from memcli.app.candidate import Candidate
from memcli.app.workspace import Workspace
from memcli.cli.arguments import read_text
from memcli.cli.console import has_input
from memcli.model.memory import Json


class SnapshotOptions(Protocol):
    """Those of `remember`."""

    text: str | None
    file: str | None
    object: str | None
    context: int | None
    session: str | None


def snapshot(workspace: Workspace, options: SnapshotOptions, given: Mapping[str, Json]) -> dict[str, Json]:
    """The snapshot of a memory: of standard input, if the text is not from there, else of the session. Raises UsageError,
    NotFoundError."""
    from memcli.app.snapshot import of_session, of_text

    tokens = options.context or 0
    topic = str(given.get("raw", ""))
    is_read = options.text in (None, "-") and options.file is None and options.object is None
    if options.session is None and not is_read and has_input() and (text := read_text("-", None)).strip():
        return {"context": of_text(text, topic, tokens)}
    ref = options.session or os.environ.get("MEMCLI_SESSION")
    return {"context": of_session(workspace, ref, topic, tokens)}


def kept_tokens(candidate: Candidate) -> dict[str, Json]:
    """How many tokens of context are kept."""
    if "context" not in candidate.given:
        return {}
    from memcli.conversation.snapshot import tokens_of

    return {"context_tokens": tokens_of(candidate.given["context"])}
