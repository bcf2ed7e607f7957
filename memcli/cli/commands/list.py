"""`memcli list`"""

from __future__ import annotations

from memcli.cli.options import KIND_FILTER, REVISION, TAG_FILTER, Options, argument, flag, option
from memcli.cli.verb import RECALL, CommandContext, Http, ToolDeclaration, verb
from memcli.errors import UsageError
from memcli.model.space import READER


class ListOptions(Options):
    """The options of `memcli list`."""

    path: str = argument("[PATH]", "Only memories at or below this path.", default="")
    kind: list[str] = KIND_FILTER
    tag: list[str] = TAG_FILTER
    limit: int | None = option("--limit", "-l", metavar="N", help="List at most N memories.", type=int, low=1)
    offset: int = option(metavar="N", help="Skip the first N memories.", type=int, low=0, default=0)
    all: bool = flag("--all", "-a", help="Include forgotten and superseded memories.")
    include_raw: bool = flag(help="With --json: include the full text of each memory.")
    tree: bool = flag(help="Show the tree of paths instead, for people and for system prompts.")
    depth: int | None = option(
        metavar="N", help="With --tree: show N levels; /… marks what has more below.", type=int, low=1
    )
    rev: str | None = REVISION


_OF_TREE = ("path", "tree", "depth", "rev")


@verb(
    ListOptions,
    section=RECALL,
    line="List memories, the newest first, or the tree of their paths",
    role=READER,
    http=(Http(path="/api/tree", summary="Show the tree of paths", fields=("path", "depth"), fixed={"tree": True}),),
    tools=(
        ToolDeclaration(
            name="list",
            description="List memories by path, with their kinds, tags and summaries.",
            fields=("path", "kind", "tag", "limit", "offset"),
        ),
    ),
    returns="Objects",
)
def command(session: CommandContext, options: ListOptions) -> None:
    """List the memories of `main`, newest first; or of --space, or of `repo` where main has none; or with --tree their paths.

    On a terminal, a line each: the beginning of its id, which names it for every command, kind, text and age. In a pipe nothing is
    cut: id, kind, time, path, marks and text, between tabs.

    Example: memcli list decisions --kind decision

    Example: memcli list --tree --depth 2

    >>> [found['path'] for found in memory.list()]
    ['decisions/database', 'ops/deploy', 'rules/force-push']
    """
    if options.tree:
        _tree(session, options)
        return
    if options.depth is not None:
        raise UsageError("--depth needs --tree", "add it, or leave the option out")
    from memcli.app.catalogue import newest
    from memcli.cli import arguments
    from memcli.model.catalogue import CatalogueFilter
    from memcli.render.clean import styled, terminal_width
    from memcli.render.memory import list_columns, list_line, summary_json
    from memcli.safety.screening import screened

    kinds, tags = arguments.kinds(session, options.kind), arguments.tags(options.tag)
    wanted = CatalogueFilter(arguments.path(options.path, "the path"), tuple(kinds), tuple(tags), inactive=options.all)
    with_raw = options.include_raw and session.output.json
    workspace = session.open(rev=options.rev)
    with newest(workspace, wanted, options.limit, options.offset, with_raw=with_raw) as found:
        width = terminal_width()
        if session.output.json:
            # An agent may read them, and an edit by hand or a clone has no marks.
            shown = session.output.array(summary_json(screened(memory), with_raw=with_raw) for memory in found.memories)
        elif width is None:
            shown = 0
            for shown, memory in enumerate(found.memories, 1):  # noqa: B007 - it is the number of lines afterwards
                session.output.write(list_line(memory))
        else:
            lines = list_columns(found.memories, found.short_id, workspace.clock(), width)
            shown = len(lines)
        more = found.count - options.offset - shown if options.limit is not None and shown == options.limit else 0
        rest = [f"{more:,} more: --offset {options.offset + shown}"] if more > 0 else []
        if not session.output.json:
            rest += [f"{count:,} in {name}: -s {name}" for name, count in found.others.items()]
        if width is None or session.output.json or not lines:
            for note in rest:
                session.output.note(note)
        else:
            head = f"{found.space} · {shown:,} of {found.count:,}, newest first"
            session.output.page("\n".join([styled(head, "dim"), *lines, *(styled(note, "dim") for note in rest)]))


def _tree(session: CommandContext, options: ListOptions) -> None:
    from memcli.app.catalogue import load_tree
    from memcli.cli import arguments
    from memcli.render.memory import tree_json, tree_text

    if other := sorted(options.given - {*_OF_TREE}):
        raise UsageError(f"--tree cannot be used with {options.FIELDS[other[0]].flags[0]}", "it shows paths alone")
    root, others = load_tree(session.open(rev=options.rev), arguments.path(options.path, "the path"), options.depth)
    session.output.answer(tree_json(root) if session.output.json else None, tree_text(root))
    if not session.output.json:
        for name, count in others.items():
            session.output.note(f"{count:,} in {name}: -s {name}")
