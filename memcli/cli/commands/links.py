"""`memcli link` and `unlink`"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcli.cli.options import Options, end_argument, option
from memcli.cli.verb import Session, verb
from memcli.model.shapes import RELATIONS

if TYPE_CHECKING:
    from memcli.app.links import Linked
    from memcli.model.memory import Json

_RELATIONS = "|".join(RELATIONS)


class LinkOptions(Options):
    """What `memcli link` takes."""

    start: str = end_argument()
    end: str = end_argument()
    relation: str = option(
        "--relation", "-r", metavar=_RELATIONS, help="How the first is related to the second.", default="relates_to"
    )
    weight: float | None = option(
        metavar="0..1", help="How strong the relation is [default: 1].", type=float, low=0, high=1
    )


@verb(LinkOptions)
def link(session: Session, options: LinkOptions) -> None:
    """Link one memory to another, of any space. A link that exists keeps its date.

    A memory that is superseded is no longer recalled; `memcli unlink` makes it current again. `contradicts` and
    `relates_to` hold in both directions. What was read from the repository is copied into main first.

    Example: memcli link ops/deploy decisions/database --relation depends_on

    Example: memcli link auth/tokens notes:auth/sessions --relation contradicts
    """
    from memcli.app import links as app
    from memcli.app.homes import home_of_link

    workspace = home_of_link(session.open(), options.start, options.end)
    done = app.link(workspace, options.start, options.end, options.relation, options.weight)
    status = "linked" if done.changed else "unchanged"
    data = {"status": status, "relation": options.relation, "weight": done.weight, **_ends(done)}
    told = f"{_name(done, 'start')} {options.relation} {_name(done, 'end')}"
    session.output.confirm(data, f"linked: {told}" if done.changed else f"already linked: {told}")


class UnlinkOptions(Options):
    """What `memcli unlink` takes."""

    start: str = end_argument()
    end: str = end_argument()
    relation: str | None = option("--relation", "-r", metavar=_RELATIONS, help="Remove only this relation.")


@verb(UnlinkOptions)
def unlink(session: Session, options: UnlinkOptions) -> None:
    """Remove the links from one memory to another: all, or with --relation one.

    What holds in both directions is removed in both. A memory that was superseded is current again.
    """
    from memcli.app import links as app
    from memcli.app.homes import home_of_link

    workspace = home_of_link(session.open(), options.start, options.end)
    done = app.unlink(workspace, options.start, options.end, options.relation)
    data = {"status": "unlinked" if done.changed else "unchanged", "relations": list(done.relations), **_ends(done)}
    ends = f"{_name(done, 'start')} and {_name(done, 'end')}"
    relation = f" {options.relation}" if options.relation else ""
    told = f"unlinked: {ends} ({', '.join(done.relations)})" if done.changed else f"no{relation} link between {ends}"
    session.output.confirm(data, told)


def _ends(done: Linked) -> dict[str, Json]:
    return {"start": done.start.to_json(), "end": done.end.to_json()}


def _name(done: Linked, which: str) -> str:
    """The path of one end, with its space where the two are in different ones."""
    end = done.start if which == "start" else done.end
    return end.memory.path if done.start.space == done.end.space else f"{end.space}:{end.memory.path}"
