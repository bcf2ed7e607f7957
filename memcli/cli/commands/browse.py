"""`memcli browse`"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from memcli.cli.options import Options, argument, kinds_option, tags_option
from memcli.cli.verb import Session, verb
from memcli.errors import UsageError

if TYPE_CHECKING:
    from memcli.app.remember import Outcome
    from memcli.app.workspace import Workspace
    from memcli.model.memory import Json
    from memcli.tui.catalogue import Scope


class BrowseOptions(Options):
    """What `memcli browse` takes."""

    path: str = argument("[PATH]", "Only memories at or below this path.", default="")
    kind: list[str] = kinds_option()
    tag: list[str] = tags_option()


@verb(BrowseOptions)
def command(session: Session, options: BrowseOptions) -> None:
    """Browse memories in a full-screen terminal interface. Press `?` for the keys.

    When piped, or with --json, print what `memcli list` prints.
    """
    path = options.path
    from memcli.cli import arguments

    path, kinds, tags = (
        arguments.path(path, "the path"),
        arguments.kinds(session, options.kind),
        arguments.tags(options.tag),
    )
    if session.output.json or not _has_screen():
        from memcli.app.lookup import list_memories
        from memcli.model.catalogue import Wanted
        from memcli.render.memory import listing, summary_json

        found = list_memories(session.open(), Wanted(path, tuple(kinds), tuple(tags)))
        session.output.answer([summary_json(m) for m in found], listing(found))
        return
    from memcli.tui.catalogue import Scope

    _browse(session, Scope(path, kinds, tags))


def _browse(session: Session, scope: Scope) -> None:
    try:
        from memcli.tui.app import Browser
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "textual":
            raise
        raise UsageError("browse needs the extra `tui`", "pip install '.[tui]' in a clone of memcli") from None
    from memcli.cli.editor import Draft
    from memcli.tui.changes import Editor
    from memcli.tui.status import Voice
    from memcli.wiring.workspace import open_workspace

    voice = Voice()  # while the interface is open, it shows warnings and progress; standard error would corrupt it
    workspace = open_workspace(session.options, os.environ, warn=voice.warn, progress=voice.progress)
    browser = Browser(workspace, scope, Editor(Draft, _add), voice)
    browser.run()
    for path in browser.desk.changer.unsaved:
        session.output.note(f"unsaved text was kept in {path}")
    if browser.failure:
        raise browser.failure


def _add(workspace: Workspace, fields: Mapping[str, Json]) -> Outcome:
    from memcli.app.remember import prepare
    from memcli.cli.submit import submit

    return submit(workspace, [prepare(workspace, fields)], propose=False, yes=True).outcomes[0]


def _has_screen() -> bool:
    """Whether a full-screen interface can run: Textual reads standard input and draws on standard error."""
    return os.environ.get("TERM") != "dumb" and all(s.isatty() for s in (sys.stdin, sys.stdout, sys.stderr))
