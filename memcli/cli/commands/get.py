"""`memcli get`"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from memcli.cli.options import Options, option, refs_argument, rev_option
from memcli.cli.session import Session
from memcli.cli.verb import verb
from memcli.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from memcli.app.workspace import Workspace


class GetOptions(Options):
    """What `memcli get` takes."""

    refs: list[str] = refs_argument()
    field: str | None = option(metavar="NAME", help="Print only this field.")
    rev: str | None = rev_option()


@verb(GetOptions)
def command(session: Session, options: GetOptions) -> None:
    """Print memories in full, by id or path.

    When its output is piped, --field prints the stored bytes, including escape sequences. On a terminal, escape sequences
    are always removed.
    """
    from memcli.app.lookup import get
    from memcli.codec.canonical import encode
    from memcli.codec.memory import memory_to_json
    from memcli.render.memory import render_memory

    workspace = session.open(rev=options.rev)
    memories = get(workspace, options.refs)
    if options.field is not None:
        values = [memory_to_json(m).get(options.field) for m in memories]
        if options.field not in memory_to_json(memories[0]) and not hasattr(memories[0], options.field):
            raise UsageError(f"no field {options.field!r}", "`memcli schema object` lists the fields")
        text = "\n".join(v if isinstance(v, str) else encode(v).decode() for v in values)
        if session.output.json:
            session.output.answer(values[0] if len(values) == 1 else values, "")
        else:
            session.output.raw(text)
        return
    data = [memory_to_json(m) for m in memories]
    shown = (render_memory(m, workspace.clock(), _path_of(workspace, m.superseded_by)) for m in memories)
    session.output.answer(data[0] if len(data) == 1 else data, "\n".join(shown))


def _path_of(workspace: Workspace, name: str | None) -> str:
    from memcli.app.lookup import get

    with suppress(NotFoundError, UsageError):
        return get(workspace, [name])[0].path if name else ""
    return ""
