"""Files: candidates for each text file named, or found in a folder named: one for a short one, else one for each part."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property

from memcli.clock import normalize_time
from memcli.code.anchors import CodeLines, is_inside, make_each
from memcli.errors import NotFoundError, UsageError
from memcli.git.reading import UnfitError, read_bytes, read_text
from memcli.git.tree import Ignore, Tree, is_generated
from memcli.ingest.labels import file_places, kind_of, part_path, tags_of
from memcli.ingest.pieces import pieces
from memcli.model.failure import Failure, reason_of
from memcli.model.names import readable, show
from memcli.model.shapes import OBSERVED

_PER_QUESTION = 500


class FileSource:
    """Files and folders, as a user or a watcher names them; `base` is the work tree that their paths are told from.

    A relative path counts from the current directory. With `may_be_gone` a path that no longer exists is counted
    instead of refused. `skipped` counts what gave no candidate, by reason: ignored, link, special, huge, binary,
    encoding, empty, vanished, unreadable, repository, and for what was found rather than named also lock, vendored,
    generated. `failed` is what memcli itself could not cut. Raises NotFoundError, and UsageError for what lies outside of the work tree.
    """

    def __init__(self, paths: Sequence[str], base: str, *, may_be_gone: bool = False) -> None:
        self._root = os.path.realpath(base)
        self._given = os.path.abspath(base)
        # Who knows that a file may be gone has found it, not named it.
        self._are_named = not may_be_gone
        self.skipped: Counter[str] = Counter()
        self.failed: list[Failure] = []
        self._done = 0
        self._known_names: frozenset[str] = frozenset()
        for path in paths:
            if not may_be_gone and not os.path.lexists(path):
                raise NotFoundError(f"no such file: {show(path)}", "name a file or a folder that exists")
        self._places = [self._place(path) for path in paths]

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
        for file, is_named in self._found.items():
            self._done += 1
            try:
                text = read_text(os.path.join(self._root, file), self._root)
                if not is_named and is_generated(text):
                    raise UnfitError("generated")
            except UnfitError as unfit:
                self.skipped[unfit.reason] += 1
                if unfit.reason != "unreadable":
                    yield {"replaces": _places(file)}
                continue
            try:
                found = list(_candidates(file, text, self._dates.get(file)))
            except Exception as error:  # noqa: BLE001 - whatever is in one file, the others are worth having
                self.failed.append(Failure(reason_of(error), file=readable(file)))
            else:
                yield from found

    @property
    def may_miss_files(self) -> bool:
        """Whether a folder was named, or what is no file any more, so that files may be remembered that are gone."""
        return any(not os.path.isfile(place) or os.path.islink(place) for place in map(self._full, self._places))

    def misses(self, name: str, known: Callable[[str], str]) -> bool:
        """Whether a file, by the name that its memories have, belongs to what was named, and is there no more.

        `known` makes such a name of a file's own.
        """
        places = [known(place) for place in map(readable, self._places)]
        is_covered = any(place in ("", name) or name.startswith(f"{place}/") for place in places)
        if not is_covered or name in self._names:
            return False
        place = self._full(name)
        is_there = os.path.isfile(place) and not os.path.islink(place)
        if is_there:
            return False
        if not self._known_names:
            self._known_names = frozenset(map(known, self._names))
        return name not in self._known_names

    @cached_property
    def _dates(self) -> dict[str, str]:
        """When each file was last committed as it is: what is said in it is as old as that, and not as its ingestion."""
        from memcli.git.work_tree import dates_of

        files = list(self._found)
        found: dict[str, str] = {}
        for start in range(0, len(files), _PER_QUESTION):
            contents = {}
            for file in files[start : start + _PER_QUESTION]:
                with suppress(UnfitError):
                    contents[file] = read_bytes(os.path.join(self._root, file), self._root)
            for file, date in dates_of(self._root, contents).items():
                with suppress(UsageError):
                    found[file] = normalize_time(date)
        return found

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(map(readable, self._found))

    @cached_property
    def _found(self) -> dict[str, bool]:
        """The files, and whether each was named rather than found."""
        found: dict[str, bool] = {}
        for file, is_named in self._files():
            found.setdefault(file, is_named)
        return found

    def _files(self) -> Iterator[tuple[str, bool]]:
        for file in self._places:
            place = self._full(file)
            # A link below the root would lead out of it: a clone may have one from `docs` to anywhere.
            if os.path.realpath(place) != place:
                self.skipped["link"] += 1
            elif os.path.isdir(place):
                yield from ((found, False) for found in self._in_folder(file))
            elif self._rules.covers(file):
                self.skipped["ignored"] += 1
            else:
                yield file, self._are_named

    def _in_folder(self, folder: str) -> Iterator[str]:
        if folder and self._rules.covers(folder, is_folder=True):
            self.skipped["ignored"] += 1
            return
        tree = Tree(self._root, self._rules, self.skipped)
        yield from (file for file, _ in tree.files(folder))

    def _full(self, file: str) -> str:
        return os.path.join(self._root, file) if file else self._root

    def _place(self, given: str) -> str:
        """The path from the root. The way to the root itself may lead over links."""
        path = os.path.abspath(given)
        for base in (self._root, self._given):
            if path == base:
                return ""
            inside = path.removeprefix(base.rstrip(os.sep) + os.sep)
            if inside != path:
                return inside.replace(os.sep, "/")
        raise UsageError(
            f"{show(given)} is outside {show(self._given)}", "`memcli remember --file` stores the text of a file"
        )

    @cached_property
    def _rules(self) -> Ignore:
        return Ignore(self._root)


def _candidates(file: str, text: str, date: str | None) -> Iterator[Mapping[str, object]]:
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
    if date:
        fields["created_at"] = date
    code = CodeLines(text)
    for piece in pieces(name, kind, text):
        metadata: dict[str, object] = {"source": name}
        if piece.headings:
            metadata["headings"] = list(piece.headings)
        if piece.symbol:
            metadata["symbol"] = piece.symbol
        path = part_path(root, piece.leaf) if piece.leaf else whole
        candidate = {**fields, "path": path, "raw": piece.text, "metadata": metadata}
        # A file that an anchor could not name is no reason to leave it out.
        if is_inside(file):
            candidate["anchors"] = make_each(file, code, piece.spans)
        yield candidate


def _places(file: str) -> list[Mapping[str, object]]:
    name = readable(file)
    return [{"under": root, "source": name} for root in dict.fromkeys(file_places(file))]
