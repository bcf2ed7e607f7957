"""Foreign: what other tools remember. To add one: a reader in a file of its own, and one line in READERS.

A reader takes the bytes of one file and its name, and yields the fields of a memory each, with two that are no
fields: `names`, by which other memories may be linked to this one, and links (and `superseded_by`) that lead to such
names. `Names` makes paths of them, once all are there.
"""

from __future__ import annotations

import os
import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from memcli.codec.exports import is_document
from memcli.errors import CorruptError, UsageError
from memcli.git.reading import UnfitError, read_bytes
from memcli.git.tree import Ignore, Tree
from memcli.ingest.decisions import is_decision, read_decision
from memcli.ingest.entities import is_graph, read_graph
from memcli.ingest.instructions import is_instructions, read_instructions
from memcli.ingest.mem0 import is_mem0, read_mem0
from memcli.ingest.notes import read_note
from memcli.model.failure import Failure, reason_of
from memcli.model.names import free_path, readable

Reader = Callable[[bytes, str], Iterator[Mapping[str, object]]]

READERS: Mapping[str, Reader] = {
    "adr": read_decision, "agents": read_instructions, "markdown": read_note, "mcp": read_graph, "mem0": read_mem0,
}  # fmt: skip
_MARKDOWN = (".md", ".markdown", ".mdx")


class ForeignSource:
    """Files of other tools, as pairs of a name and the content; `form` reads all of them, `auto` what each looks like.

    `found` counts the files by what they were read as, and `skipped` what gave no memory, by reason. A file that was
    named rather than found must be fit: with `strict` its error is raised.
    """

    def __init__(self, files: Iterable[tuple[str, bytes]], form: str, skipped: Counter[str], *, strict: bool) -> None:
        self._files = files
        self._form = form
        self._strict = strict
        self.skipped = skipped
        self.failed: list[Failure] = []
        self.found: Counter[str] = Counter()

    def candidates(self) -> Iterator[Mapping[str, object]]:
        """One for each memory, in the order of the files. Raises MemcliError for a named file that is not fit."""
        candidates: dict[str, dict[str, Any]] = {}
        for where, data in self._files:
            form = self._form if self._form != "auto" else detect(where, data)
            if not form:
                self.skipped["other"] += 1
                continue
            try:
                for fields in list(READERS[form](data, where)):
                    path = free_path(str(fields["path"]), where, candidates, "~")
                    candidates[path] = {**fields, "path": path}
            except UnfitError as unfit:
                if self._strict:
                    raise UsageError(f"{where}: {unfit.message}", unfit.hint) from None
                self.skipped[unfit.reason] += 1
            except CorruptError:
                if self._strict:
                    raise
                self.skipped["damaged"] += 1
            except Exception as error:
                if self._strict:
                    raise
                self.failed.append(Failure(reason_of(error), file=where))
                self.skipped["failed"] += 1
            else:
                self.found[form] += 1
        names = _Names(candidates)
        for candidate in candidates.values():
            yield names.resolved(candidate)


def detect(where: str, data: bytes) -> str:
    """What the file looks like: a key of READERS, or empty for none, as for an export of memcli."""
    if is_instructions(where):
        return "agents"
    if where.lower().endswith(_MARKDOWN):
        if is_document(data):
            return ""
        return "adr" if is_decision(data, where) else "markdown"
    if is_graph(data):
        return "mcp"
    return "mem0" if is_mem0(data) else ""


def files_under(folder: str, base: str, skipped: Counter[str]) -> Iterator[tuple[str, bytes]]:
    """The files below a folder with their names, told from `base` or else from the folder's own name.

    What is ignored, a link, no regular file, huge or unreadable is counted in `skipped`.
    """
    root = os.path.realpath(folder)
    tree = Tree(root, Ignore(root), skipped)
    for file, _ in tree.files():
        try:
            data = read_bytes(os.path.join(root, file), root)
        except UnfitError as unfit:
            skipped[unfit.reason] += 1
        else:
            yield readable(posixpath.join(label(root, base), file)), data


def label(path: str, base: str) -> str:
    """The name that a file or a folder is known by: the way to it from `base`, or its own where it is elsewhere."""
    path, base = os.path.realpath(path), os.path.realpath(base)
    if path == base:
        return ""
    inside = path.removeprefix(base.rstrip(os.sep) + os.sep)
    return inside.replace(os.sep, "/") if inside != path else os.path.basename(path)


class _Names:
    """Which memory each name means. A name that several have means none of them."""

    def __init__(self, candidates: dict[str, dict[str, Any]]) -> None:
        self._by_path = candidates
        self._paths: dict[str, str] = {}
        shared = set()
        for candidate in candidates.values():
            for name in candidate.get("names", ()):
                if self._paths.setdefault(name, candidate["path"]) != candidate["path"]:
                    shared.add(name)
        for name in shared:
            del self._paths[name]
        self._retire_predecessors()
        self._link_successors()

    def resolved(self, candidate: dict[str, Any]) -> dict[str, object]:
        """The fields, with paths in the place of names; links that lead nowhere, or to itself, are left out."""
        fields = {name: value for name, value in candidate.items() if name not in ("names", "links", "superseded_by")}
        if successor := self._successor(candidate):
            fields["superseded_by"] = successor
            fields.pop("active", None)
        links = {}
        for link in candidate.get("links", ()):
            path = self._paths.get(link["to"])
            if path and path != candidate["path"]:
                links[path, link["relation"]] = {"to": path, "relation": link["relation"]}
        if links:
            fields["links"] = list(links.values())
        return fields

    def _successor(self, candidate: dict[str, Any]) -> str | None:
        path = self._paths.get(candidate.get("superseded_by", ""))
        return path if path != candidate["path"] else None

    def _retire_predecessors(self) -> None:
        """What another one supersedes is superseded by it, also where it does not say so itself."""
        for candidate in self._by_path.values():
            for link in candidate.get("links", ()):
                path = self._paths.get(link["to"])
                if link["relation"] == "supersedes" and path and path != candidate["path"]:
                    self._by_path[path].setdefault("superseded_by", candidate["names"][0])

    def _link_successors(self) -> None:
        """Each successor tells whom it took the place of; a circle of them, in which none is in force, is broken."""
        ends: set[str] = set()  # from which no way leads back
        for candidate in self._by_path.values():
            path, seen = self._successor(candidate), {candidate["path"]}
            while path and path not in seen and path not in ends:
                seen.add(path)
                path = self._successor(self._by_path[path])
            if path == candidate["path"]:
                del candidate["superseded_by"]
                candidate.pop("active", None)
                continue
            ends |= seen
            if direct := self._successor(candidate):
                other, (name, *_) = self._by_path[direct], candidate["names"]
                other["links"] = [*other.get("links", ()), {"to": name, "relation": "supersedes"}]
