"""Moves: where anchored code is when it is not where the anchor says: in a file that was renamed, or in another file.

The one implementation for all commands that check anchors; `app/anchors.py` calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from memcli.code.anchors import Anchor, Code, block_of, state, state_elsewhere, symbol_elsewhere
from memcli.model.anchors import GONE, MOVED, Checked
from memcli.ports import CodeReader

MAX_FILES = 100
"""How many other files are searched at most for the code of one anchor."""

LoadFile = Callable[[str], Code | None]


def may_follow(anchor: Anchor, now: Checked, *, is_there: bool) -> bool:
    """Whether the code of an anchor may be in another file: what is still defined in its own has only changed there."""
    if not now.is_doubtful or (is_there and not anchor.hash):
        return False
    return not is_there or now.state == GONE or (anchor.lines is not None and not anchor.symbol)


def follow(anchor: Anchor, commit: str, now: Checked, reader: CodeReader, load: LoadFile) -> Checked:
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


def _new(anchor: Anchor, commit: str, found: Iterator[Checked], reader: CodeReader) -> Iterator[Checked]:
    """What was found, but for copies that stood there already when the anchor was made."""
    for place in found:
        (before,) = reader.texts_at([(commit, place.file)])
        look = state_elsewhere if place.state == MOVED else symbol_elsewhere
        if before is None or look(anchor, place.file, Code(before)) is None:
            yield place
