"""Watch: carry what changes in a work tree over into memories, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from memcli.app.ingest import Ingested, ingest, retire
from memcli.app.workspace import Workspace
from memcli.ports import Source


class Changes(Protocol):
    """One batch: files to read again, files that are gone, a range of commits."""

    @property
    def files(self) -> tuple[str, ...]: ...
    @property
    def removed(self) -> tuple[str, ...]: ...
    @property
    def commits(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Watch:
    """A watch that is ready to run. `lock` is the file that keeps a second one off the same store; `name_of` gives the
    name that a memory knows a file by."""

    workspace: Workspace
    work_tree: str
    lock: str
    batches: Iterator[Changes]
    file_source: Callable[[Sequence[str]], Source]
    commit_source: Callable[[str], Source]
    name_of: Callable[[str], str]
    save: Callable[[], None]

    def run(self) -> Iterator[Ingested]:
        """What became of each batch, once it is stored. What was told is saved behind it, so nothing is lost or told twice."""
        try:
            for changes in self.batches:
                yield self._store(changes)
                self.save()
        finally:
            self.save()

    def _store(self, changes: Changes) -> Ingested:
        done = Ingested()
        sources = [self.file_source(changes.files)] if changes.files else []
        sources += [self.commit_source(changes.commits)] if changes.commits else []
        for source in sources:
            done.merge(ingest(self.workspace, source))
        done.retired = (
            retire(self.workspace, [self.name_of(file) for file in changes.removed]) if changes.removed else 0
        )
        return done
