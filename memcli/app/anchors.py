"""Anchors: makes them of the places that a user names, checks them against the code as it is now, and finds moved code again.
Recall prints their states, and moves memories down whose code has changed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

from memcli.app.workspace import Workspace
from memcli.code.anchors import (
    Anchor,
    CodeLines,
    block_of,
    is_inside,
    make,
    parse,
    read,
    state,
    state_elsewhere,
    symbol_elsewhere,
)
from memcli.errors import MemcliError, UsageError
from memcli.model.anchors import GONE, MOVED, Checked
from memcli.model.memory import Json, Memory
from memcli.model.names import show
from memcli.model.recall import ANCHOR, Query, RowSet, Section
from memcli.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.index.view import IndexedSpace
    from memcli.ingest.code import WorkTree


MAX_FILES = 100
"""At most so many other files are searched for the code of one anchor."""

LoadFile = Callable[[str], CodeLines | None]


def follow(anchor: Anchor, commit: str, now: Checked, reader: WorkTree, load: LoadFile) -> Checked:
    """The state of an anchor whose code may be in another file, after a search for it there; `now` where it is not found.
    `commit` is the one at which the anchor was made, empty if that is unknown."""
    if load(anchor.file) is None and (name := reader.renamed(anchor.file, commit)):
        there = state(anchor._replace(file=name), load(name))
        if there.state != GONE:
            return Checked(there.file, there.lines, there.symbol, MOVED) if there.is_fresh else there
    if not anchor.hash:
        return now
    block = block_of(anchor, reader.texts_at([(commit, anchor.file)])[0])
    others = [(file, code) for file in reader.others(anchor.file, commit, MAX_FILES) if (code := load(file))]
    exact = (found for file, code in others if (found := state_elsewhere(anchor, file, code, block)))
    if (first := next(_new(anchor, commit, exact, reader), None)) is not None:
        return first
    if now.state != GONE:
        return now
    named = (found for file, code in others if (found := symbol_elsewhere(anchor, file, code)))
    places = list(_new(anchor, commit, named, reader))
    # A name that several files define does not show where this definition went.
    return places[0] if len(places) == 1 else now


def _new(anchor: Anchor, commit: str, found: Iterator[Checked], reader: WorkTree) -> Iterator[Checked]:
    """The places in `found`, without those of copies that existed when the anchor was made."""
    for place in found:
        (before,) = reader.texts_at([(commit, place.file)])
        look = state_elsewhere if place.state == MOVED else symbol_elsewhere
        if before is None or look(anchor, place.file, CodeLines(before)) is None:
            yield place


MAX_LOOKED_AT = 8 << 20
"""The limit, in characters of code, of what one recall reads; anchors beyond it have no state in the bundle."""
MAX_SEARCHED = 1 << 20
"""The limit, in characters of code, of what one recall searches for moved code."""
_LOOK = 1_000
"""The cost of opening a file, in characters."""
_QUESTION = 10_000
"""The cost of running git for a commit, in characters."""
# Searching a file for a block costs less than reading it, and much less if it was read before.
_SHARE, _AGAIN = 4, 64

LoadCode = Callable[[], "WorkTree | None"]


def anchored(workspace: Workspace, fields: Mapping[str, Json]) -> Mapping[str, Json]:
    """The fields of a memory with `anchors` in their stored form: with a hash of the code, and the commit.

    They are given as texts such as `src/auth.py:10-42`, relative to the working directory, and as objects, relative to the
    work tree. Anchors with a hash are taken unchanged, and so are invalid values, which the check of fields reports.
    Raises UsageError and NotFoundError for a place that does not exist, or that cannot be anchored to.
    """
    given = fields["anchors"]
    if not isinstance(given, list | tuple):
        return fields
    code = workspace.load_code() if any(_is_open(item) for item in given) else None
    made = [_made(item, code) if _is_open(item) else item for item in given]
    for item in made:
        if isinstance(item, Mapping) and isinstance(item.get("file"), str) and not is_inside(item["file"]):
            raise UsageError(f"cannot anchor to {show(item['file'])}", "give the path of a file in the work tree")
    # The commits of all files by one call of git.
    opened = [item["file"] for item, before in zip(made, given, strict=True) if item is not before]
    commits = code.commits(sorted({*opened})) if code and opened else {}
    resolved = [
        {**item, "commit": commits[item["file"]]} if item is not before and item["file"] in commits else item
        for item, before in zip(made, given, strict=True)
    ]
    return {**fields, "anchors": resolved}


class Checker:
    """Checks anchors against the code as it is now, also in other files; each file is read once.

    `is_bounded`: reads at most MAX_LOOKED_AT characters, and searches at most MAX_SEARCHED.
    """

    def __init__(self, reader: WorkTree, *, is_bounded: bool = False) -> None:
        self._reader = reader
        self._room = MAX_LOOKED_AT if is_bounded else sys.maxsize
        self._search = MAX_SEARCHED if is_bounded else sys.maxsize
        self._files: dict[str, CodeLines | None] = {}
        self._charged: set[str] = set()

    def check(self, anchors: Sequence[tuple[Anchor, str]]) -> list[Checked | None]:
        """The states of anchors, each given with the commit at which it was made. Where a limit is reached, the result is
        shorter, or has None for an anchor whose code was not found before the limit of the search."""
        states: list[Checked] = []
        for anchor, _ in anchors:
            if self._room < 0:
                break
            code = self._code(anchor.file)
            states.append(state(anchor, code))
            self._room -= _LOOK + (len(code.text) if code else 0)
        lost = []
        for n, now in enumerate(states):
            anchor, _ = anchors[n]
            has_gone = self._files[anchor.file] is None
            # A symbol that its file still defines has changed there, and did not move.
            may_be_elsewhere = has_gone or now.state == GONE or (anchor.lines is not None and not anchor.symbol)
            if now.is_doubtful and may_be_elsewhere and (has_gone or anchor.hash):
                lost.append((n, now))
        # Git is run once for all commits: with a process for each, a few dozen stale anchors delay every recall.
        self._reader.look_back([anchors[n][1] for n, _ in lost])
        self._reader.texts_at([(commit, anchors[n][0].file) for n, _ in lost if (commit := anchors[n][1])])
        found: list[Checked | None] = [*states]
        for n, now in lost:
            found[n] = None
            if self._search >= 0:
                anchor, commit = anchors[n]
                if commit not in self._charged:
                    self._charged.add(commit)
                    self._search -= _QUESTION
                there = follow(anchor, commit, now, self._reader, self._other)
                # After a search that the limit ended, code that was not found may still exist.
                found[n] = None if self._search < 0 and there == now else there
        return found

    def _code(self, file: str) -> CodeLines | None:
        if file not in self._files:
            try:
                self._files[file] = CodeLines(self._reader.text(file))
            except MemcliError:
                self._files[file] = None
        return self._files[file]

    def _other(self, file: str) -> CodeLines | None:
        """The lines of another file; None once the limit of the search is reached."""
        if file not in self._files and self._search < 0:
            return None
        is_read = file in self._files
        code = self._code(file)
        length = len(code.text) if code else 0
        self._search -= length // _AGAIN if is_read else _LOOK + length // _SHARE
        return code


def anchors_of(memory: Memory) -> Iterator[tuple[int, Anchor, str]]:
    """The valid anchors of a memory: index, anchor, and the commit at which it was made, empty if that is unknown."""
    for number, stored in enumerate(memory.anchors):
        if (anchor := read(stored)) is not None:
            commit = stored.get("commit")
            yield number, anchor, commit if isinstance(commit, str) else ""


def _is_open(item: Json) -> bool:
    """Whether an item of `anchors` is a place that is not hashed yet."""
    if isinstance(item, Mapping):
        is_readable = isinstance(item.get("file"), str) and isinstance(item.get("symbol", ""), str)
        return is_readable and not item.get("hash")
    return isinstance(item, str)


def _made(item: str | Mapping[str, Json], code: WorkTree | None) -> Mapping[str, Json]:
    if code is None:
        raise UsageError("cannot anchor: this store is not in a work tree", "omit --anchor")
    if not isinstance(item, str):
        return {**item, **make(item, code.text(item["file"]))}
    fields = parse(item)
    fields["file"] = code.name(fields["file"])
    return make(fields, code.text(fields["file"]))


def tracked_spaces(workspace: Workspace) -> list[str]:
    """The spaces that are neither private nor derived. Raises CorruptError, StoreError."""
    return [name for name in workspace.store.spaces() if workspace.store.policy(name).is_tracked]


_MAX_FOLLOWED = 200
"""Moved code is searched for at most so many anchored memories: those that were stored last."""
DOUBTFUL_SHARE = 0.5
"""The factor for the score of a memory with an anchor that is stale or gone."""


def with_anchors(sections: Sequence[Section], code: Mapping[str, LoadCode]) -> tuple[Section, ...]:
    """The sections with the states of their anchors; `code` loads the work tree of each space.

    Doubtful ones score less, and move behind all that now score more unless they are pinned.
    """
    checked = list(sections)
    for load in dict.fromkeys(code[section.space] for section in sections if section.memory.anchors):
        made = [
            (n, anchor, commit)
            for n, section in enumerate(sections)
            if code[section.space] is load
            for _, anchor, commit in anchors_of(section.memory)
        ]
        if (reader := load()) is None:
            continue
        # Bounded, since a recall must not take longer the more code its memories are anchored to.
        states = Checker(reader, is_bounded=True).check([(anchor, commit) for _, anchor, commit in made])
        found: dict[int, list[Checked]] = {}
        for (n, _, _), now in zip(made, states, strict=False):
            if now is not None:
                found.setdefault(n, []).append(now)
        for n, anchors in found.items():
            section = replace(sections[n], anchors=tuple(anchors))
            if section.is_doubtful and section.score:
                score = round(section.score * DOUBTFUL_SHARE, 4)
                section = replace(section, score=score, why={**section.why, "anchors": round(score - section.score, 4)})
            checked[n] = section
    # From the end: to move a section back changes no index that is still to be visited.
    for n in range(len(checked) - 1, -1, -1):
        if checked[n].is_doubtful and not checked[n].memory.pinned:
            after = [m for m in range(n + 1, len(checked)) if checked[m].score > checked[n].score]
            checked.insert(max(after, default=n), checked.pop(n))
    return tuple(checked)


def find_moved_leads(query: Query, view: IndexedSpace, visible: RowSet, load_code: LoadCode) -> dict[int, str]:
    """The rows of memories anchored to other files, whose code has moved to lines that the change of the query touches."""
    edits = query.edits or ()
    changed = {name for edit in edits for name in (edit.file, edit.was)}
    endings = {name.rpartition(".")[2] for name in changed}
    files = [name for name in view.anchored_files() if name not in changed and name.rpartition(".")[2] in endings]
    rows = sorted(row for row in view.anchors(files) if row in visible)[-_MAX_FOLLOWED:] if files else []
    reader = load_code() if rows else None
    if reader is None:
        return {}
    elsewhere = frozenset(files)
    made = [
        (row, anchor, commit)
        for row, memory in zip(rows, view.fetch(rows), strict=True)
        for _, anchor, commit in anchors_of(memory)
        if anchor.file in elsewhere
    ]
    checked = Checker(reader, is_bounded=True).check([(anchor, commit) for _, anchor, commit in made])
    return {
        row: ANCHOR
        for (row, _, _), now in zip(made, checked, strict=False)
        if now and now.file in changed and any(edit.touches(now.file, *(now.lines or ())) for edit in edits)
    }
