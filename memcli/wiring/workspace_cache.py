"""What a process that makes many calls keeps between them: indexes with their vectors, models, rules, rankers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from memcli.app.workspace import Observer, Workspace
from memcli.ports import Progress
from memcli.wiring.workspace import open_workspace

_T = TypeVar("_T")


class WorkspaceCache:
    """Opens workspaces as `open_workspace` does. What is expensive to load is kept, and checked against
    the store whenever it is used."""

    def __init__(self) -> None:
        self._parts: dict[tuple[Any, ...], Any] = {}
        self._models: dict[tuple[Any, ...], Any] = {}
        self._warn: Callable[[str], None] = lambda _: None
        self._progress: Progress | None = None

    def open(
        self,
        options: Mapping[str, str | None],
        environ: Mapping[str, str],
        *,
        create: bool = False,
        warn: Callable[[str], None] = lambda _: None,
        progress: Progress | None = None,
        observer: Observer | None = None,
    ) -> Workspace:
        """As `open_workspace`. What is kept warns the latest caller."""
        self._warn, self._progress = warn, progress
        return open_workspace(
            options,
            environ,
            create=create,
            warn=self._tell,
            progress=self._show,
            keep=self.part,
            observer=observer,
        )

    def _tell(self, text: str) -> None:
        self._warn(text)

    def _show(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(done, total)

    def part(self, key: tuple[Any, ...], make: Callable[[], _T]) -> _T:
        """The part of this key; `make` makes it if there is none."""
        parts = self._models if key[0] == "embedder" else self._parts
        if key not in parts:
            parts[key] = make()
        found: _T = parts[key]
        return found

    def successor(self) -> WorkspaceCache:
        """One with the same models and nothing else, for calls beside one that still uses this."""
        new = WorkspaceCache()
        new._models = self._models
        return new

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Closes and forgets all parts."""
        self._models = {}  # a successor has them still
        while self._parts:
            _, part = self._parts.popitem()
            if hasattr(part, "close"):
                part.close()
