"""Processes that write to one store at once, with memcli or the plain way. For bench/speed.py."""

from __future__ import annotations

import multiprocessing
import os
import sys

import orjson
from processes import at_once


def main() -> None:
    """Prints how many memories were lost, and how many a second were stored."""
    mode, root, processes, each = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    path = os.path.join(root, ".memory", "spaces", "main.json")
    before = _count(path)
    work = _remember if mode == "memcli" else _rewrite
    gate = multiprocessing.Barrier(processes + 1)
    writers = [multiprocessing.Process(target=work, args=(gate, root, path, k, each)) for k in range(processes)]
    took = at_once(writers, gate)
    print(processes * each - (_count(path) - before), processes * each / took)


def _count(path: str) -> int:
    with open(path, "rb") as file:
        return len(orjson.loads(file.read())["objects"])


def _remember(gate: multiprocessing.Barrier, root: str, _: str, writer: int, each: int) -> None:
    from memcli.app.remember import prepare, remember
    from memcli.wiring.workspace import open_workspace

    workspace = open_workspace({"root": root}, {})
    candidates = [prepare(workspace, {"raw": f"Writer {writer} tells fact {n}."}) for n in range(each)]
    gate.wait()
    for candidate in candidates:
        remember(workspace, [candidate])


def _rewrite(gate: multiprocessing.Barrier, root: str, path: str, writer: int, each: int) -> None:
    import fcntl

    gate.wait()
    for n in range(each):
        with open(os.path.join(root, ".memory", "rewrite.lock"), "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with open(path, "rb") as file:
                space = orjson.loads(file.read())
            text = f"Writer {writer} tells fact {n}."
            known = {**space["objects"][0], "id": f"mem_{writer}_{n}", "path": f"told/{writer}/{n}", "raw": text}
            space["objects"] = sorted([*space["objects"], known], key=lambda item: (item["updated_at"], item["id"]))
            with open(f"{path}.part", "wb") as file:
                file.write(orjson.dumps(space, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
                file.flush()
                os.fsync(file.fileno())
            os.replace(f"{path}.part", path)


if __name__ == "__main__":
    main()
