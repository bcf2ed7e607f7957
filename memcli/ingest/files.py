"""Files: candidates for each text file that is named, or found in a named folder: one for a short file, else one a part.

A file is cut where its author divided it: documents by heading, code by definition, prose by paragraph.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property

from memcli.clock import time_or_none
from memcli.code.anchors import CodeLines, is_inside, make_each
from memcli.code.symbols import cut
from memcli.errors import NotFoundError, UsageError
from memcli.git.repository import UnfitError, read_bytes, to_text
from memcli.git.revisions import release_times
from memcli.git.tree import Ignore, Tree, is_generated
from memcli.ingest import markdown
from memcli.ingest.labels import file_places, kind_of, part_path, tags_of
from memcli.ingest.markdown import Heading, OutlinePart, parts
from memcli.model.findings import Failure, reason_of
from memcli.model.names import readable, show, slug
from memcli.model.shapes import OBSERVED
from memcli.record import NamedTuple
from memcli.safety.secrets import mark_of
from memcli.text.words import dates

WHOLE = 1_200
"""The most characters of a text, or of a section with its subsections, that are one piece."""
_RECORD = 8_000
"""The most characters of a decision record that is not cut: its sections mean little without each other."""
_MAX_PIECES = 1_000
_MAX_LEAF = 48
_MAX_DEPTH = 3
_MARKDOWN = (".md", ".markdown", ".mdx")
HEADINGS: Mapping[str, Callable[[Sequence[str]], Iterator[Heading]]] = {
    **dict.fromkeys(_MARKDOWN, markdown.headings),
    **dict.fromkeys((".rst", ".rest", ".txt", ".text"), markdown.restructured_headings),
    **dict.fromkeys((".adoc", ".asciidoc"), markdown.asciidoc_headings),
}
"""The reader of headings, by the extension of a file. Plain text often has headings as in reStructuredText."""


class FilePiece(NamedTuple):
    """A part of a file. `leaf` is its path below that of the file, empty for text outside of all other parts.

    `spans` are the first and last lines of its places, counted from 1; none where it is collected from the whole file.
    """

    leaf: str
    text: str
    headings: Sequence[str] = ()
    symbol: str = ""
    spans: Sequence[tuple[int, int]] = ()


def pieces(name: str, kind: str | None, text: str) -> list[FilePiece]:
    """The pieces of the file `name` in order, each with a different leaf; one piece for a short text or one without parts."""
    found = [piece for piece in _cut(name.lower(), kind, text) if piece.text.strip()]
    if not 1 < len(found) <= _MAX_PIECES:
        return [FilePiece("", text, spans=[(1, text.count("\n") + 1)])]
    seen: set[str] = set()
    for n, piece in enumerate(found):
        leaf, number = piece.leaf, 2
        while leaf.casefold() in seen:
            leaf, number = f"{piece.leaf or 'text'}-{number}", number + 1
        seen.add(leaf.casefold())
        found[n] = piece._replace(leaf=leaf)
    return found


def _cut(name: str, kind: str | None, text: str) -> Iterable[FilePiece]:
    """The parts of a text; none for a text that is one piece."""
    if len(text) <= WHOLE or (kind == "decision" and len(text) <= _RECORD):
        return ()
    if kind == "code":
        return (
            FilePiece(slug(symbol) and symbol, part, symbol=symbol, spans=spans)
            for symbol, part, spans in cut(name, text)
        )
    suffix = os.path.splitext(name)[1]
    if suffix in HEADINGS or suffix == ".org" or (not suffix and kind in ("guide", "log")):
        outline = list(parts(text, HEADINGS.get(suffix, markdown.restructured_headings)))
        is_prose = len(outline) == 1 and suffix not in _MARKDOWN
        return _paragraphs(text) if is_prose else _sections(outline)
    return ()


def _sections(outline: Sequence[OutlinePart]) -> Iterator[FilePiece]:
    """The sections of an outline, each with its subsections if they are short together."""
    # The title of the document is left out of the paths of sections, so that a new title does not move them.
    title = 1 if len({part.headings[0] for part in outline if part.headings}) == 1 else 0
    at = 0
    while at < len(outline):
        headings = outline[at].headings
        end = at + 1
        while headings and end < len(outline) and len(outline[end].headings) > len(headings):
            end += 1
        whole = "\n".join(map(_written, outline[at:end])).strip("\n")
        if len(whole) > WHOLE:
            whole, end = _written(outline[at]).strip("\n"), at + 1
        if "".join(outline[at].lines).strip() or end > at + 1:
            leaf = "/".join(slug(name, _MAX_LEAF) or "section" for name in headings[title:][-_MAX_DEPTH:])
            yield FilePiece(leaf, whole, headings, spans=[(outline[at].start, outline[end - 1].end)])
        at = end


def _written(part: OutlinePart) -> str:
    head = [f"{'#' * len(part.headings)} {part.headings[-1]}"] if part.headings else []
    return "\n".join([*head, *part.lines])


def _paragraphs(text: str) -> Iterator[FilePiece]:
    """Groups of paragraphs, each named by its first words, so that text inserted above does not change the name."""
    groups: list[list[str]] = []
    for paragraph in text.split("\n\n"):
        if not groups or sum(map(len, groups[-1])) + len(paragraph) > WHOLE:
            groups.append([])
        groups[-1].append(paragraph)
    start = 1
    for group in groups:
        whole = "\n\n".join(group)
        inner, end = whole.strip("\n"), start + whole.count("\n")
        leaf = slug(" ".join(inner[:200].split()[:6]), _MAX_LEAF) or "text"
        yield FilePiece(leaf, inner, spans=[(start, end)])
        start = end + 2


Redact = Callable[[str], tuple[str, Mapping[str, int]]]
"""Returns a text without secrets, with the same number of lines, and how many it had of each kind."""
_BLANK_LINES = re.compile(r"\n{3,}")
_PER_QUESTION = 500
_VERSION = re.compile(
    r"(?<![\w.])v?\d+\.\d+(?:\.\d+)*(?:[-.]?(?:a|b|rc|alpha|beta|dev)[.-]?\d+)?(?![\w.])", re.IGNORECASE
)


class FileSource:
    """Files and folders given by a user or a watcher. `base` is the work tree to which the paths of memories are relative;
    `redact` is applied to the text of each file that is cut.

    A relative path starts at the current directory. With `may_be_gone` a path that no longer exists is counted instead of
    refused. `skipped` counts files without a candidate, by reason: ignored, link, special, huge, binary, encoding, empty,
    vanished, unreadable, repository; and for files found in a folder also lock, vendored, generated. `failed` are files
    for which memcli raised an error. Raises NotFoundError, and UsageError for a path outside of the work tree.
    """

    def __init__(self, paths: Sequence[str], base: str, redact: Redact, *, may_be_gone: bool = False) -> None:
        self._redact = redact
        self._root = os.path.realpath(base)
        self._given = os.path.abspath(base)
        # A caller with `may_be_gone` is a watcher, which found the files; nobody named them.
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
        """The number of files to read."""
        return len(self._found)

    def done(self) -> int:
        """The number of files read so far."""
        return self._done

    def candidates(self) -> Iterator[Mapping[str, object]]:
        """Yields the candidates of each file once, in the order given, within a folder by name.

        They replace all other memories of the file. For a file that cannot be read any more, an entry without a candidate
        replaces all of its memories.
        """
        for file, is_named in self._found.items():
            self._done += 1
            try:
                text = to_text(read_bytes(os.path.join(self._root, file), self._root))
                # What a user names is read, whatever it looks like; the marks are for what is found in folders.
                if not is_named and is_generated(text):
                    raise UnfitError("generated")
            except UnfitError as unfit:
                self.skipped[unfit.reason] += 1
                if unfit.reason != "unreadable":
                    yield {"replaces": _places(file)}
                continue
            try:
                found = list(_candidates(file, text, self._redact, self._dates.get(file), self._root))
            except Exception as error:  # noqa: BLE001 - one odd file must not stop the ingestion of others
                self.failed.append(Failure(reason_of(error), file=readable(file)))
            else:
                yield from found

    @property
    def may_miss_files(self) -> bool:
        """Whether a given path is a folder or no longer a file, so that memories of deleted files may be left."""
        return any(not os.path.isfile(place) or os.path.islink(place) for place in map(self._full, self._places))

    def misses(self, name: str, known: Callable[[str], str]) -> bool:
        """Whether the file of a memory, by the name in its metadata, is at or below a given path and no longer exists.

        `known` turns the name of a file into the one in the metadata.
        """
        # Names in memories are redacted, so that they are equal to what memcli would name the files, and not to the
        # files.
        places = [known(place) for place in map(readable, self._places)]
        is_covered = any(place in ("", name) or name.startswith(f"{place}/") for place in places)
        if not is_covered or name in self._names:
            return False
        place = self._full(name)
        if os.path.isfile(place) and not os.path.islink(place):
            return False
        if not self._known_names:
            self._known_names = frozenset(map(known, self._names))
        return name not in self._known_names

    @cached_property
    def _dates(self) -> dict[str, str]:
        """The normalized time of the last commit that changed each file, for files equal to the current commit."""
        # Without these a file would be as new as its ingestion, and rank above the commits, which have their dates.
        from memcli.git.work_tree import dates_of

        files = list(self._found)
        found: dict[str, str] = {}
        for start in range(0, len(files), _PER_QUESTION):
            contents = {}
            for file in files[start : start + _PER_QUESTION]:
                with suppress(UnfitError):
                    contents[file] = read_bytes(os.path.join(self._root, file), self._root)
            dates = {file: time_or_none(date) for file, date in dates_of(self._root, contents).items()}
            found.update({file: date for file, date in dates.items() if date})
        return found

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(map(readable, self._found))

    @cached_property
    def _found(self) -> dict[str, bool]:
        """The files to read, and whether each was named and not found in a folder."""
        found: dict[str, bool] = {}
        rules = Ignore(self._root)
        for path in self._places:
            place = self._full(path)
            is_folder = os.path.isdir(place)
            # A link below the root may lead out of it: a clone may have one from `docs` to anywhere.
            if os.path.realpath(place) != place:
                self.skipped["link"] += 1
            elif path and rules.covers(path, is_folder=is_folder):
                self.skipped["ignored"] += 1
            elif is_folder:
                for file, _ in Tree(self._root, rules, self.skipped).files(path):
                    found.setdefault(file, False)
            else:
                found.setdefault(path, self._are_named)
        return found

    def _full(self, file: str) -> str:
        return os.path.join(self._root, file) if file else self._root

    def _place(self, given: str) -> str:
        """The path `given` from the root, to which itself links may lead. Raises UsageError for one outside."""
        path = os.path.abspath(given)
        for base in (self._root, self._given):
            if path == base:
                return ""
            inside = path.removeprefix(base.rstrip(os.sep) + os.sep)
            if inside != path:
                return inside.replace(os.sep, "/")
        # Without its folders, a file outside would have the name of one inside, and replace the memories of that.
        raise UsageError(
            f"{show(given)} is outside {show(self._given)}", "`memcli remember --file` stores the text of a file"
        )


def _candidates(
    file: str, text: str, redact: Redact, date: str | None, root_folder: str
) -> Iterator[Mapping[str, object]]:
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
    found = pieces(name, kind, text)
    # A file is redacted before it is cut, as a part of a key is not known as one; if it is not cut, as any memory.
    clean, kinds = redact(text) if len(found) > 1 else (text, {})
    if kinds:
        found = pieces(name, kind, clean)
    # Else all sections, also those of old releases, would have the date of the last change of the changelog.
    released = _release_dates(found, root_folder) if kind == "log" else {}
    for n, piece in enumerate(found):
        metadata: dict[str, object] = {"source": name}
        if piece.headings:
            metadata["headings"] = list(piece.headings)
        if piece.symbol:
            metadata["symbol"] = piece.symbol
        path = part_path(root, piece.leaf) if piece.leaf else whole
        candidate = {**fields, "path": path, "raw": piece.text, "metadata": metadata}
        if removed := {one: count for one in kinds if (count := piece.text.count(mark_of(one)))}:
            candidate |= {"raw": _BLANK_LINES.sub("\n\n", piece.text), "redacted": removed}
        if n in released:
            candidate["created_at"] = released[n]
        # A file with a path that an anchor cannot have is ingested without anchors.
        if is_inside(file):
            candidate["anchors"] = make_each(file, code, piece.spans)
        yield candidate


def _release_dates(sections: Sequence[FilePiece], root: str) -> dict[int, str]:
    """The release time of each section of a changelog, by its index: the date in its heading, else the time of the tag of the
    version there. Sections with neither are left out."""
    found: dict[int, str] = {}
    versions: dict[int, str] = {}
    for n, section in enumerate(sections):
        for title in reversed(section.headings):
            if moment := next(filter(None, (date.moment for date in dates(title))), None):
                found[n] = moment
                break
            if version := _VERSION.search(title):
                versions[n] = version[0]
                break
    times = release_times(root, versions.values()) if versions else {}
    return found | {n: times[version] for n, version in versions.items() if version in times}


def _places(file: str) -> list[Mapping[str, object]]:
    name = readable(file)
    # Only memories of this file: a hand may have moved one of another file here, and that file may be gone.
    return [{"under": root, "source": name} for root in dict.fromkeys(file_places(file))]
