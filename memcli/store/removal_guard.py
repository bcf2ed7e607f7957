"""What happens around every write of a space: what goes is kept, and git sees what it may see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memcli.errors import LockedError, StoreError
from memcli.model.space import Policy, Space
from memcli.policy.acts import is_kept, parted, trash_note
from memcli.record import replace
from memcli.settings import is_beside
from memcli.store.layout import Layout, set_ignored
from memcli.store.pending import Erasures

if TYPE_CHECKING:
    from memcli.model.links import Going, Severed
    from memcli.model.memory import Memory


class RemovalGuard:
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
        grace = self._in_force(going.kept.policy).grace_days
        going = parted(going, grace)
        before, erased = going.kept, going.erased
        has_run = is_kept(going, is_whole=after is None)
        run = self._keep(before, going.severed, going.replacing) if has_run else ""
        was_tracked = before.policy.is_tracked
        is_tracked = after is None or after.policy.is_tracked
        if not is_tracked and (
            was_tracked or not before.updated_at
        ):  # before the write: git must not see the file for a moment
            set_ignored(self._layout, before.name, ignored=True)
        if erased:
            self._erasures.begin(before.name, erased)
        going = replace(going, run=run)
        yield going
        if is_tracked and not was_tracked and not is_beside(before.name):
            self._unignore(before.name)
        if erased:
            self._erase(before.name)
        if run:
            self._warn(trash_note(going, grace))

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
                "`memcli check store --repair` erases them",
            ) from None
