"""How `memcli serve` bears load, by locust: questions, many writers, memory after many requests, and how it stops."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from objects import questions
from processes import memcli, surroundings
from report import Row
from stores import size_name, store, work_folder

_WRITERS = 50
_CLIENTS = 8
_USERS = Path(__file__).with_name("serve_users.py")


def main() -> None:
    """Prints a table of figures and targets."""
    parser = argparse.ArgumentParser(description="Measures memcli serve under load.")
    parser.add_argument("--work", metavar="DIR", help="keep the stores here for the next run")
    parser.add_argument("--size", type=int, default=10_000, help="the number of memories")
    parser.add_argument("--seconds", type=int, default=30, help="how long questions are asked")
    parser.add_argument("--writes", type=int, default=20, help="how many memories each of 50 writers stores")
    parser.add_argument("--requests", type=int, default=100_000, help="after how many requests memory is measured")
    given = parser.parse_args()
    with work_folder(given.work) as work:
        root = store(work, given.size)
        print("| | measured | target | |\n|---|---|---|---|")
        with _Server.running(root) as server:
            for row in _rows(server, given):
                print(f"| {row.name} | {row.figure} | {row.target} | {row.detail} |", flush=True)


class _Server:
    """A server on a store, and what it takes."""

    def __init__(self, process: subprocess.Popen[str], address: str, root: str) -> None:
        self.process, self.address, self.root = process, address, root
        self.token = Path(root, ".memory", "local", "serve-token").read_text(encoding="ascii").strip()

    @classmethod
    @contextmanager
    def running(cls, root: str) -> Iterator[_Server]:
        """Starts one, and ends it."""
        process = subprocess.Popen(
            [memcli(), "serve", "--port", "0", "--root", root], env=surroundings(MEMCLI_EMBEDDER="off"),
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        process.stdout.readline()
        try:
            yield cls(process, address, root)
        finally:
            process.kill()
            process.wait()

    def get(self, path: str) -> Any:
        """What is at a path."""
        connection = HTTPConnection(self.address.removeprefix("http://"))
        connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
        return json.load(connection.getresponse())

    def megabytes(self) -> float:
        """The memory of all processes, shared pages counted once."""
        children = (
            Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(encoding="ascii").split()
        )
        return sum(_kilobytes(int(pid)) for pid in (self.process.pid, *map(int, children))) / 1024

    def load(self, user: str, users: int, seconds: int, **variables: str) -> subprocess.Popen[str]:
        """Starts locust."""
        own = {**os.environ, "BENCH_TOKEN": self.token, **variables}
        command = [
            sys.executable, "-m", "locust", "-f", str(_USERS), user, "--headless", "--host", self.address, "-u", str(users),
            "-r", str(users), "-t", f"{seconds}s", "--json", "--loglevel", "ERROR", "--only-summary",
        ]  # fmt: skip
        return subprocess.Popen(command, env=own, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def _rows(server: _Server, given: argparse.Namespace) -> Iterator[Row]:
    yield from _recall(server, given.size, given.seconds)
    yield _beside(server, given.size, given.seconds)
    yield from _write(server, given.writes)
    yield from _mixed(server, given.requests)
    yield from _stop(server)


def _recall(server: _Server, size: int, seconds: int) -> Iterator[Row]:
    asked = json.dumps(questions(200))
    _stats(server.load("Recall", _CLIENTS, 3, BENCH_QUESTIONS=asked))
    (found,) = _stats(server.load("Recall", _CLIENTS, seconds, BENCH_QUESTIONS=asked))
    name = f"recall, {size_name(size)}, {_CLIENTS} clients"
    rate = found["num_requests"] / (found["last_request_timestamp"] - found["start_time"])
    detail = f"{found['num_requests']} requests, {found['num_failures']} failed"
    yield Row(f"{name}: requests a second", f"{rate:.0f}", "60", detail)
    yield Row(f"{name}: 99 %", f"{_quantile(found, 0.99):.0f} ms", "100 ms", f"median {_quantile(found, 0.5):.0f} ms")


def _beside(server: _Server, size: int, seconds: int) -> Row:
    """How long questions wait while others keep asking for the whole graph."""
    slow = server.load("Graph", 3, seconds + 30)
    try:
        (found,) = _stats(server.load("Recall", 1, seconds, BENCH_QUESTIONS=json.dumps(questions(200))))
    finally:
        slow.terminate()
        slow.wait()
    detail = f"median {_quantile(found, 0.5):.0f} ms, 99 % {_quantile(found, 0.99):.0f} ms"
    return Row(
        f"recall, {size_name(size)}, beside slow verbs: the slowest",
        f"{_quantile(found, 1.0):.0f} ms",
        "200 ms",
        detail,
    )


def _write(server: _Server, writes: int) -> Iterator[Row]:
    space = f"load-{server.process.pid}"
    (found,) = _stats(server.load("Write", _WRITERS, 120, BENCH_WRITES=str(writes), BENCH_SPACE=space))
    acknowledged = found["num_requests"] - found["num_failures"]
    kept = server.get(f"/apps/{space}")["objects"]
    rate = found["num_requests"] / (found["last_request_timestamp"] - found["start_time"])
    detail = f"{acknowledged} acknowledged, {found['num_failures']} failed, {rate:.0f} a second"
    yield Row(f"{_WRITERS} writers: lost", str(acknowledged - kept), "0", detail)


def _mixed(server: _Server, requests: int) -> Iterator[Row]:
    before = server.megabytes()
    ids = json.dumps([memory["id"] for memory in server.get("/apps/main/memories?limit=1000")["memories"]])
    done = 0
    while done < requests:
        stats = _stats(server.load("Mixed", _CLIENTS, 60, BENCH_IDS=ids))
        done += sum(one["num_requests"] - one["num_failures"] for one in stats)
    yield Row(
        f"memory of all processes after {done:,} requests",
        f"{server.megabytes():.0f} MB",
        "400 MB",
        f"before {before:.0f} MB",
    )


def _stop(server: _Server) -> Iterator[Row]:
    load = server.load("Write", _WRITERS, 30, BENCH_WRITES="1000", BENCH_SPACE=f"load-{server.process.pid}")
    time.sleep(5)
    start = time.perf_counter()
    server.process.send_signal(signal.SIGTERM)
    code = server.process.wait()
    took = time.perf_counter() - start
    load.terminate()
    load.wait()
    yield Row("stop under load", f"{took:.2f} s", "2 s", f"exit code {code}")


def _stats(load: subprocess.Popen[str]) -> Sequence[dict[str, Any]]:
    out, _ = load.communicate()
    found: list[dict[str, Any]] = json.loads(out[out.index("[") : out.rindex("]") + 1])
    return found


def _quantile(found: dict[str, Any], share: float) -> float:
    """The time in milliseconds that this share of the requests was answered in."""
    times = sorted((float(time), count) for time, count in found["response_times"].items())
    left = share * sum(count for _, count in times)
    for taken, count in times:
        left -= count
        if left <= 0:
            return taken
    return times[-1][0]


def _kilobytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


if __name__ == "__main__":
    main()
