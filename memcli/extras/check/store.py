"""`memcli check store`"""

from __future__ import annotations

import errno
import os
from collections.abc import Collection
from contextlib import suppress
from functools import partial

from memcli.cli.options import Options, flag
from memcli.cli.verb import CommandContext, verb
from memcli.errors import CorruptError, MemcliError, StoreError
from memcli.model.space import Change

_DENIED = os.strerror(errno.EACCES)


class CheckStoreOptions(Options):
    """The options of `memcli check store`."""

    repair: bool = flag(help="Repair the damage that can be repaired.")


@verb(CheckStoreOptions)
def command(session: CommandContext, options: CheckStoreOptions) -> None:
    """Check the store for damage: truncated files, unreadable memories, duplicate ids or paths, dangling links, wrong
    hashes, wrong order, invalid triggers of enforced memories, leftovers of crashes, and changed lines of audit logs.

    The spaces of a store on a server are checked, too, with their index; --repair leaves these alone.
    Before --repair changes more than the order of a file, it copies the original, without secrets, to the quarantine of the
    private state.
    Exits with 6 while there is damage, and with 8 if there is none, but a file cannot be read.

    >>> memory.check_store()['damaged']
    0
    """
    from memcli.extras.check.repair import check_store
    from memcli.git.work_tree import tracked_files
    from memcli.store.layout import Layout
    from memcli.wiring import extra
    from memcli.wiring.workspace import chosen_store

    workspace = session.open()
    # An empty change: any write first takes in what the journal of the space holds.
    settle = partial(workspace.store.update, change=lambda _: Change())
    found = list(check_store(Layout(workspace.root), settle, options.repair))
    url = chosen_store(session.options, os.environ)
    found += [(finding, False) for finding in extra("postgres.opening").check_spaces(url, os.environ)]
    damaged = sum(finding.is_damage and not mended for finding, mended in found)
    lines = []
    for finding, mended in found:
        about = f"{finding.file}: {f'{finding.object}: ' if finding.object else ''}{finding.message}"
        after = f" [{'done' if mended else 'to repair'}: {finding.repair}]" if finding.repair else ""
        lines.append(f"{about}{after}")
    data = [{**finding.to_json(), "damage": finding.is_damage, "mended": mended} for finding, mended in found]
    session.output.answer({"findings": data, "damaged": damaged}, "\n".join(lines))
    if damaged:
        unrepaired = [finding for finding, mended in found if finding.is_damage and not mended]
        # What may not be read is not known to be damaged.
        denied, unrepaired = unrepaired[0], [one for one in unrepaired if one.message != _DENIED]
        if not unrepaired:
            raise StoreError(f"cannot read {denied.file}: {_DENIED}", "check its permissions")
        hint = "`memcli check store --repair` repairs it"
        if all(one.kind == "trigger" for one in unrepaired):
            hint = "`memcli edit ID --set triggers=PATTERN` corrects it"
        elif not any(one.repair for one in unrepaired):
            tracked: Collection[str] = ()
            with suppress(MemcliError):  # there may be no repository
                tracked = tracked_files(workspace.root, "")
            own = [one.file for one in unrepaired if one.file not in tracked]
            hint = f"restore {own[0]} from a backup" if own else "restore the file with `git checkout`"
        raise CorruptError(f"{len(unrepaired)} damaged", hint)
    if not found:
        session.output.note("no damage found")
