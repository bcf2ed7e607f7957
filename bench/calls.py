"""Many calls in one process: the Python interface and the MCP server."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

from objects import questions
from processes import memcli, surroundings
from report import Row, ms, over
from stores import size_name, store

from memcli import Memory

_WARM = 10
_ASKED = 40
_NOTHING = (sys.executable, "-c", "pass")


def calls(work: str, size: int) -> Iterator[Row]:
    """A recall in a process that has answered others before, each time another question."""
    root = store(work, size, has_vectors=True)
    known = questions(_WARM + _ASKED)
    # Four tokens more make a text that was never asked before, with the same words.
    mark = "".join(".,;:!?~*"[os.getpid() >> n & 7] for n in (0, 3, 6, 9))
    new = [question + mark for question in known]
    name = f"recall in a process that goes on, {size_name(size)}"
    with Memory(root, embedder="off") as memory:
        yield Row(
            f"{name}: Python, words alone", *_median(lambda q: memory.recall(q, no_global=True), known, "15 ms / 4 ms")
        )
    with Memory(root, embedder="onnx") as memory:
        for question in known:
            memory.recall(question, no_global=True)  # which keeps the vectors of the questions
        found = _median(lambda q: memory.recall(q, no_global=True), known, "15 ms / 4 ms")
        yield Row(f"{name}: Python, the embedding of the question aside", *found)
        yield Row(
            f"{name}: Python, new questions", *_median(lambda q: memory.recall(q, no_global=True), new, "40 ms / 15 ms")
        )
    served = (
        ("words alone", "off", known, "15 ms / 4 ms"),
        ("new questions", "onnx", [f"{question}?" for question in new], "40 ms / 15 ms"),
    )
    for told, embedder, asked, target in served:
        with _Client(root, embedder) as client:
            while "loading" in client.recall(known[0]):
                time.sleep(0.2)
            yield Row(f"{name}: `mcp`, {told}", *_median(client.recall, asked, target))


def starts(work: str, size: int, runs: int) -> Iterator[Row]:
    """From the start of `memcli mcp` to its answer to `initialize`, over the start of Python."""
    root = store(work, size)
    walls: dict[str, list[float]] = {"python": [], "mcp": []}
    times: dict[str, list[float]] = {"python": [], "mcp": []}
    for n in range(runs + 1):
        for name, run in (("python", _nothing), ("mcp", lambda: _greeting(root))):
            wall, cpu = run()
            if n:
                walls[name].append(wall)
                times[name].append(cpu)
    for what, took in (("", walls), (", processor time", times)):
        found = {name: statistics.median(values) for name, values in took.items()}
        name = f"`mcp`, {size_name(size)}: start to the answer to `initialize` over `python -c pass`{what}"
        yield Row(name, *over(found["mcp"], found["python"], "35 ×"))


def _median(ask: Callable[[str], Any], asked: Sequence[str], target: str) -> tuple[str, str, str]:
    took, spent = [], []
    for question in asked:
        wall, cpu = time.perf_counter(), time.process_time()
        ask(question)
        took.append(time.perf_counter() - wall)
        spent.append(time.process_time() - cpu)
    wall, cpu = statistics.median(took[_WARM:]), statistics.median(spent[_WARM:])
    return ms(wall), target, f"processor time here {ms(cpu)}"


def _nothing() -> tuple[float, float]:
    before, begin = os.times(), time.perf_counter()
    subprocess.run(_NOTHING, check=True, env=surroundings())
    return time.perf_counter() - begin, _spent(before)


def _greeting(root: str) -> tuple[float, float]:
    before, begin = os.times(), time.perf_counter()
    with _Client(root, "onnx") as client:
        wall = time.perf_counter() - begin
        client.kill()
    return wall, _spent(before)


def _spent(before: os.times_result) -> float:
    now = os.times()
    return now.children_user + now.children_system - before.children_user - before.children_system


class _Client:
    """A client that speaks no more of the protocol than it must, so that its own time does not count."""

    def __init__(self, root: str, embedder: str) -> None:
        self._process = subprocess.Popen(
            [memcli(), "mcp", "--root", root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=surroundings(MEMCLI_EMBEDDER=embedder),
        )  # fmt: skip
        self._count = 0
        told = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self._ask("initialize", told)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def recall(self, topic: str) -> str:
        """The text of the answer."""
        done = self._ask("tools/call", {"name": "recall", "arguments": {"topic": topic}})
        return str(done["result"]["content"][0]["text"])

    def kill(self) -> None:
        """Ends the server at once."""
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def _ask(self, method: str, params: dict[str, Any]) -> Any:
        self._count += 1
        self._send({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params})
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
