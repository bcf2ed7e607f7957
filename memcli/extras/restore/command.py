"""`memcli restore`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memcli.cli.options import Options, argument, flag, option
from memcli.cli.verb import SHARE, CommandContext, verb
from memcli.errors import UsageError
from memcli.model.space import ADMIN, STORE

if TYPE_CHECKING:
    from memcli.extras.restore.restoring import Restored


class RestoreOptions(Options):
    """The options of `memcli restore`."""

    refs: list[str] = argument("ID|PATH...", "Forgotten or deleted memories; of these the latest version.", many=True)
    run: str | None = option(metavar="RUN", help="Restore everything that this run deleted.")
    list: bool = flag(help="List what can be restored.")


@verb(
    RestoreOptions, reach=STORE, section=SHARE, line="Restore forgotten or deleted memories", role=ADMIN, returns="Any"
)
def command(session: CommandContext, options: RestoreOptions) -> None:
    """Make memories active again that were forgotten, or bring back what gc, forget --purge, a reset or an import deleted, byte
    for byte, within the policy's grace_days.

    Example: memcli restore auth/tokens

    >>> memory.restore(list=True)
    []
    """
    from memcli.extras.restore.restoring import Restored, by_trash, reactivate, restore, restore_run, trashes
    from memcli.render.clean import grid

    if sum((bool(options.refs), options.run is not None, options.list)) != 1:
        raise UsageError(
            "nothing to restore: no memory named", "name memories or --run RUN; --list shows what can be restored"
        )
    workspace = session.open()
    if options.list:
        # With the trash of the user-wide store, whose memories are restored by path, too.
        runs = [(run, home is not workspace) for home in trashes(workspace) for run in home.trash.runs()]
        rows = [
            # The run of an empty space that was deleted has no memory, but a row.
            [r.name, f"{r.space.name}{' (user-wide)' * is_global}", r.command, m.id if m else "", m.path if m else ""]
            for r, is_global in runs for m in (r.space.objects or [None])
        ]  # fmt: skip
        text = grid(["run", "space", "removed by", "id", "path"], rows) if rows else "the trash is empty"
        data = [
            {
                "run": r.name, "space": r.space.name, "removed_at": r.removed_at, "command": r.command,
                "memories": [{"id": m.id, "path": m.path} for m in r.space.objects],
                **({"store": "global"} if is_global else {}),
            }
            for r, is_global in runs
        ]  # fmt: skip
        session.output.answer(data, text)
        return
    if options.run is not None:
        _confirm(session, [restore_run(workspace, options.run)])
        return
    active, deleted = reactivate(workspace, options.refs)
    homes, missing = by_trash(workspace, deleted) if deleted else ([], None)
    again = [Restored(workspace.space, tuple(active), (), ())] if active else []
    if again or homes:
        _confirm(session, [*again, *(restore(home, own) for home, own in homes)])
    if missing is not None:
        raise missing


def _confirm(session: CommandContext, done: Sequence[Restored]) -> None:
    """Prints the results of all stores and spaces as one answer."""
    existing = [m for one in done for m in one.existing]
    restored = [m for one in done for m in one.memories]
    changed = [m for one in done for m in one.changed]
    due = [m.id for one in done for m in one.due]
    lines = [f"restored {m.id} {m.path}" for m in restored]
    lines += [f"exists already {m.id} {m.path}" for m in existing]
    lines += [f"left {m.id} {m.path}: it has changed since (`memcli restore {m.id}` replaces it)" for m in changed]
    data = {
        "space": done[0].space,
        "restored": [{"id": m.id, "path": m.path} for m in restored],
        "there": [m.id for m in existing],
        "due": due,
        "changed": [m.id for m in changed],
    }
    session.output.confirm(data, "\n".join(lines) or f"restored space {done[0].space}")
    if due:
        session.output.note(f"{len(due)} will expire at the next gc: pin them, or change the policy")
