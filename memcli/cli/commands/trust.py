"""`memcli trust`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memcli.cli.options import Options, argument, flag
from memcli.cli.session import Session
from memcli.cli.verb import verb
from memcli.errors import UsageError

if TYPE_CHECKING:
    from memcli.app.trust import Standing


class TrustOptions(Options):
    """What `memcli trust` takes."""

    refs: list[str] = argument("[ID|PATH...]", "Memories to accept as they are.", many=True)
    imported: bool = flag(help="Accept all that was imported into the space.")
    status: bool = flag(help="Only say how things stand.")
    revoke: bool = flag(help="Take the acceptance of this store back.")


@verb(TrustOptions)
def command(session: Session, options: TrustOptions) -> None:
    """Accept this clone of a store, what was imported, or single memories.

    A store that was made here is trusted, and so are your own copies of it and the other work trees of its repository
    (`git worktree add`), for which --revoke holds as well. One that came with a clone is not, until you accept it: recall marks its
    memories as unreviewed, its config.toml may set space, project and backend alone, its policies delete nothing,
    export to the default place, and redact no less than the default. What a memory was accepted for by others
    does not count either.

    Memories with instructions to an agent in them are withheld from recall in any store. Read one with
    `memcli get`, and accept it with its id: it is shown until its text changes.

    Example: memcli trust --status && memcli trust
    """
    from memcli.app.trust import accept_memories, standing

    if sum((bool(options.refs), options.imported, options.status, options.revoke)) > 1:
        raise UsageError("memories, --imported, --status and --revoke do not go together", "give one of them")
    workspace = session.open()
    trust = workspace.trust
    if options.refs:
        memories = accept_memories(workspace, options.refs)
        taken = [{"id": m.id, "path": m.path, "untrusted": m.metadata.get("untrusted", [])} for m in memories]
        session.output.confirm(taken, "\n".join(f"accepted {m.id} {m.path}" for m in memories))
        return
    if options.imported:
        count = trust.accept_memories(workspace.space)
        session.output.confirm({"accepted": count}, f"accepted {count} imported into space {workspace.space}")
        return
    if options.revoke:
        trust.revoke()
    elif not options.status:
        trust.accept()
    spaces = standing(workspace)
    data = {"accepted": trust.is_accepted, "root": workspace.root, "spaces": [s.to_json() for s in spaces]}
    session.output.answer(data, _told(trust.is_accepted, workspace.root, spaces))


def _told(accepted: bool, root: str, spaces: Sequence[Standing]) -> str:
    from memcli.render.grid import grid

    head = f"{root} is trusted here" if accepted else f"{root} came with a clone that nobody here has accepted"
    if not spaces:
        return head
    rows = [[s.space, str(s.memories), str(s.untrusted), str(s.unreviewed)] for s in spaces]
    lines = [head, grid(["space", "memories", "with instructions", "unreviewed"], rows)]
    if any(s.untrusted for s in spaces):
        lines.append("Those with instructions in them stay out of recall: `memcli list` marks them with !,")
        lines.append("`memcli get ID` shows one, `memcli trust ID` accepts it as it is.")
    if not accepted:
        lines.append("`memcli trust` accepts the store as it is.")
    return "\n".join(lines)
