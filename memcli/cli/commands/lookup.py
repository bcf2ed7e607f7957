"""`memcli get`, `list` and `tree`"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from memcli.cli.options import (
    Options,
    argument,
    flag,
    kinds_option,
    option,
    refs_argument,
    rev_option,
    tags_option,
    usage_option,
)
from memcli.cli.verb import Session, verb
from memcli.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from memcli.app.workspace import Workspace
    from memcli.model.memory import Memory


class GetOptions(Options):
    """What `memcli get` takes."""

    refs: list[str] = refs_argument()
    field: str | None = option(metavar="NAME", help="Print only this field.")
    context: bool = flag(help="Print only the snapshot of what was said about it.")
    digest: bool = flag(help="Add the digest of each memory to the JSON, for --if-digest of edit and forget.")
    rev: str | None = rev_option()
    no_usage: bool = usage_option()


@verb(GetOptions)
def get(session: Session, options: GetOptions) -> None:
    """Print memories in full, by id or path.

    What is not found is reported after the others, with exit code 3. When its output is piped, --field prints the stored bytes, including escape sequences. On a terminal, escape sequences
    are always removed.
    """
    from memcli.app.homes import joined
    from memcli.app.lookup import get_with_digests

    workspace = session.open(rev=options.rev)
    found, errors = get_with_digests(workspace, options.refs)
    missing = joined(errors)
    if found:
        _print(session, workspace, options, found)
    if missing is not None:
        raise missing


def _print(session: Session, workspace: Workspace, options: GetOptions, found: Sequence[tuple[Memory, str]]) -> None:
    from memcli.app.usage import USAGE, note_read, unnoted
    from memcli.codec.canonical import encode
    from memcli.codec.memory import memory_to_json
    from memcli.render.memory import render_memory

    memories = [memory for memory, _ in found]
    noting = unnoted(workspace) if options.no_usage else workspace
    known = [standing.to_json() for standing in note_read(noting, memories)]
    if options.field is not None:
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
    shown = (
        render_memory(m, workspace.clock(), _path_of(workspace, m.superseded_by), one)
        for m, one in zip(memories, known, strict=True)
    )
    session.output.answer(data[0] if len(options.refs) == 1 else data, "\n".join(shown))


class ListOptions(Options):
    """What `memcli list` takes."""

    path: str = argument("[PATH]", "Only memories at or below this path.", default="")
    kind: list[str] = kinds_option()
    tag: list[str] = tags_option()
    limit: int | None = option("--limit", "-l", metavar="N", help="List at most N memories.", type=int, low=1)
    offset: int = option(metavar="N", help="Skip the first N memories.", type=int, low=0, default=0)
    all: bool = flag("--all", "-a", help="Include forgotten and superseded memories.")
    include_raw: bool = flag(help="With --json: include the full text of each memory.")
    rev: str | None = rev_option()


@verb(ListOptions)
def list_(session: Session, options: ListOptions) -> None:
    """List memories in order of path."""
    from memcli.app.lookup import listed
    from memcli.cli import arguments
    from memcli.model.catalogue import Wanted
    from memcli.render.memory import listed_rows, listing_row, summary_json

    kinds, tags = arguments.kinds(session, options.kind), arguments.tags(options.tag)
    wanted = Wanted(arguments.path(options.path, "the path"), tuple(kinds), tuple(tags), inactive=options.all)
    with_raw = options.include_raw and session.output.json
    workspace = session.open(rev=options.rev)
    with listed(workspace, wanted, options.limit, options.offset, with_raw=with_raw) as (memories, count):
        if session.output.json:
            shown = session.output.array(map(partial(summary_json, with_raw=with_raw), memories))
        else:
            rows = [listing_row(memory) for memory in memories]
            shown = len(rows)
            session.output.write(listed_rows(rows))
        if options.limit is not None and shown == options.limit and (more := count() - options.offset - shown) > 0:
            session.output.note(f"{more} more (use --offset {options.offset + shown})")


class TreeOptions(Options):
    """What `memcli tree` takes."""

    path: str = argument("[PATH]", "Only memories at or below this path.", default="")
    depth: int | None = option(metavar="N", help="Show N levels; /… marks what has more below.", type=int, low=1)
    rev: str | None = rev_option()


@verb(TreeOptions)
def tree(session: Session, options: TreeOptions) -> None:
    """Show the tree of paths, for people and for system prompts."""
    from memcli.app.lookup import load_tree
    from memcli.cli import arguments
    from memcli.render.memory import tree_json, tree_text

    root = load_tree(session.open(rev=options.rev), arguments.path(options.path, "the path"), options.depth)
    session.output.answer(tree_json(root) if session.output.json else None, tree_text(root))


def _path_of(workspace: Workspace, name: str | None) -> str:
    from memcli.app import lookup

    with suppress(NotFoundError, UsageError):
        return lookup.get(workspace, [name])[0].path if name else ""
    return ""
