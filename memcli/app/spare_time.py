"""What a watch does when nothing happens: it saves what it has seen, indexes, computes vectors, and maintains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from memcli.app.space import embed_or_warn, index_status
from memcli.app.upkeep import maintain_behind
from memcli.app.workspace import Workspace
from memcli.model.changes import Batch
from memcli.model.memory import Json

_TO_THE_HOUR = len("2026-01-31T09")


class Progress(Protocol):
    """What a watch leaves in `local/`, for the next one and for whoever asks."""

    def doubt(self, batch: Batch) -> None:
        """Notes that this batch may or may not be stored, until the next `save`. Raises StoreError."""

    def save(self) -> None:
        """Keeps that everything up to the last batch is stored. Raises StoreError."""

    def is_there(self) -> bool:
        """Whether there still is the store that the watch began with."""

    def is_off(self) -> bool:
        """Whether memory is switched off in this clone."""

    def log(self, entry: Mapping[str, Json]) -> None:
        """Writes down what happened."""


class SpareTime:
    """The work that waits until nothing happens, and which version of the space it was done for."""

    def __init__(self, workspace: Workspace, progress: Progress, embed: bool, upkeep: bool) -> None:
        self._workspace = workspace
        self._upkeep = upkeep
        self._looked = ""  # when upkeep was last thought of
        self._progress = progress
        self._embed = embed
        self.is_saved = False
        self._indexed = ""
        self._quiet = ""  # the version that was there in two quiet moments, or that was stored last
        self._last = ""

    def use(self) -> None:
        """Saves what was stored, and brings the index up to date. Raises MemcliError."""
        if not self.is_saved:
            self._progress.save()
            self.is_saved = True
        now = self._version()
        if now not in ("", self._indexed):
            (embed_or_warn if self._embed else index_status)(self._workspace)
            self._indexed = now
        # Only what stays so for a while: a checkout writes the space first, and then which commit it is of.
        if now == self._last:
            self._quiet = now
            if self._maintain():
                now = self._quiet = self._version()
        self._last = now

    def _maintain(self) -> bool:
        """Maintains what is due, which is looked at once an hour; whether that changed anything. Raises MemcliError."""
        hour = self._workspace.clock()[:_TO_THE_HOUR]
        if not self._upkeep or self._progress.is_off() or hour == self._looked:
            return False
        self._looked = hour
        changed = [done for done in maintain_behind(self._workspace) if done.plan.after]
        for done in changed:
            counts = {"space": done.space, "changed": len(done.plan.after), "run": done.run}
            self._progress.log({"event": "upkeep", **counts})
        return bool(changed)

    def end(self, *, once: bool) -> None:
        """What is left to do when the watch ends. Raises MemcliError."""
        if not self.is_saved or once:
            self._progress.save()
        if self._embed and once:
            embed_or_warn(self._workspace)

    def was_replaced(self) -> bool:
        """Whether the space is another than it was, so that it may lack what was stored: it came with a commit."""
        return self._quiet not in ("", self._version())

    def note_version(self) -> None:
        """Notes the version that this watch itself has stored."""
        self._quiet = self._last = self._version()

    def _version(self) -> str:
        snapshot = self._workspace.store.open(self._workspace.space)
        snapshot.close()
        return snapshot.fingerprint
