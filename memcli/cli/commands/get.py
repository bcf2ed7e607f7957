"""`memcli get`"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from memcli.cli.options import NO_USAGE, REFS, REVISION, Options, flag, option
from memcli.cli.verb import RECALL, CommandContext, ToolDeclaration, verb
from memcli.errors import NotFoundError, UsageError
from memcli.model.space import READER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.app.workspace import Workspace
    from memcli.model.memory import Memory


class GetOptions(Options):
    """The options of `memcli get`."""

    refs: list[str] = REFS
    field: str | None = option(metavar="NAME", help="Print only this field.")
    context: bool = flag(help="Print only the snapshot of what was said about it.")
    digest: bool = flag(help="Add the digest of each memory to the JSON, for --if-digest of edit and forget.")
    rev: str | None = REVISION
    no_usage: bool = NO_USAGE


@verb(
    GetOptions,
    section=RECALL,
    line="Print memories in full",
    role=READER,
    tools=(
        ToolDeclaration(
            name="get",
            description="Read memories in full, by the ids or paths that other tools returned.",
            fields=("refs",),
        ),
    ),
    returns="Any",
)
def command(session: CommandContext, options: GetOptions) -> None:
    """Print memories in full, by id or path.

    What is not found is reported after the others, with exit code 3. When its output is piped, --field prints the stored bytes, including escape sequences. On a terminal, escape sequences
    are always removed.

    >>> memory.get('decisions/database')['kind']
    'decision'
    """
    from memcli.app.catalogue import get_with_digests
    from memcli.app.homes import joined

    workspace = session.open(rev=options.rev)
    found, errors = get_with_digests(workspace, options.refs)
    missing = joined(errors)
    if found:
        _print(session, workspace, options, found)
    # After the others: agents name several memories at once, and need those that there are.
    if missing is not None:
        raise missing


def _print(
    session: CommandContext, workspace: Workspace, options: GetOptions, found: Sequence[tuple[Memory, str]]
) -> None:
    """Prints the memories, or the field or context that the options name, and records that they were read."""
    from memcli.app import catalogue
    from memcli.app.usage import USAGE, note_read
    from memcli.codec.canonical import encode
    from memcli.codec.memory import memory_to_json
    from memcli.render.memory import render_memory

    memories = [memory for memory, _ in found]
    noting = workspace.copy_with(is_noted=False) if options.no_usage else workspace
    known = note_read(noting, memories)
    if options.field is not None:
        # A field may be left out of the JSON because it has its default: it is printed as null.
        values = [memory_to_json(m).get(options.field) for m in memories]
        if options.field not in memory_to_json(memories[0]) and not hasattr(memories[0], options.field):
            raise UsageError(f"no field {options.field!r}", "`memcli schema object` lists the fields")
        text = "\n".join(v if isinstance(v, str) else encode(v).decode() for v in values)
        if session.output.json:
            session.output.answer(values[0] if len(options.refs) == 1 else values, "")
        else:
            session.output.raw(text)
        return
    if options.context:
        from memcli.render.memory import context_lines

        session.output.answer(
            [list(m.context) for m in memories], "\n".join(line for m in memories for line in context_lines(m))
        )
        return
    data = [
        memory_to_json(m) | ({USAGE: one} if one else {}) | ({"digest": digest} if options.digest else {})
        for (m, digest), one in zip(found, known, strict=True)
    ]
    shown = []
    for memory, one in zip(memories, known, strict=True):
        successor = ""
        with suppress(NotFoundError, UsageError):  # the successor may be purged, or its id written by hand
            if memory.superseded_by:
                successor = catalogue.get(workspace, [memory.superseded_by])[0].path
        shown.append(render_memory(memory, workspace.clock(), successor, one))
    if session.output.json:
        session.output.answer(data[0] if len(options.refs) == 1 else data, "")
    else:
        session.output.page("\n".join(shown))
