"""Files: one candidate for each text file named, or found in a folder named."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from memcli.errors import NotFoundError
from memcli.ingest.ignore import Ignore
from memcli.ingest.labels import kind_of, memory_path, readable, tags_of
from memcli.ingest.noise import is_generated
from memcli.ingest.text import UnfitError, read_text
from memcli.ingest.tree import Tree
from memcli.model.names import show


class FileSource:
    """Files and folders, as a user or a watcher names them; `base` is the work tree that their paths are told from.

    A relative path counts from the current directory. One outside `base` is known by its name alone. With
    `may_be_gone` a path that no longer exists is counted instead of refused. `skipped` counts what gave no
    candidate, by reason: ignored, link, special, huge, binary, encoding, empty, vanished, unreadable, repository, and
    for what was found rather than named also lock, vendored, generated.
    """

    def __init__(self, paths: Sequence[str], base: str, *, may_be_gone: bool = False) -> None:
        self._bases = (os.path.realpath(base), os.path.abspath(base))
        self._paths = [os.path.abspath(path) for path in paths]
        # Who knows that a file may be gone has found it, not named it.
        self._are_named = not may_be_gone
        self._ignore: dict[str, Ignore] = {}
        self.skipped: Counter[str] = Counter()
        for given, path in zip(paths, self._paths, strict=True):
            if not may_be_gone and not os.path.lexists(path):
                raise NotFoundError(f"no such file: {show(given)}", "name a file or a folder that exists")

    def candidates(self) -> Iterator[Mapping[str, object]]:
        """One for each file, in the order named, within a folder sorted by name; a file named twice comes once."""
        seen = set()
        for root, file, is_named in self._files():
            if (root, file) in seen:
                continue
            seen.add((root, file))
            try:
                text = read_text(os.path.join(root, file))
                if not is_named and is_generated(text):
                    raise UnfitError("generated")
            except UnfitError as unfit:
                self.skipped[unfit.reason] += 1
            else:
                yield _candidate(file, text)

    def _files(self) -> Iterator[tuple[str, str, bool]]:
        """The root that each file is told from, the file, and whether it was named rather than found."""
        for path in self._paths:
            root, file = self._place(path)
            place = os.path.join(root, file) if file else root
            # A link below the root would lead out of it: a clone may have one from `docs` to anywhere.
            if os.path.realpath(place) != place:
                self.skipped["link"] += 1
            elif os.path.isdir(place):
                yield from self._folder(root, file)
            elif self._rules(root).covers(file):
                self.skipped["ignored"] += 1
            else:
                yield root, file, self._are_named

    def _folder(self, root: str, folder: str) -> Iterator[tuple[str, str, bool]]:
        rules = self._rules(root)
        if folder and rules.covers(folder, is_folder=True):
            self.skipped["ignored"] += 1
            return
        tree = Tree(root, rules, self.skipped)
        for file, _ in tree.files(folder):
            yield root, file, False

    def _place(self, path: str) -> tuple[str, str]:
        """The root that the path is told from and the rest. The way to the root itself may lead over links."""
        for base in self._bases:
            if path == base:
                return self._bases[0], ""
            inside = path.removeprefix(base.rstrip(os.sep) + os.sep)
            if inside != path:
                return self._bases[0], inside.replace(os.sep, "/")
        parent, name = os.path.split(path)
        return os.path.realpath(parent), name

    def _rules(self, root: str) -> Ignore:
        if root not in self._ignore:
            self._ignore[root] = Ignore(root)
        return self._ignore[root]


def _candidate(file: str, text: str) -> Mapping[str, object]:
    name = readable(file)
    fields: dict[str, object] = {
        "path": memory_path(file),
        "raw": text,
        "tags": tags_of(file),
        "metadata": {"source": name},
        "provenance": {"source": "observed", "files": [name]},
    }
    if kind := kind_of(file):
        fields["kind"] = kind
    return fields
