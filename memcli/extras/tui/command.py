"""`memcli browse`"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memcli.cli.options import KIND_FILTER, TAG_FILTER, Options, argument, flag, option
from memcli.cli.verb import RECALL, CommandContext, verb
from memcli.errors import UsageError

if TYPE_CHECKING:
    from memcli.app.remember import Outcome
    from memcli.app.workspace import Workspace
    from memcli.model.memory import Json


class BrowseOptions(Options):
    """What `memcli browse` takes."""

    path: str = argument("[PATH]", "Only memories at or below this path.", default="")
    kind: list[str] = KIND_FILTER
    tag: list[str] = TAG_FILTER
    web: bool = flag(help="Serve the interface to a web browser on this machine, until Ctrl-C.")
    port: int = option(
        metavar="PORT", help="With --web: the port; 0 picks a free one.", type=int, low=0, high=65535, default=8642
    )


@verb(BrowseOptions, section=RECALL, line="Read and edit memories in a full-screen view or a browser")
def command(session: CommandContext, options: BrowseOptions) -> None:
    """Browse memories in a full-screen terminal interface. Press `?` for the keys.

    When piped, or with --json, print what `memcli list` prints. --web serves the interface to a web browser: only on this
    machine, and only at the address that it prints.
    """
    from memcli.cli import arguments

    path = arguments.path(options.path, "the path")
    kinds, tags = arguments.kinds(session, options.kind), arguments.tags(options.tag)
    if options.web:
        _serve(session, options)
        return
    from memcli.model.catalogue import CatalogueFilter

    scope = CatalogueFilter(path, tuple(kinds), tuple(tags))
    if session.output.json or not _has_screen():
        from memcli.app.catalogue import newest
        from memcli.render.memory import list_line, summary_json
        from memcli.safety.screening import screened

        with newest(session.open(), scope) as found:
            if session.output.json:
                session.output.array(map(summary_json, map(screened, found.memories)))
            else:
                for memory in found.memories:
                    session.output.write(list_line(memory))
        return
    try:
        with _extra("the full-screen view", "tui", "textual"):
            from memcli.extras.tui.app import Browser
    except UsageError as error:  # the base install prints the tree of paths
        from memcli.app.catalogue import load_tree
        from memcli.render.memory import tree_text

        session.output.page(tree_text(load_tree(session.open(), path, None)[0]))
        session.output.note(f"{error.message} ({error.hint})")
        return
    from memcli.cli.editor import EditorFile
    from memcli.extras.tui.changes import Editor
    from memcli.extras.tui.status import Recaller
    from memcli.wiring.workspace import open_workspace

    # The interface shows warnings and progress itself: text on standard error would corrupt the screen.
    recaller = Recaller()
    workspace = open_workspace(session.options, os.environ, warn=recaller.warn, progress=recaller.progress)
    session.keep_helper()
    browser = Browser(workspace, scope, Editor(EditorFile, _add), recaller)
    browser.run()
    # The message on the screen is gone with the screen.
    for path in browser.main_screen.changer.unsaved:
        session.output.note(f"unsaved text was kept in {path}")
    if browser.failure:
        raise browser.failure


def _serve(session: CommandContext, options: BrowseOptions) -> None:
    import secrets

    with _extra("browse --web", "web", "textual", "textual_serve", "aiohttp"):
        from memcli.extras.tui.web import LocalServer, listen
    from memcli.git.hooks import this_program

    if session.output.json:
        raise UsageError("--web cannot be used with --json", "omit one of them")
    session.open()  # an error of the store is reported here, not on the page of each process
    # The command line of the process for each page.
    given = {name: session.options[name] for name in ("root", "space", "freeze_clock")}
    named = [f"--{name.replace('_', '-')}={value}" for name, value in given.items() if value]
    filters = [*(f"--kind={kind}" for kind in options.kind), *(f"--tag={tag}" for tag in options.tag)]
    words = [*this_program(), "browse", *named, *filters, "--", *([options.path] if options.path else [])]
    with listen(options.port) as place:
        server = LocalServer(words, secrets.token_urlsafe(16), place)
        session.output.note(f"open {server.address} (Ctrl-C ends)")
        session.keep_helper()
        server.run()


@contextmanager
def _extra(what: str, name: str, *modules: str) -> Iterator[None]:
    """Turns a failed import of `modules` in its body into a UsageError that names the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in modules:
            raise
        raise UsageError(f"{what} needs the extra `{name}`", f"pip install '.[{name}]' in a clone of memcli") from None


def _add(workspace: Workspace, fields: Mapping[str, Json]) -> Outcome:
    """Stores a new memory as `memcli remember` does."""
    from memcli.app.check import check
    from memcli.app.remember import prepare
    from memcli.cli.submit import submit
    from memcli.model.findings import Resolution

    candidates = [prepare(workspace, fields)]
    resolution = Resolution(check(workspace, candidates))
    return submit(workspace, candidates, propose=False, yes=True, resolution=resolution).outcomes[0]


def _has_screen() -> bool:
    """Whether a full-screen interface can run."""
    # The process of a page of --web has no terminal: Textual exchanges messages with the server instead.
    if os.environ.get("TEXTUAL_DRIVER", "").startswith("textual.drivers.web_driver:"):
        return True
    # Textual reads standard input and draws on standard error.
    return os.environ.get("TERM") != "dumb" and all(s.isatty() for s in (sys.stdin, sys.stdout, sys.stderr))
