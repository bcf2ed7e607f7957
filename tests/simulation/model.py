"""What must be where: the memories of each store at each commit and in each work tree, and the private state of each
repository. Plain values; a memory is known by its path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

STORES = (".", "pkg/a")
"""The folders of the repository that have a store of their own."""


@dataclass(frozen=True)
class Memory:
    """A memory as the model knows it. `words` are those of which its text has one, more only where a merge may choose;
    `lasting` must all be shown or noted as conflicts, because a merge met several. `marks` has one for each change: equal
    ones are the same version.
    """

    words: frozenset[str]
    active: frozenset[bool] = frozenset((True,))
    marks: frozenset[str] = frozenset()
    lasting: frozenset[str] = frozenset()


T = TypeVar("T")
State = Mapping[str, Memory]
"""The memories of a store, by their paths."""
States = Mapping[str, State]
"""Those of every store, by its folder."""


@dataclass
class Private:
    """What a repository has for a store beside git: proposals and deleted memories by their paths, the words of each
    session, which have ended, and the ids in the journal. While `is_open`, the inbox may have more: a session was killed at its end."""

    inbox: dict[str, Memory] = field(default_factory=dict)
    trash: dict[str, Memory] = field(default_factory=dict)
    sessions: dict[str, list[str]] = field(default_factory=dict)
    journal: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    is_open: bool = False


@dataclass
class Tree:
    """A work tree. `dirty` are the stores whose file has changes that are not committed, `absent` whether a sparse checkout
    leaves all stores out."""

    clone: Clone
    folder: Path
    work: dict[str, State] = field(default_factory=dict)
    dirty: set[str] = field(default_factory=set)
    absent: bool = False


@dataclass
class Clone:
    """A clone with a user of its own. `stash` has what each entry began from, and what it holds, the newest last."""

    folder: Path
    home: Path
    trees: list[Tree] = field(default_factory=list)
    private: dict[str, Private] = field(default_factory=lambda: {store: Private() for store in STORES})
    stash: list[tuple[States, States]] = field(default_factory=list)


def merged(base: State, ours: State, theirs: State) -> State:
    """What a three-way merge makes of a store: additions survive, a deletion stands where the other side changed nothing,
    and of two changes of one field either may be shown, while both last."""
    found = {}
    for path in ours.keys() | theirs.keys():
        was, left, right = base.get(path), ours.get(path), theirs.get(path)
        kept = left if right in (was, left) else right if left == was else left or right
        if left and right and left not in (was, right) and right != was:
            kept = _both(was, left, right)
        if kept:
            found[path] = kept
    return found


def merged_all(base: States, ours: States, theirs: States) -> dict[str, State]:
    """What a three-way merge makes of every store."""
    return {store: merged(base[store], ours[store], theirs[store]) for store in STORES}


def _both(was: Memory | None, left: Memory, right: Memory) -> Memory:
    words = _field(was.words if was else frozenset(), left.words, right.words)
    active = _field(was.active if was else frozenset(), left.active, right.active)
    either = words if len(words) > 1 else frozenset()
    gone = was.lasting - (left.lasting & right.lasting) if was else frozenset()
    return Memory(words, active, left.marks | right.marks, ((left.lasting | right.lasting) - gone) | either)


def _field(was: frozenset[T], left: frozenset[T], right: frozenset[T]) -> frozenset[T]:
    return left if right in (was, left) else right if left == was else left | right


@dataclass(frozen=True)
class Seen:
    """A memory as it was found: its text, whether it is active, and the conflicts noted in it."""

    raw: str
    active: bool
    noted: str


def compare(state: State, found: Mapping[str, Seen]) -> tuple[list[str], State]:
    """What is wrong with what was found, and the state with what was open decided."""
    problems = [f"lost: {path}" for path in sorted(state.keys() - found.keys())]
    problems += [f"came from nowhere: {path}" for path in sorted(found.keys() - state.keys())]
    decided = dict(state)
    for path in sorted(state.keys() & found.keys()):
        memory, seen = state[path], found[path]
        words = frozenset(_in(memory.words, seen.raw))
        if len(words) != 1:
            problems.append(f"lost: the text of {path}, {'/'.join(sorted(memory.words))}: {seen.raw}")
        if seen.active not in memory.active:
            problems.append(f"wrong: {path} is {'active' if seen.active else 'not active'}")
        lasting = frozenset(_in(memory.lasting, seen.noted))  # what is only shown may give way to a newer text
        if missing := memory.lasting - lasting - words:
            problems.append(f"lost: the other text of {path}: {'/'.join(sorted(missing))}")
        decided[path] = replace(memory, words=words, active=frozenset((seen.active,)), lasting=lasting)
    return problems, decided


def _in(words: Iterable[str], text: str) -> list[str]:
    return [word for word in words if word in text]
