"""`memcli browse`"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from memcli.cli.options import Kinds, Tags, verb
from memcli.cli.session import Session
from memcli.errors import UsageError

if TYPE_CHECKING:
    from memcli.model.memory import Json, Memory
    from memcli.tui.catalogue import Scope


@verb
def command(
    session: Session,
    path: Annotated[str, typer.Argument(metavar="[PATH]", help="Only at this path and below it.")] = "",
    kind: Kinds = None,
    tag: Tags = None,
) -> None:
    """Look around on a full screen: tree, filter, memory. `?` shows the keys.

    Piped, or with --json, it prints what `memcli list` prints.
    """
    if session.output.json or not _has_screen():
        from memcli.app.lookup import list_memories
        from memcli.render.listing import listing, summary_json

        found = list_memories(session.open(), path, kind or (), tag or ())
        session.output.answer([summary_json(m) for m in found], listing(found))
        return
    from memcli.tui.catalogue import Scope

    _browse(session, Scope(path, tuple(kind or ()), tuple(tag or ())))


def _browse(session: Session, scope: Scope) -> None:
    try:
        from memcli.tui.app import Browser
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "textual":
            raise
        raise UsageError("browse needs the extra `tui`", "pip install '.[tui]' in a clone of memcli") from None
    from memcli.tui.voice import Voice
    from memcli.wiring.workspace import open_workspace

    voice = Voice()  # while the screen is up, warnings and progress are told on it, not on standard error
    workspace = open_workspace(session.options, os.environ, warn=voice.warn, progress=voice.progress)
    browser = Browser(workspace, scope, _edit_fields, voice)
    browser.run()
    if browser.failure:
        raise browser.failure


def _edit_fields(memory: Memory) -> Mapping[str, Json]:
    from memcli.cli.editor import edit_fields

    if not (os.environ.get("VISUAL") or os.environ.get("EDITOR")):
        raise UsageError("no $EDITOR", "set EDITOR, and browse again")
    return edit_fields(memory)


def _has_screen() -> bool:
    """Whether a person is at a terminal that can be drawn on; Textual reads standard input, draws on standard error."""
    return os.environ.get("TERM") != "dumb" and all(s.isatty() for s in (sys.stdin, sys.stdout, sys.stderr))
