"""What the user took back in a rollout of Codex, which stays in the file."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from memcli.transcripts.files import open_file, read_lines
from memcli.transcripts.values import dict_of

_EVENT = "thread_rolled_back"


class TakenBack:
    """The parts of a file between the beginnings of turns and the lines that took them back."""

    def __init__(self, path: str, is_turn: Callable[[Mapping[str, Any]], bool]) -> None:
        self._begins: list[int] = []
        self._ends: list[int] = []
        if not _has_any(path):
            return
        turns = array("Q")
        for offset, line in read_lines(path, Counter()):
            payload = dict_of(line.get("payload"))
            if is_turn(line):
                turns.append(offset)
            elif payload.get("type") == _EVENT and turns:
                number = payload.get("num_turns")
                number = min(number, len(turns)) if isinstance(number, int) and number > 0 else 0
                if number:
                    self._add(turns[-number], offset)
                    del turns[-number:]

    def __contains__(self, offset: int) -> bool:
        place = bisect_right(self._begins, offset) - 1
        return place >= 0 and offset < self._ends[place]

    def _add(self, begin: int, end: int) -> None:
        """A part ends behind all before it, and holds those that begin behind it."""
        while self._begins and self._begins[-1] >= begin:
            self._begins.pop()
            self._ends.pop()
        self._begins.append(begin)
        self._ends.append(end)


def _has_any(path: str) -> bool:
    """Whether the file has such a line, without a look at what else is in it."""
    mark = _EVENT.encode()
    with open_file(path) as file:
        rest = b""
        while block := file.read(1 << 20):
            if mark in rest + block:
                return True
            rest = block[-len(mark) :]
    return False
