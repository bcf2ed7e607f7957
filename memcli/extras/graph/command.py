"""`memcli graph`"""

from __future__ import annotations

from memcli.cli.options import Options, argument, flag, option
from memcli.cli.verb import RECALL, CommandContext, Http, verb
from memcli.errors import UsageError
from memcli.model.space import READER

_FORMATS = "json|dot|mermaid|html|text"


class GraphOptions(Options):
    """The options of `memcli graph`."""

    ref: str = argument(
        "[ID|PATH]", "A memory, or a path that memories are below [default: the whole space].", default=""
    )
    depth: int = option("--depth", "-d", metavar="N", help="How many steps from it.", type=int, low=0, default=2)
    format: str | None = option(
        "--format",
        "-f",
        metavar=_FORMATS,
        help="The format [default: by the name of --output; else text on a terminal, json in a pipe].",
    )
    output: str | None = option("--output", "-o", metavar="FILE", help="Write to this file.")
    all: bool = flag("--all", "-a", help="Include forgotten memories.")
    clusters: bool = flag(help="Find clusters among more than 2,000 memories too, which takes seconds.")


@verb(
    GraphOptions,
    section=RECALL,
    line="Show what memories are linked to",
    role=READER,
    http=(
        Http(path="/api/graph", summary="Show what memories are linked to", fields=("ref", "depth", "all", "clusters")),
    ),
    returns="Any",
)
def command(session: CommandContext, options: GraphOptions) -> None:
    """Show the graph of memories, tags, clusters and links around a memory, or of a whole space.

    A tag of more than 25 memories is shown, but not followed. `html` is one page that works offline, with search and
    filters.

    Example: memcli graph decisions/database --depth 1

    Example: memcli graph --output memory.html

    >>> {edge['relation'] for edge in memory.graph('decisions/database', depth=1)['edges']}
    {'has_tag'}
    """
    from memcli.cli import arguments
    from memcli.extras.graph.formats import GRAPH_FORMATS, graph_json
    from memcli.extras.graph.reading import graph_of, private_spaces
    from memcli.store.target import write_out

    form = _form(session, options.format, options.output)
    workspace = session.open()
    ref = arguments.path(options.ref, "the memory")
    graph = graph_of(workspace, ref, options.depth, inactive=options.all, all_clusters=options.clusters)
    if options.output is not None and options.output != "-":
        write_out(options.output, GRAPH_FORMATS[form](graph).encode("utf-8", "replace"))
        for space, count in private_spaces(workspace, graph).items():
            shown = f"{options.output} shows {count} of private space {space!r}"
            session.output.note(f"{shown}: do not share it, or use --space main")
        nodes, edges = len(graph.nodes), len(graph.edges)
        data = {"path": options.output, "format": form, "nodes": nodes, "edges": edges}
        session.output.confirm(data, f"wrote {nodes} nodes and {edges} edges to {options.output}")
    elif session.output.json:
        session.output.answer(graph_json(graph), "")
    elif form == "html":
        session.output.raw(GRAPH_FORMATS[form](graph))
    else:
        session.output.write(GRAPH_FORMATS[form](graph))


def _form(session: CommandContext, form: str | None, output: str | None) -> str:
    """The format to write. Raises UsageError."""
    from memcli.cli.arguments import check_known
    from memcli.cli.output import is_terminal
    from memcli.extras.graph.formats import ENDINGS, GRAPH_FORMATS

    if form is not None:
        check_known("format", form, GRAPH_FORMATS)
        if session.output.json and form != "json" and output in (None, "-"):
            raise UsageError(f"--json cannot be used with --format {form}", "use one of them")
        return form
    if output is not None and (ending := output.rpartition(".")[2].lower()) in ENDINGS:
        return ENDINGS[ending]
    return "text" if is_terminal() and not session.output.json and output is None else "json"
