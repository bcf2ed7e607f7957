"""The pool, over processes that answer, sleep or die as the options of a call say."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from memcli.errors import ChangedError, RefusedError, StoreError, UsageError
from memcli.extras.serve.access import Backend, Caller
from memcli.extras.serve.pool import Pool
from memcli.extras.serve.problems import LateError
from memcli.model.space import READER

WORKER = """
import os, sys, time
from multiprocessing.connection import Connection
from memcli.errors import ChangedError
log = open(sys.argv[1], "a")
pool = Connection(int(sys.argv[2]))
pool.send(None)
while (request := pool.recv()) is not None:
    verb, options, user, is_bound = request
    print(verb, file=log, flush=True)
    act = options.get("act")
    if act == "die" or (act == "die once" and open(sys.argv[1]).read().count(verb) == 1):
        os._exit(1)
    if act == "sleep":
        time.sleep(60)
    if act == "pause":
        time.sleep(0.3)
    if act == "fail":
        pool.send((None, ChangedError("wrong", "right")))
    else:
        pool.send(([user, is_bound, options], None))
"""
ANN = Caller("ann", READER)
pytestmark = pytest.mark.anyio


@asynccontextmanager
async def pool(folder: Path, size: int = 1, seconds: float = 30.0) -> AsyncIterator[tuple[Pool, Path]]:
    log = folder / "log"
    made = Pool([sys.executable, "-c", WORKER, str(log)], size, lambda verb, _: verb == "recall", seconds)
    await made.start()
    try:
        yield made, log
    finally:
        made.stop(1)


async def begun(log: Path) -> None:
    while not (log.exists() and log.read_text()):  # noqa: ASYNC110, ASYNC240 - another process writes it
        await asyncio.sleep(0.01)


async def test_answers_and_errors(tmp_path: Path) -> None:
    async with pool(tmp_path) as (made, _):
        assert await made.call("recall", {"a": 1}, ANN) == ["serve:ann", False, {"a": 1}]
        assert (await made.call("recall", {}, Caller("bob", READER, ("main",))))[:2] == ["serve:bob", True]
        with pytest.raises(ChangedError, match="wrong") as found:
            await made.call("edit", {"act": "fail"}, ANN)
        assert found.value.hint == "right"


async def test_a_read_is_repeated_once_and_a_write_is_not(tmp_path: Path) -> None:
    async with pool(tmp_path) as (made, log):
        assert await made.call("recall", {"act": "die once"}, ANN)
        with pytest.raises(StoreError, match="ended"):
            await made.call("recall", {"act": "die"}, ANN)
        with pytest.raises(StoreError) as found:
            await made.call("edit", {"act": "die once"}, ANN)
        assert "unknown" in found.value.hint
        assert log.read_text().split() == ["recall"] * 4 + ["edit"]
        assert await made.call("edit", {}, ANN)


async def test_who_takes_too_long_is_ended_and_replaced(tmp_path: Path) -> None:
    async with pool(tmp_path, seconds=1.0) as (made, _):
        calls = [made.call("edit", {"act": "sleep"}, ANN) for _ in range(2)]
        first, second = await asyncio.gather(*calls, return_exceptions=True)
        assert isinstance(first, LateError)
        assert "unknown" in first.hint
        assert isinstance(second, LateError)
        assert second.hint == "try again later"
        made._seconds = 30.0
        assert await made.call("recall", {}, ANN)


async def test_a_quick_verb_waits_for_no_slow_one(tmp_path: Path) -> None:
    async with pool(tmp_path, size=2) as (made, log):
        slow = [asyncio.create_task(made.call("export", {"act": "sleep"}, ANN)) for _ in range(3)]
        await begun(log)
        for _ in range(3):
            assert await made.call("recall", {}, ANN)
        assert log.read_text().split() == ["export", "recall", "recall", "recall"]
        slow[0].cancel()  # nobody waits for it any more: the next has its turn
        while log.read_text().count("export") < 2:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.01)
    await asyncio.gather(*slow, return_exceptions=True)


async def test_who_stops_ends_what_is_at_work_and_refuses_the_rest(tmp_path: Path) -> None:
    async with pool(tmp_path) as (made, log):
        calls = [asyncio.create_task(made.call("edit", {"act": "pause"}, ANN)) for _ in range(5)]
        await begun(log)
        made.refuse()
        found = await asyncio.gather(*calls, return_exceptions=True)
        assert [isinstance(one, StoreError) for one in found] == [False, True, True, True, True]
        with pytest.raises(StoreError, match="stopping"):
            await made.call("recall", {}, ANN)
        assert log.read_text().split() == ["edit"]


async def test_a_process_that_does_not_get_ready_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.extras.serve.pool._READY_SECONDS", 2.0)
    log = tmp_path / "log"
    sleeper = f"import os, pathlib, time; pathlib.Path({str(log)!r}).write_text(str(os.getpid())); time.sleep(60)"
    for program, error in (("", "EOFError"), (sleeper, "TimeoutError")):
        made = Pool([sys.executable, "-c", program], 1, lambda *_: True, 30.0)
        with pytest.raises(StoreError, match=rf"cannot start.*{error}"):
            await made.start()
        made.stop(1)
    with pytest.raises(ProcessLookupError):
        os.kill(int(log.read_text()), 0)


async def test_a_reader_changes_nothing_whatever_a_route_asks_for() -> None:
    called: list[str] = []

    async def run(verb: str, options: object, caller: object) -> None:
        called.append(verb)

    calls: list[tuple[str, dict[str, Any]]] = [
        ("serve", {}), ("mcp", {}), ("export", {}), ("import", {}), ("provider list", {}), ("edit", {}),
        ("feedback gaps", {"close": True}), ("forget", {"refs": ["a"], "purge": True}), ("inbox", {"action": "accept"}),
        ("check code", {"reanchor": True}), ("store maintain", {}), ("space delete", {"name": "a"}), ("restore", {}),
    ]  # fmt: skip
    backend = Backend(run)
    for verb, options in calls:
        with suppress(RefusedError, UsageError):
            await backend.call(verb, options, ANN)
    assert called == []
