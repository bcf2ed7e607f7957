"""What happens around every write of a space: what goes is kept, and git sees what it may see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memcli.errors import LockedError, StoreError
from memcli.model.space import Policy, Space
from memcli.record import replace
from memcli.settings import BESIDE
from memcli.store.layout import Layout, set_ignored
from memcli.store.pending import Erasures

if TYPE_CHECKING:
    from memcli.model.memory import Memory
    from memcli.model.removal import Going, Severed


class Guard:
    """The guard of the store at `layout`. `keep` puts what goes into the trash and says under which name, `erasures`
    takes what goes for good out of everything else that memcli keeps of a space. `in_force`: what of a policy holds
    here."""

    def __init__(
        self,
        layout: Layout,
        keep: Callable[[Space, Sequence[Severed], Sequence[Memory]], str],
        erasures: Erasures,
        in_force: Callable[[Policy], Policy],
        warn: Callable[[str], None],
    ) -> None:
        self._layout = layout
        self._keep = keep
        self._erasures = erasures
        self._in_force = in_force
        self._warn = warn

    @contextmanager
    def __call__(self, going: Going, after: Space | None) -> Iterator[Going]:
        """Around the write that makes `after` (a header; None: no space) of a space; gives what goes where.

        Raises StoreError, and then nothing was written; LockedError when it was, but a reader holds what is to go.
        """
        before, erased = going.kept, going.erased
        if before.policy.is_derived:  # the repository has it, but not what was changed in it since
            before = replace(before, objects=tuple(m for m in before.objects if m.id in going.displaced))
        grace = self._in_force(before.policy).grace_days
        if grace == 0:
            gone = (memory for memory in before.objects if memory.id not in going.displaced)
            before, erased = replace(before, objects=()), (*gone, *erased)
        is_kept = before.objects or (after is None and not erased and not before.policy.is_derived)
        run = self._keep(before, going.severed, going.replacing) if is_kept else ""
        was_tracked = before.policy.is_tracked
        is_tracked = after is None or after.policy.is_tracked
        if not is_tracked and (
            was_tracked or not before.updated_at
        ):  # before the write: git must not see the file for a moment
            set_ignored(self._layout, before.name, ignored=True)
        if erased:
            self._erasures.begin(before.name, erased)
        yield replace(going, kept=before, erased=erased, run=run)
        if is_tracked and not was_tracked and before.name not in BESIDE:
            self._unignore(before.name)
        if erased:
            self._erase(before.name)
        if run:
            self._warn(f"{_told(before, going)} in the trash for {grace:g} days: `memcli restore --run {run}`")

    def _unignore(self, space: str) -> None:
        try:
            set_ignored(self._layout, space, ignored=False)
        except (StoreError, LockedError) as error:
            self._warn(
                f"saved, but git still ignores space {space!r}: {error.message}; "
                f"remove the line spaces/{space}.json from {self._layout.ignore}"
            )

    def _erase(self, space: str) -> None:
        try:
            self._erasures.finish(space)
        except StoreError as error:
            raise StoreError(
                f"it was removed from space {space!r}, but traces of it are left: {error.message}",
                "`memcli fsck --repair` erases them",
            ) from None


def _told(kept: Space, going: Going) -> str:
    count = len(kept.objects)
    if count and all(memory.id in going.displaced for memory in kept.objects):
        return "the earlier version of 1 memory is" if count == 1 else f"the earlier versions of {count} memories are"
    return "1 memory is" if count == 1 else f"{count} memories are"
