"""The snapshot of what was said about a memory, from standard input or a session."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from memcli.app.candidate import Candidate
from memcli.app.workspace import Workspace
from memcli.cli.arguments import read_text
from memcli.cli.console import has_input
from memcli.model.memory import Json

if TYPE_CHECKING:
    from memcli.app.snapshot import Snapshots


class SnapshotOptions(Protocol):
    """Those of `remember`."""

    text: str | None
    file: str | None
    object: str | None
    batch: str | None
    context: int | None
    session: str | None


def snapshots(workspace: Workspace, options: SnapshotOptions) -> Snapshots | None:
    """What chooses the snapshot of a memory, where one is asked for: of standard input, if no memory is read from there,
    else of the session. Raises UsageError, NotFoundError."""
    if options.context is None:
        return None
    from memcli.app.snapshot import of_session, of_text

    if options.session is None and not _is_read(options) and has_input() and (text := read_text("-", None)).strip():
        return of_text(workspace, text, options.context)
    return of_session(workspace, options.session or os.environ.get("MEMCLI_SESSION"), options.context)


def _is_read(options: SnapshotOptions) -> bool:
    """Whether the memories are read from standard input."""
    named = (options.text, options.file, options.object, options.batch)
    return "-" in named or named == (None, None, None, None)


def kept_tokens(candidate: Candidate) -> dict[str, Json]:
    """How many tokens of context are kept."""
    if "context" not in candidate.given:
        return {}
    from memcli.conversation.snapshot import tokens_of

    return {"context_tokens": tokens_of(candidate.given["context"])}
