"""What happens around every write of a space: what goes is kept, and git sees what it may see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memcli.model.space import Space
from memcli.store.ignored import set_ignored
from memcli.store.layout import Layout


class Guard:
    """The guard of the store at `layout`. `keep` puts what goes into the trash and says under which name; `warn` tells."""

    def __init__(self, layout: Layout, keep: Callable[[Space], str], warn: Callable[[str], None]) -> None:
        self._layout = layout
        self._keep = keep
        self._warn = warn

    @contextmanager
    def __call__(self, going: Space, after: Space | None) -> Iterator[str]:
        """Around the write that makes `after` (a header; None: no space) of a space; gives the name of the run.

        `going` is the header as it was, with the memories that go. Raises StoreError, and then nothing was written.
        """
        run = self._keep(going) if going.objects or after is None else ""
        was_private = going.policy.is_private
        is_private = after is not None and after.policy.is_private
        if is_private and not was_private:  # before the write: git must not see the file for a moment
            set_ignored(self._layout, going.name, ignored=True)
        yield run
        if was_private and not is_private:
            set_ignored(self._layout, going.name, ignored=False)
        if run:
            many = "1 memory is" if len(going.objects) == 1 else f"{len(going.objects)} memories are"
            self._warn(f"{many} in the trash for {going.policy.grace_days:g} days: `memcli restore --run {run}`")
