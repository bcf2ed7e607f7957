"""Anchors: created from what a user names, checked against the code as it is now, and found again where it moved.

Verify: whether the code that memories are anchored to is still what it was, and to accept what it is now.

Staleness: what recall says of memories whose code is no longer what it was, and how far they fall.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from memcli.app.workspace import Workspace, warn_of_missing
from memcli.code.anchors import (
    Anchor,
    CodeLines,
    block_of,
    is_inside,
    make,
    parse,
    read,
    renewed,
    state,
    state_elsewhere,
    symbol_elsewhere,
)
from memcli.errors import MemcliError, UsageError
from memcli.model.anchors import GONE, MOVED, Checked
from memcli.model.memory import TRIGGERED_KINDS, Json, Memory, increased
from memcli.model.names import show
from memcli.model.recall import ANCHOR, Query, RowSet, Section
from memcli.model.space import Change
from memcli.policy.triggers import lost_globs, path_triggers
from memcli.ports import Shelf
from memcli.record import Record, replace

if TYPE_CHECKING:
    from memcli.ingest.code import WorkTree
    from memcli.ports.views import SpaceView


MAX_FILES = 100
"""How many other files are searched at most for the code of one anchor."""

LoadFile = Callable[[str], CodeLines | None]


def may_follow(anchor: Anchor, now: Checked, *, is_there: bool) -> bool:
    """Whether the code of an anchor may be in another file: what is still defined in its own has only changed there."""
    if not now.is_doubtful or (is_there and not anchor.hash):
        return False
    return not is_there or now.state == GONE or (anchor.lines is not None and not anchor.symbol)


def follow(anchor: Anchor, commit: str, now: Checked, reader: WorkTree, load: LoadFile) -> Checked:
    """What has become of an anchor, made at a commit (empty: unknown), that `may_follow`; `now` when its code is nowhere
    else."""
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
    # A name that several files define says nothing of where this one went.
    return places[0] if len(places) == 1 else now


def _new(anchor: Anchor, commit: str, found: Iterator[Checked], reader: WorkTree) -> Iterator[Checked]:
    """What was found, but for copies that stood there already when the anchor was made."""
    for place in found:
        (before,) = reader.texts_at([(commit, place.file)])
        look = state_elsewhere if place.state == MOVED else symbol_elsewhere
        if before is None or look(anchor, place.file, CodeLines(before)) is None:
            yield place


MAX_LOOKED_AT = 8 << 20
"""How many characters of code one recall looks at; what is anchored beyond them is not spoken of."""
MAX_SEARCHED = 1 << 20
"""How many it searches for code that is no longer where it was; what may be beyond them is not spoken of."""
_LOOK = 1_000
"""What the look for a file costs, in characters, and a question to git; questions that are asked at once."""
_QUESTION = 10_000
_SHARE, _AGAIN = 4, 64  # to search a file for a block costs less than to read it, and much less when it was read before

LoadCode = Callable[[], "WorkTree | None"]


def anchored(workspace: Workspace, fields: Mapping[str, Json]) -> Mapping[str, Json]:
    """The fields of a memory with `anchors` as they are stored.

    They are given as texts such as `src/auth.py:10-42`, told from the working directory, and as objects, told from the
    work tree. One that has a hash is taken as it is; what is no anchor too, for the check of fields.
    Raises UsageError and NotFoundError for a place that is not there, or where nothing may be anchored.
    """
    return {**fields, "anchors": _resolved(workspace, fields["anchors"])}


class Checker:
    """Holds anchors against the code as it is now, wherever it has gone; each file is read and cut into lines once.

    `is_bounded`: only so much of the code is looked at.
    """

    def __init__(self, reader: WorkTree, *, is_bounded: bool = False) -> None:
        self._reader = reader
        self._room = MAX_LOOKED_AT if is_bounded else sys.maxsize
        self._search = MAX_SEARCHED if is_bounded else sys.maxsize
        self._files: dict[str, CodeLines | None] = {}
        self._asked: set[str] = set()

    def check(self, anchors: Sequence[tuple[Anchor, str]]) -> list[Checked | None]:
        """What has become of anchors, each with the commit that it was made at; None where there was no more room to tell,
        and fewer when there was none to look at them."""
        found: list[Checked | None] = []
        for anchor, _ in anchors:
            if self._room < 0:
                break
            code = self._code(anchor.file)
            found.append(state(anchor, code))
            self._room -= _LOOK + (len(code.text) if code else 0)
        lost = [(n, now) for n, now in enumerate(found) if now and self._is_lost(anchors[n][0], now)]
        self._reader.look_back([anchors[n][1] for n, _ in lost])
        self._reader.texts_at([(commit, anchors[n][0].file) for n, _ in lost if (commit := anchors[n][1])])
        for n, now in lost:
            found[n] = self._followed(*anchors[n], now)
        return found

    def _is_lost(self, anchor: Anchor, now: Checked) -> bool:
        return may_follow(anchor, now, is_there=self._files[anchor.file] is not None)

    def _followed(self, anchor: Anchor, commit: str, now: Checked) -> Checked | None:
        if self._search < 0:
            return None
        if commit not in self._asked:
            self._asked.add(commit)
            self._search -= _QUESTION
        there = follow(anchor, commit, now, self._reader, self._other)
        return None if self._search < 0 and there == now else there

    def _code(self, file: str) -> CodeLines | None:
        if file not in self._files:
            try:
                self._files[file] = CodeLines(self._reader.text(file))
            except MemcliError:
                self._files[file] = None
        return self._files[file]

    def _other(self, file: str) -> CodeLines | None:
        """Another file, while there is room to search it."""
        if file not in self._files and self._search < 0:
            return None
        is_read = file in self._files
        code = self._code(file)
        length = len(code.text) if code else 0
        self._search -= length // _AGAIN if is_read else _LOOK + length // _SHARE
        return code


def anchors_of(memory: Memory) -> Iterator[tuple[int, Anchor, str]]:
    """The anchors of a memory that can be read: the number, the anchor, the commit that it was made at or nothing."""
    for number, stored in enumerate(memory.anchors):
        if (anchor := read(stored)) is not None:
            commit = stored.get("commit")
            yield number, anchor, commit if isinstance(commit, str) else ""


def _is_open(item: Json) -> bool:
    """Whether an anchor is still to be made of it."""
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


def _resolved(workspace: Workspace, given: Json) -> Json:
    if not isinstance(given, list | tuple):
        return given
    code = workspace.load_code() if any(_is_open(item) for item in given) else None
    made = [_made(item, code) if _is_open(item) else item for item in given]
    for item in made:
        if isinstance(item, Mapping) and isinstance(item.get("file"), str) and not is_inside(item["file"]):
            raise UsageError(f"cannot anchor to {show(item['file'])}", "give the path of a file in the work tree")
    opened = [item["file"] for item, before in zip(made, given, strict=True) if item is not before]
    commits = code.commits(sorted({*opened})) if code and opened else {}
    return [
        {**item, "commit": commits[item["file"]]} if item is not before and item["file"] in commits else item
        for item, before in zip(made, given, strict=True)
    ]


BINDING_KINDS = ("decision", "constraint", "negative", "procedure")
"""The kinds that people act on: one of these must not speak of code that is no longer there."""


class AnchorFinding(Record):
    """An anchor of a memory, checked. `number` is its place among the anchors of the memory."""

    space: str
    memory: Memory
    number: int
    checked: Checked

    @property
    def file(self) -> str:
        """The file that the anchor names; `checked` may have found it under another name."""
        anchor = read(self.memory.anchors[self.number])
        return anchor.file if anchor else ""

    @property
    def is_failure(self) -> bool:
        """Whether somebody has to look at it."""
        return self.checked.is_doubtful and self.memory.kind in BINDING_KINDS

    def to_json(self) -> dict[str, Json]:
        memory = self.memory
        return {
            "space": self.space,
            "id": memory.id,
            "path": memory.path,
            "kind": memory.kind,
            **self.checked.to_json(),
        }


class Unmatched(Record):
    """A path trigger that matched files when its memory was last reviewed, and matches none now: its memory cannot come up.

    `file` is one that it matched, `now` the name that it has now, if git can tell.
    """

    space: str
    memory: Memory
    trigger: str
    file: str
    now: str = ""

    @property
    def is_failure(self) -> bool:
        """Whether somebody has to look at it."""
        return self.memory.kind in BINDING_KINDS or self.memory.enforce

    def to_json(self) -> dict[str, Json]:
        memory = self.memory
        found: dict[str, Json] = {
            "space": self.space,
            "id": memory.id,
            "path": memory.path,
            "kind": memory.kind,
            "state": GONE,
            "trigger": self.trigger,
            "file": self.file,
        }
        return {**found, "now": self.now} if self.now else found


def unmatched_triggers(
    workspace: Workspace,
    code: WorkTree,
    spaces: Sequence[str],
    is_named: Callable[[str], bool] = lambda _: True,
    since: str | None = None,
) -> list[Unmatched]:
    """The path triggers of active memories that match no file any more, though nobody has edited the memory since.

    One that never matched a file is meant for what is to come. Options and errors as for `verify`.
    """
    asked = [(space, m) for space in spaces for m in _triggered(workspace, space)]
    lost = lost_globs([m.triggers for _, m in asked], code.files()) if asked else []
    if not lost:
        return []
    deleted = code.deleted(min(asked[n][1].updated_at for n, _ in lost))
    changed = code.changed(since, sorted({file for file, _, _ in deleted})) if since is not None else None
    found = []
    for n, trigger in lost:
        space, memory = asked[n]
        matched = [d for d in deleted if not d[2] or d[2] > memory.updated_at]
        one = next((matched[k] for k in range(len(matched)) if not lost_globs([[trigger]], [matched[k][0]])), None)
        if one and is_named(one[0]) and (changed is None or one[0] in changed):
            found.append(Unmatched(space, memory, trigger, one[0], code.renamed(one[0], one[1]) or ""))
    return found


def _triggered(workspace: Workspace, space: str) -> list[Memory]:
    shown = _current(workspace, space, "triggers", lambda memory: bool(path_triggers(memory.triggers)))
    return sorted((m for m in shown if m.kind in TRIGGERED_KINDS or m.enforce), key=lambda m: (m.path, m.id))


def enforced(workspace: Workspace, space: str) -> Sequence[Memory]:
    """The current memories of a space that make `guard` fail."""
    return _current(workspace, space, "enforce", lambda memory: memory.enforce)


def _current(workspace: Workspace, space: str, name: str, has: Callable[[Memory], bool]) -> Sequence[Memory]:
    """The current memories that have what is in the field `name`, as it may be shown."""
    with closing(workspace.store.open(space)) as snapshot:
        warn_of_missing(workspace, snapshot)
        found = [m for m in snapshot.memories(name) if m.active and m.superseded_by is None and has(m)]
        return workspace.redactor.show(found, snapshot.header().policy, ("id", "path", "kind", name))


def open_code(workspace: Workspace) -> WorkTree:
    """The code that the memories of the store are anchored to. Raises UsageError when there is none."""
    code = workspace.load_code()
    if code is None:
        raise UsageError(
            "this store is not in a work tree: its memories have no anchors", "run the command in a repository"
        )
    return code


def tracked_spaces(workspace: Workspace) -> list[str]:
    """The spaces that are neither private nor derived. Raises CorruptError, StoreError."""
    return [name for name in workspace.store.spaces() if workspace.store.policy(name).is_tracked]


def verify(
    workspace: Workspace,
    code: WorkTree,
    spaces: Sequence[str],
    is_named: Callable[[str], bool] = lambda _: True,
    since: str | None = None,
) -> list[AnchorFinding]:
    """Checks the anchors of all memories that are active, in files that are named, and that changed `since` a commit.

    In order of space and path. Raises CorruptError, StoreError, and where `since` names no commit as git does.
    """
    anchored = [one for space in spaces for one in _in_space(workspace, space) if is_named(one[3].file)]
    if since is not None:
        changed = code.changed(since, sorted({one[3].file for one in anchored if is_inside(one[3].file)}))
        anchored = [one for one in anchored if one[3].file in changed]
    checked = Checker(code).check([(anchor, commit) for *_, anchor, commit in anchored])
    return [
        AnchorFinding(space, memory, number, now)
        for (space, memory, number, _, _), now in zip(anchored, checked, strict=True)
        if now is not None
    ]


def reanchor(workspace: Workspace, code: WorkTree, findings: Sequence[AnchorFinding]) -> list[AnchorFinding]:
    """Stores the code of now for what moved or is stale, in one write for each space; returns what was accepted.

    A memory whose anchors were changed meanwhile stays as it is. Raises LockedError, CorruptError, StoreError.
    """
    wanted = [f for f in findings if not f.checked.is_fresh and _renewed(code, f) is not None]
    commits = code.commits(sorted({finding.checked.file for finding in wanted}))
    accepted = []
    for space in dict.fromkeys(finding.space for finding in wanted):
        here = [finding for finding in wanted if finding.space == space]
        fresh: dict[str, Memory] = {}
        for finding in here:
            made = {**(_renewed(code, finding) or {}), **_commit(commits.get(finding.checked.file))}
            before = fresh.get(finding.memory.id, finding.memory)
            anchors = (*before.anchors[: finding.number], made, *before.anchors[finding.number + 1 :])
            fresh[before.id] = replace(before, anchors=anchors)
        done = _write(workspace, space, {f.memory.id: f.memory for f in here}, fresh)
        accepted += [finding for finding in here if finding.memory.id in done]
    return accepted


def _in_space(workspace: Workspace, space: str) -> Iterator[tuple[str, Memory, int, Anchor, str]]:
    shown = _current(workspace, space, "anchors", lambda memory: bool(memory.anchors))
    for memory in sorted(shown, key=lambda m: (m.path, m.id)):
        for number, anchor, commit in anchors_of(memory):
            yield space, memory, number, anchor, commit


def _renewed(code: WorkTree, finding: AnchorFinding) -> dict[str, Json] | None:
    if finding.checked.state == GONE:
        return None
    return renewed(finding.memory.anchors[finding.number], finding.checked, code.text(finding.checked.file))


def _commit(commit: str | None) -> dict[str, Json]:
    return {"commit": commit} if commit else {}


def _write(workspace: Workspace, space: str, before: dict[str, Memory], after: dict[str, Memory]) -> frozenset[str]:
    """Gives the memories their new anchors where they still have the old ones; returns the ids of those."""
    now = workspace.clock()
    done: set[str] = set()

    def apply(shelf: Shelf) -> Change:
        found = [m for name in after if (m := shelf.get(name)) is not None and m.anchors == before[name].anchors]
        done.clear()
        done.update(m.id for m in found)
        changed = (replace(m, anchors=after[m.id].anchors, updated_at=now, version=increased(m.version)) for m in found)
        return Change(tuple(changed), now=now)

    workspace.store.update(space, apply)
    return frozenset(done)


_MAX_FOLLOWED = 200
"""How many anchored memories are looked for elsewhere at most: those that were stored last."""
DOUBTFUL_SHARE = 0.5
"""What of its score is left to a memory with an anchor that is stale or gone."""


def with_anchors(sections: Sequence[Section], code: Mapping[str, LoadCode]) -> tuple[Section, ...]:
    """The sections with the state of their anchors; `code` gives the files of each space.

    Doubtful ones fall behind all that now score more, unless somebody pinned them.
    """
    checked = _checked(sections, code)
    for n in range(len(checked) - 1, -1, -1):
        if checked[n].is_doubtful and not checked[n].memory.pinned:
            after = [m for m in range(n + 1, len(checked)) if checked[m].score > checked[n].score]
            checked.insert(max(after, default=n), checked.pop(n))
    return tuple(checked)


def find_moved_leads(query: Query, view: SpaceView, visible: RowSet, load_code: LoadCode) -> dict[int, str]:
    """The rows anchored in other files whose code is now, as git and its content show, where the change is made."""
    edits = query.edits or ()
    changed = {name for edit in edits for name in (edit.file, edit.was)}
    endings = {name.rpartition(".")[2] for name in changed}
    files = [name for name in view.anchored_files() if name not in changed and name.rpartition(".")[2] in endings]
    rows = sorted(row for row in view.anchors(files) if row in visible)[-_MAX_FOLLOWED:] if files else []
    reader = load_code() if rows else None
    if reader is None:
        return {}
    elsewhere = frozenset(files)
    asked = [
        (row, anchor, commit)
        for row, memory in zip(rows, view.fetch(rows), strict=True)
        for _, anchor, commit in anchors_of(memory)
        if anchor.file in elsewhere
    ]
    checked = Checker(reader, is_bounded=True).check([(anchor, commit) for _, anchor, commit in asked])
    return {
        row: ANCHOR
        for (row, _, _), now in zip(asked, checked, strict=False)
        if now and now.file in changed and any(edit.touches(now.file, *(now.lines or ())) for edit in edits)
    }


def _checked(sections: Sequence[Section], code: Mapping[str, LoadCode]) -> list[Section]:
    checked = list(sections)
    for load in dict.fromkeys(code[section.space] for section in sections if section.memory.anchors):
        asked = [
            (n, anchor, commit)
            for n, section in enumerate(sections)
            if code[section.space] is load
            for _, anchor, commit in anchors_of(section.memory)
        ]
        if (reader := load()) is None:
            continue
        states = Checker(reader, is_bounded=True).check([(anchor, commit) for _, anchor, commit in asked])
        found: dict[int, list[Checked]] = {}
        for (n, _, _), now in zip(asked, states, strict=False):
            if now is not None:
                found.setdefault(n, []).append(now)
        for n, anchors in found.items():
            checked[n] = _lowered(replace(sections[n], anchors=tuple(anchors)))
    return checked


def _lowered(section: Section) -> Section:
    if not section.is_doubtful or not section.score:
        return section
    score = round(section.score * DOUBTFUL_SHARE, 4)
    return replace(section, score=score, why={**section.why, "anchors": round(score - section.score, 4)})
