"""`memcli forget`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memcli.cli.options import IF_DIGEST, REFS, Options, check_one, flag
from memcli.cli.output import ask
from memcli.cli.verb import RECALL, CommandContext, ToolDeclaration, verb
from memcli.errors import NotFoundError, RefusedError, UsageError
from memcli.model.memory import Memory
from memcli.model.names import counted
from memcli.model.space import ADMIN, WRITER

if TYPE_CHECKING:
    from memcli.app.workspace import Workspace


_MOST_NAMED = 4


class ForgetOptions(Options):
    """The options of `memcli forget`."""

    refs: list[str] = REFS
    recursive: bool = flag("--recursive", "-r", help="Include everything below the paths.")
    purge: bool = flag(help="Delete the memories; `memcli restore` restores them.")
    now: bool = flag(help="With --purge: also erase from the trash, caches and logs; for leaked secrets.")
    if_digest: str | None = IF_DIGEST
    yes: bool = flag("--yes", "-y", help="Delete without asking for confirmation.")


@verb(
    ForgetOptions,
    section=RECALL,
    line="Exclude memories from recall, or delete them",
    role=WRITER,
    escalates={"purge": ADMIN},
    tools=(
        ToolDeclaration(
            name="forget",
            description=(
                "Exclude memories that are wrong or outdated from recall. They stay in the store, and a person can "
                "make them active again. To replace a memory, use remember with supersedes."
            ),
            fields=("refs", "recursive"),
            reads_only=False,
            destroys=True,
        ),
    ),
)
def command(session: CommandContext, options: ForgetOptions) -> None:
    """Exclude memories from recall. They stay in the file, and `memcli list --all` shows them.

    `memcli restore ID` makes one active again.

    >>> memory.forget('ops/deploy')['status']
    'forgotten'
    """
    workspace = session.open()
    if options.now and not options.purge:
        raise UsageError("--now requires --purge", "run `memcli forget ID --purge --now`")
    check_one(options.refs, options.if_digest)
    if options.if_digest and options.recursive:
        raise UsageError("--if-digest takes one memory", "leave --recursive out")
    if options.purge:
        _purge(session, workspace, options)
        return
    from memcli.app.edit import forget
    from memcli.app.homes import by_home

    homes, missing = by_home(workspace, options.refs, recursive=options.recursive)
    memories = [m for home, own in homes for m in forget(home, own, options.recursive, options.if_digest)]
    data = {"status": "forgotten", "memories": [{"id": m.id, "path": m.path} for m in memories]}
    session.output.confirm(data, "\n".join(f"forgotten {m.id} {m.path}" for m in memories))
    if memories:
        names = " ".join(m.id for m in memories) if len(memories) < _MOST_NAMED else "ID"
        session.output.note(f"`memcli restore {names}` brings {'it' if len(memories) == 1 else 'them'} back")
    if missing is not None:
        raise missing


def _purge(session: CommandContext, workspace: Workspace, options: ForgetOptions) -> None:
    """Deletes the memories that the options name. If they name none of the store, erases those in the inbox and, with --now, in
    the trash. Raises NotFoundError, RefusedError."""
    from memcli.app.homes import by_home
    from memcli.app.purge import Purged, erase_proposed, erase_trashed, find_named, find_proposed, find_trashed, purge

    refs, recursive, now, yes = options.refs, options.recursive, options.now, options.yes
    try:
        homes, missing = by_home(workspace, refs, recursive=recursive)
        named = [(home, find_named(home, own, recursive)) for home, own in homes]
    except NotFoundError:  # a leaked secret may be left in the trash or the inbox alone
        trashed, proposed = find_trashed(workspace, refs) if now else [], find_proposed(workspace, refs)
        if not trashed and not proposed:
            raise
        _confirm([*trashed, *proposed], yes)
        erased = [("trash", m) for m in (erase_trashed(workspace, refs) if trashed else ())]
        erased += [("inbox", m) for m in erase_proposed(workspace, refs)]
        data = {"status": "erased", "memories": [{"id": m.id, "path": m.path} for _, m in erased]}
        session.output.confirm(data, "\n".join(f"erased from the {place} {m.id} {m.path}" for place, m in erased))
        return
    _confirm([memory for _, memories in named for memory in memories], yes)
    done = Purged(())
    for home, memories in named:
        # By their ids, which the user has confirmed: a path may have come to name another memory meanwhile.
        done = done.with_also(purge(home, [memory.id for memory in memories], now=now, digest=options.if_digest))
    lines = [f"purged {m.id} {m.path}" for m in done.memories]
    lines += [f"current again {m.id} {m.path}" for m in done.current]
    changed = {
        name: [{"id": m.id, "path": m.path} for m in memories]
        for name, memories in (("memories", done.memories), ("current", done.current))
    }
    session.output.confirm({"status": "purged", **changed, "quoted_in": list(done.quotes)}, "\n".join(lines))
    for quote in done.quotes:
        session.output.note(f"the text also appears in {quote}")
    if missing is not None:
        raise missing


def _confirm(memories: Sequence[Memory], yes: bool) -> None:
    """Asks whether to delete the memories, unless `yes`. Raises RefusedError if the user declines, or without a terminal."""
    if yes:
        return
    # A confirmation, whatever the policy: a leaked secret must be removable at once.
    what = counted(len(memories), "memory", "memories")
    listed = ", ".join(m.path for m in memories[:3]) + (", ..." if len(memories) > 3 else "")
    if not ask(f"Delete {what} ({listed})?"):
        raise RefusedError(f"--purge would delete {what} and needs confirmation", "add --yes; nothing was deleted")
