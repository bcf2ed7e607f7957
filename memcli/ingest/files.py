"""Files: candidates for each text file named, or found in a folder named: one for a short one, else one for each part."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from memcli.errors import NotFoundError
from memcli.ingest.ignore import Ignore
from memcli.ingest.labels import file_places, kind_of, part_path, readable, tags_of
from memcli.ingest.noise import is_generated
from memcli.ingest.pieces import pieces
from memcli.ingest.text import UnfitError, read_text
from memcli.ingest.tree import Tree
from memcli.model.names import show
from memcli.model.shapes import OBSERVED
from memcli.policy.anchoring import Code, is_inside, make_each


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
        self._done = 0
        for given, path in zip(paths, self._paths, strict=True):
            if not may_be_gone and not os.path.lexists(path):
                raise NotFoundError(f"no such file: {show(given)}", "name a file or a folder that exists")

    def total(self) -> int:
        """How many files there are to read."""
        return len(self._found)

    def done(self) -> int:
        """How many of them have been read."""
        return self._done

    def candidates(self) -> Iterator[Mapping[str, object]]:
        """Those of each file, in the order named, within a folder sorted by name; a file named twice comes once.

        They replace what else is remembered of the file; where nothing can be read of it any more, all of it.
        """
        for root, file, is_named in self._found:
            self._done += 1
            try:
                text = read_text(os.path.join(root, file))
                if not is_named and is_generated(text):
                    raise UnfitError("generated")
            except UnfitError as unfit:
                self.skipped[unfit.reason] += 1
                if unfit.reason != "unreadable":
                    yield {"replaces": _places(file)}
            else:
                yield from _candidates(file, text, is_anchored=root == self._bases[0])

    @cached_property
    def _found(self) -> list[tuple[str, str, bool]]:
        found: dict[tuple[str, str], bool] = {}
        for root, file, is_named in self._files():
            found.setdefault((root, file), is_named)
        return [(root, file, is_named) for (root, file), is_named in found.items()]

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


def _candidates(file: str, text: str, *, is_anchored: bool) -> Iterator[Mapping[str, object]]:
    name = readable(file)
    kind = kind_of(file)
    whole, root = file_places(file)
    fields: dict[str, object] = {
        "tags": tags_of(file),
        "provenance": {"source": OBSERVED, "files": [name]},
        "replaces": _places(file),
    }
    if kind:
        fields["kind"] = kind
    code = Code(text)
    for piece in pieces(name, kind, text):
        metadata: dict[str, object] = {"source": name}
        if piece.headings:
            metadata["headings"] = list(piece.headings)
        if piece.symbol:
            metadata["symbol"] = piece.symbol
        path = part_path(root, piece.leaf) if piece.leaf else whole
        candidate = {**fields, "path": path, "raw": piece.text, "metadata": metadata}
        # A file that an anchor could not name is no reason to leave it out.
        if is_anchored and is_inside(file):
            candidate["anchors"] = make_each(file, code, piece.spans)
        yield candidate


def _places(file: str) -> list[Mapping[str, object]]:
    name = readable(file)
    return [{"under": root, "source": name} for root in dict.fromkeys(file_places(file))]
