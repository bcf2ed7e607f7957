"""`memcli link`"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcli.cli.options import REQUIRED, Options, argument, flag, normalized, option
from memcli.cli.verb import RECALL, CommandContext, Http, ToolDeclaration, verb
from memcli.errors import UsageError
from memcli.model.shapes import RELATIONS
from memcli.model.space import WRITER

if TYPE_CHECKING:
    from memcli.extras.links.linking import Linked
    from memcli.model.memory import Json

_RELATIONS = "|".join(RELATIONS)
_OF_ANY_SPACE = "A memory, by id, unique id prefix, path or SPACE:PATH."


class LinkOptions(Options):
    """The options of `memcli link`."""

    start: str = argument("ID|PATH", _OF_ANY_SPACE, default=REQUIRED, read=normalized)
    end: str = argument("ID|PATH", _OF_ANY_SPACE, default=REQUIRED, read=normalized)
    relation: str | None = option(
        "--relation", "-r", metavar=_RELATIONS,
        help="How the first is related to the second [default: relates_to; with --remove: any].",
    )  # fmt: skip
    weight: float | None = option(
        metavar="0..1", help="How strong the relation is [default: 1].", type=float, low=0, high=1
    )
    remove: bool = flag(help="Remove the links from the first to the second instead: all, or those of --relation.")


@verb(
    LinkOptions,
    section=RECALL,
    line="Link two memories, or remove their links",
    role=WRITER,
    http=(
        Http(
            method="POST", path="/api/links", summary="Link two memories", fields=("start", "end", "relation", "weight")
        ),
        Http(
            method="DELETE",
            path="/api/links",
            summary="Remove links",
            in_query=True,
            fields=("start", "end", "relation"),
            fixed={"remove": True},
        ),
    ),
    tools=(
        ToolDeclaration(
            name="link",
            description=(
                "Link two memories, by id or path: the first relates_to (default), supersedes, contradicts, is "
                "derived_from or depends_on the second."
            ),
            fields=("start", "end", "relation", "weight"),
            reads_only=False,
        ),
    ),
)
def command(session: CommandContext, options: LinkOptions) -> None:
    """Link one memory to another, of any space, or remove their links. A link that exists keeps its date.

    A memory that is superseded is no longer recalled; --remove makes it current again. `contradicts` and `relates_to` hold in
    both directions, and are removed in both. What was read from the repository is copied into main first.

    Example: memcli link ops/deploy decisions/database --relation depends_on

    Example: memcli link auth/tokens notes:auth/sessions --relation contradicts --remove

    >>> memory.link('ops/deploy', 'decisions/database', relation='depends_on')['status']
    'linked'
    """
    from memcli.app.homes import home_of_link
    from memcli.extras.links.linking import link, unlink

    if options.remove and options.weight is not None:
        raise UsageError("--weight cannot be used with --remove", "leave it out")
    workspace = home_of_link(session.open(), options.start, options.end)
    if options.remove:
        done = unlink(workspace, options.start, options.end, options.relation)
        data = {"status": "unlinked" if done.changed else "unchanged", "relations": list(done.relations), **_ends(done)}
        ends = f"{_name(done, 'start')} and {_name(done, 'end')}"
        known = f" {options.relation}" if options.relation else ""
        text = f"unlinked: {ends} ({', '.join(done.relations)})" if done.changed else f"no{known} link between {ends}"
        session.output.confirm(data, text)
        return
    relation = options.relation or "relates_to"
    done = link(workspace, options.start, options.end, relation, options.weight)
    status = "linked" if done.changed else "unchanged"
    data = {"status": status, "relation": relation, "weight": done.weight, **_ends(done)}
    both = f"{_name(done, 'start')} {relation} {_name(done, 'end')}"
    session.output.confirm(data, f"linked: {both}" if done.changed else f"already linked: {both}")


def _ends(done: Linked) -> dict[str, Json]:
    return {"start": done.start.to_json(), "end": done.end.to_json()}


def _name(done: Linked, which: str) -> str:
    """The path of one end, with its space if the two are in different spaces."""
    end = done.start if which == "start" else done.end
    return end.memory.path if done.start.space == done.end.space else f"{end.space}:{end.memory.path}"
