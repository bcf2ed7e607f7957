"""Views of spaces: of many only so many are open at a time, and a cache that makes no sense is made anew once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from memcli.app.opening import is_nonsense, opened
from memcli.app.workspace import Workspace

if TYPE_CHECKING:
    from memcli.ports.views import SpaceView

MOST = 32
"""How many are open at a time: each takes a file of the space and one or two of its index."""

_T = TypeVar("_T")
_Key = tuple[str, str]


class Views:
    """The views of spaces, opened when they are asked for. Those that were asked last stay open."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._open: OrderedDict[_Key, tuple[Workspace, SpaceView, ExitStack]] = OrderedDict()

    def get(self, workspace: Workspace, space: str) -> SpaceView:
        """The view of a space. Raises CorruptError, StoreError."""
        key = (workspace.root, space)
        if key not in self._open:
            while len(self._open) >= self._most:
                self._open.popitem(last=False)[1][2].close()
            with ExitStack() as stack:
                _, view = stack.enter_context(opened(workspace, space))
                self._open[key] = (workspace, view, stack.pop_all())
        self._open.move_to_end(key)
        return self._open[key][1]

    def again(self, work: Callable[[], _T]) -> _T:
        """What `work` gives; it is done once more, on new indexes, when those that it found made no sense."""
        try:
            return work()
        except Exception as error:
            if not is_nonsense(error):
                raise
        known = [(workspace, space) for (_, space), (workspace, _, _) in self._open.items()]
        self.close()
        for workspace, space in known:
            workspace.index.rebuild(space)
        return work()

    def close(self) -> None:
        """Closes all."""
        while self._open:
            self._open.popitem()[1][2].close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
