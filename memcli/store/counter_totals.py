"""The sums of the counters: read, and folded, by whoever holds their lock."""

from __future__ import annotations

from typing import NamedTuple

from memcli.codec.canonical import encode_line
from memcli.model.counting import Totals, add_lines
from memcli.store.atomic import remove_file, write_file
from memcli.store.reading import read_json, read_regular

_MAX_LOG = 16 << 20


class _TotalsState(NamedTuple):
    """The sums, and how many bytes of which log are in them."""

    totals: Totals
    mark: str = ""
    size: int = 0


def read_totals(path: str) -> Totals:
    """The sums of all events of the log at `path`. What cannot be read is left out."""
    return _read(path).totals


def fold(path: str) -> None:
    """Adds the log at `path` to the sums, and removes it. Raises StoreError."""
    state = _read(path)
    counts = [[*key, amount] for key, amount in sorted(state.totals.items())]
    data = {"counts": counts, "folded": [state.mark, state.size]}
    write_file(_totals_of(path), encode_line(data), 0o600, alone=True)
    remove_file(path)


def _read(path: str) -> _TotalsState:
    """The sums with the log, as if it were folded."""
    state = _load(_totals_of(path))
    try:
        data = read_regular(path, _MAX_LOG) or b""
    except OSError:
        return state
    data = data[: data.rfind(b"\n") + 1]
    mark = data.partition(b"\n")[0].decode("ascii", "replace") if data.startswith(b"#") else ""
    start = state.size if mark and mark == state.mark else 0
    add_lines(state.totals, data[start:].splitlines())
    return _TotalsState(state.totals, mark, len(data))


def _load(path: str) -> _TotalsState:
    found = read_json(path)
    data = found if isinstance(found, dict) else {}
    totals: Totals = {}
    for row in _list(data.get("counts")):
        *key, amount = _list(row) or [None]
        names = tuple(part for part in key if isinstance(part, str))
        if len(names) == len(key) > 0 and type(amount) is int and amount >= 0:
            totals[names] = amount
    match _list(data.get("folded")):
        case [str(mark), int(size)]:
            return _TotalsState(totals, mark, size)
    return _TotalsState(totals)


def _totals_of(path: str) -> str:
    return f"{path}.totals"


def _list(data: object) -> list[object]:
    return data if isinstance(data, list) else []
