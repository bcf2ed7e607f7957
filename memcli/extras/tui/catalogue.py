"""The catalogue: the memories of a space as its index lists them. A memory itself is read when it is shown, or filtered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import repeat
from typing import TYPE_CHECKING, TypeVar

from memcli.app.catalogue import reading
from memcli.app.workspace import Workspace
from memcli.codec.canonical import decode
from memcli.codec.memory import CORE_DEFAULTS
from memcli.errors import MemcliError, reason
from memcli.model.catalogue import CatalogueFilter
from memcli.model.links import elsewhere
from memcli.model.memory import Memory
from memcli.present.links import MemoryLink, links_of
from memcli.record import NamedTuple, replace
from memcli.safety.secrets.redact_memory import clean_field, clean_paths

if TYPE_CHECKING:
    from memcli.app.catalogue import FileCatalogue
    from memcli.index.view import IndexedSpace

T = TypeVar("T")
_MOST_KNOWN = 1000
"""With so many memories kept, those that were read before are dropped: they were on an earlier screen."""


class Listed(NamedTuple):
    """A memory in the catalogue; `is_hidden` if it is forgotten or superseded."""

    path: str
    id: str
    kind: str
    is_pinned: bool
    is_hidden: bool


class PathCatalogue:
    """The memories of the space of `workspace`. Raises CorruptError, StoreError; afterwards, an error of a read is a warning.

    `listed` are those in the scope, in the order of the tree, of which forgotten and superseded ones are part, so that `a` shows
    them without reading the space again; `fingerprint` is that of the space then.
    """

    def __init__(self, workspace: Workspace, scope: CatalogueFilter) -> None:
        self.space = workspace.space
        self._workspace = workspace
        self._known: dict[str, Memory | None] = {}
        self._last: tuple[str, Sequence[str], Sequence[tuple[int, int]] | None] = ("", (), None)
        with reading(workspace, [workspace.space]) as (reader,):
            self.fingerprint = reader.snapshot.fingerprint
            rows = reader.ask(lambda catalogue: catalogue.listed(replace(scope, inactive=True)))
            self._policy = reader.policy
            self._file = reader.file
        # An edit by hand, or a clone, may have secrets in paths and kinds.
        detector = workspace.redactor.on_the_way_out(self._policy)
        kinds = {kind: clean_field(detector, "kind", kind) for kind in {row[2] for row in rows}}
        paths = clean_paths(detector, [row[0] for row in rows])
        listed = [Listed(path, row[1], kinds[row[2]], *row[3:]) for path, row in zip(paths, rows, strict=True)]
        # By id at one path, and faster than by a key of both.
        self.listed = sorted(sorted(listed), key=lambda one: tree_key(one.path))

    def show(self, memory: Memory) -> Memory:
        """The memory, redacted."""
        return self._workspace.redactor.show([memory], self._policy)[0]

    def find(self, ref: str) -> Memory | None:
        """The memory with this id, or otherwise at this path, as it is now, in the scope or not; None if there is none."""
        return next(iter(self.read([ref])), None)

    def read(self, refs: Sequence[str]) -> list[Memory]:
        """As `find`, for several, without those that do not exist."""
        if new := [ref for ref in refs if ref and ref not in self._known]:
            if len(self._known) > _MOST_KNOWN:
                self._known = {ref: self._known[ref] for ref in refs if ref in self._known}
            found = self._ask(lambda catalogue: [catalogue.find(ref) for ref in new]) or repeat(None)
            self._known |= zip(new, found, strict=False)
        return [memory for memory in map(self._known.get, refs) if memory is not None]

    def matching(self, words: Sequence[str], everything: bool) -> list[Listed]:
        """The memories with all of the casefolded words; with `everything` also forgotten and superseded ones."""
        found = self._with(words) if words else None
        return [
            one for one in self.listed
            if (everything or not one.is_hidden) and (found is None or one.id in found)
        ]  # fmt: skip

    def links(self, memory: Memory) -> list[MemoryLink]:
        """The links from and to a memory; the place of a link in the list is its number, from 1."""
        incoming = self._ask(lambda catalogue: catalogue.incoming(memory.id)) or ()
        found = links_of(
            memory, {memory.id: [MemoryLink(relation, other, is_out=False) for relation, other in incoming]}
        )
        self.read([link.other for link in found])  # at once, as each is looked up by its reader
        return found

    def far(self, memory: Memory, n: int) -> tuple[str, str] | None:
        """The space and the id of the memory at the n-th link, if that is in another space; None otherwise."""
        links = self.links(memory)
        return elsewhere(links[n - 1].other) if n <= len(links) and self.find(links[n - 1].other) is None else None

    def contradicting(self, memory: Memory) -> list[tuple[int, Memory]]:
        """The current memories that contradict a memory, each with the number of its link."""
        numbered = enumerate(self.links(memory), 1)
        found = [(n, self.find(link.other)) for n, link in numbered if link.relation == "contradicts"]
        return [(n, other) for n, other in found if other is not None and is_current(other)]

    def _with(self, words: Sequence[str]) -> set[str]:
        """The ids of the memories with all of the casefolded words. The texts are read each time: all texts of a large space
        would take more memory than anything else."""
        import orjson  # noqa: F401 - `decode` then uses it for small values too, twice as fast

        found, places = set(), []
        with self._warning(), closing(self._workspace.store.open(self.space)) as snapshot:
            fingerprint, before, known = self._last
            # While the user types on, nothing can be found that was not found before.
            is_narrower = fingerprint == snapshot.fingerprint and all(
                any(old in word for word in words) for old in before
            )
            for data, start in snapshot.records(known if is_narrower else None):
                of = {**CORE_DEFAULTS, **decode(data, self.space)}  # a `Memory` would take three times as long
                tags = (f"#{tag}" for tag in of["tags"])
                text = "\n".join((of["path"], of["kind"], of["id"], *tags, of["summary_micro"], of["raw"])).casefold()
                if all(word in text for word in words):
                    found.add(of["id"])
                    places.append((start, len(data)))
            self._last = snapshot.fingerprint, words, places if all(start >= 0 for start, _ in places) else None
        return found

    def _ask(self, question: Callable[[IndexedSpace | FileCatalogue], T]) -> T | None:
        """The answer of the space as it is now; without an index, as it was read. None if it cannot be read."""
        if self._file is not None:
            return question(self._file)
        # Opened for each question, which takes a millisecond: the index follows the file, and belongs to one thread.
        answer = None
        with self._warning(), reading(self._workspace, [self.space]) as (reader,):
            answer = reader.ask(question)
        return answer  # noqa: RET504 - None after an error

    @contextmanager
    def _warning(self) -> Iterator[None]:
        """A context that an error ends, with a warning."""
        try:
            yield
        except (MemcliError, OSError) as error:
            self._workspace.warn(reason(error))


def tree_key(path: str) -> str:
    """The sort key by which a path is followed by all paths below it."""
    return path.replace("/", "\0")


def is_current(memory: Memory) -> bool:
    """Whether recall may return the memory: it is neither forgotten nor superseded."""
    return memory.active and memory.superseded_by is None
