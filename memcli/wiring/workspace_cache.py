"""A cache for processes that make many calls: indexes with their vectors, models, rules, rankers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from memcli.app.workspace import Observer, Workspace
from memcli.ports import Progress
from memcli.wiring.workspace import open_workspace

_T = TypeVar("_T")


class WorkspaceCache:
    """Opens workspaces as `open_workspace` does. Parts that are expensive to load are cached, and checked against the store
    whenever they are used."""

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
        """As `open_workspace`. Cached parts send their warnings to the latest caller."""
        self._warn, self._progress = warn, progress
        return open_workspace(
            options,
            environ,
            create=create,
            warn=self._warn_latest,
            progress=self._show_latest,
            keep=self.part,
            observer=observer,
        )

    def _warn_latest(self, text: str) -> None:
        self._warn(text)

    def _show_latest(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(done, total)

    def part(self, key: tuple[Any, ...], make: Callable[[], _T]) -> _T:
        """The part with this key, made by `make` if there is none."""
        parts = self._models if key[0] == "embedder" else self._parts
        if key not in parts:
            parts[key] = make()
        found: _T = parts[key]
        return found

    @property
    def has_model(self) -> bool:
        """Whether an embedding model is in memory."""
        return any(self._models.values())

    def successor(self) -> WorkspaceCache:
        """A new cache that shares only the models, for calls while another one still uses this."""
        new = WorkspaceCache()
        new._models = self._models
        return new

    def __del__(self) -> None:
        # An abandoned call uses its cache to the end: the last reference closes the views, and not the successor.
        self.close()

    def close(self) -> None:
        """Closes and drops all parts, except models."""
        self._models = {}  # not closed: a successor may use them
        while self._parts:
            _, part = self._parts.popitem()
            if hasattr(part, "close"):
                part.close()
