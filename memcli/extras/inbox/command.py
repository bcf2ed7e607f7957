"""`memcli inbox`"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memcli.cli.arguments import assignments, check_known
from memcli.cli.options import Options, argument, flag, option
from memcli.cli.verb import CHECK, CommandContext, Http, verb
from memcli.errors import UsageError
from memcli.model.space import READER, WRITER

if TYPE_CHECKING:
    from memcli.app.workspace import Workspace
    from memcli.model.memory import Json, Memory

_ACTIONS = ("list", "show", "accept", "reject", "edit")


class InboxOptions(Options):
    """The options of `memcli inbox`."""

    action: str = argument("[list|show|accept|reject|edit]", "What to do.", default="list")
    refs: list[str] = argument("[ID|PATH...]", "Proposed memories, by id or path.", many=True)
    all: bool = flag(help="Accept or reject all proposals.")
    set: list[str] = option(metavar="FIELD=VALUE", help="With edit: as in `memcli edit`.", many=True)
    object: bool = flag(help="With edit: as in `memcli edit`.")


@verb(
    InboxOptions,
    section=CHECK,
    line="Accept or reject proposed memories",
    role=WRITER,
    escalates={"action=list": READER, "action=show": READER},
    http=(
        Http(path="/api/inbox", summary="List proposed memories", fixed={"action": "list"}),
        Http(
            method="POST",
            path="/api/inbox/accept",
            summary="Accept proposed memories",
            fields=("refs", "all"),
            fixed={"action": "accept"},
        ),
        Http(
            method="POST",
            path="/api/inbox/reject",
            summary="Reject proposed memories",
            fields=("refs", "all"),
            fixed={"action": "reject"},
        ),
    ),
    returns="Any",
)
def command(session: CommandContext, options: InboxOptions) -> None:
    """Review proposed memories: list, show, accept, reject or edit them.

    With the policy `review: true`, memories from ingest, watch, scripts and imports wait in the inbox, as do those stored with
    `remember --propose` or MEMCLI_PROPOSE=1. Recall ignores the inbox. Rejected memories are not proposed again.

    Example: memcli inbox && memcli inbox accept --all

    >>> proposed = memory.remember('We use tabs.', propose=True)
    >>> memory.inbox('accept', proposed['id'])[0]['status']
    'created'
    """
    from memcli.extras.inbox.review import accept, edit, reject

    check_known("action", options.action, _ACTIONS)
    if (options.set or options.object) and options.action != "edit":
        raise UsageError("--set and --object require edit", "run `memcli inbox edit ID --set kind=decision`")
    if options.set and options.object:
        raise UsageError("--object cannot be used with --set", "--object opens the editor; use it alone")
    workspace = session.open()
    chosen = _chosen(workspace, options.action, options.refs or (), options.all)
    if options.action in ("list", "show"):
        _show(session, workspace, chosen, whole=options.action == "show")
    elif options.action == "accept":
        stored = accept(workspace, chosen)
        from memcli.cli.submit import found_lines

        lines = [
            *(f"{o.status} {o.id} {o.path}" for o in stored.outcomes),
            *found_lines(stored.outcomes, can_repeat=False),
        ]
        session.output.confirm([o.to_json() for o in stored.outcomes], "\n".join(lines) or "the inbox is empty")
        if stored.compacted:
            session.output.note(f"{stored.compacted} least valuable memories removed (policy.max_objects)")
        for name in (o.id for o in stored.outcomes if o.untrusted):
            session.output.note(
                f"{name} contains instructions to an agent and is excluded from recall; `memcli trust {name}` accepts it"
            )
    elif options.action == "reject":
        reject(workspace, chosen)
        gone = [{"status": "rejected", "id": m.id, "path": m.path} for m in chosen]
        session.output.confirm(gone, "\n".join(f"rejected {m.id} {m.path}" for m in chosen) or "the inbox is empty")
    else:
        from memcli.cli.editor import edit_memory

        def save(changed: Mapping[str, Json], _: Memory | None) -> Memory:
            return edit(workspace, chosen[0].id, changed)

        fields = assignments(options.set)
        edited = save(fields, None) if fields else edit_memory(chosen[0], options.object, save, session.output.json)
        if edited is None:
            session.output.confirm({"status": "unchanged"}, "nothing changed")
        else:
            data = {"status": "updated", "id": edited.id, "path": edited.path}
            session.output.confirm(data, f"updated {edited.id} {edited.path}")


def _chosen(workspace: Workspace, action: str, refs: Sequence[str], everything: bool) -> list[Memory]:
    """The proposed memories for an action: all, or those that `refs` name. Raises UsageError, NotFoundError."""
    from memcli.app.inbox import waiting
    from memcli.extras.inbox.review import show

    if action == "list" or (everything and action in ("accept", "reject") and not refs):
        return waiting(workspace)
    if not refs or everything or (action == "edit" and len(refs) > 1):
        many = " or --all" if action in ("accept", "reject") else ""
        raise UsageError(
            f"nothing to {action}: no memory named",
            f"memcli inbox {action} {'ID' if action == 'edit' else 'ID...'}{many}",
        )
    return show(workspace, refs)


def _show(session: CommandContext, workspace: Workspace, memories: Sequence[Memory], whole: bool) -> None:
    """Prints proposed memories in full, or as a list with what the first of them contradict or repeat."""
    from memcli.cli.submit import by_kind
    from memcli.codec.memory import memory_to_json
    from memcli.extras.inbox.review import findings
    from memcli.render.memory import listing, render_memory, summary_json

    if whole:
        text = "\n".join(render_memory(m) for m in memories)
        session.output.answer([memory_to_json(m) for m in memories], text)
        return
    found = dict(zip((m.id for m in memories), findings(workspace, memories), strict=False))
    contradicting = [f"{name} {one.words(workspace.space)}" for name, ones in found.items() for one in ones]
    data = [{**summary_json(m), **by_kind(found.get(m.id, ()), workspace.space)} for m in memories]
    session.output.answer(data, "\n".join([listing(memories), *contradicting]))
    if not memories:
        session.output.note("the inbox is empty")
