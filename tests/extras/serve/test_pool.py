"""The pool, over processes that answer, sleep or die as they are told."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from memcli.errors import ChangedError, ConflictError, MemcliError, UsageError
from memcli.extras.serve.access import Caller
from memcli.extras.serve.endpoints import DeclaredRules
from memcli.extras.serve.pool import Pool
from memcli.extras.serve.problems import LateError, LostError
from memcli.extras.serve.server import GuardedBackend
from memcli.model.roles import READER

WORKER = """
import json, os, sys, time
log = open(sys.argv[1], "a")
def write(value):
    data = json.dumps(value).encode()
    sys.stdout.buffer.write(len(data).to_bytes(4, "big") + data)
    sys.stdout.buffer.flush()
write({})
while head := sys.stdin.buffer.read(4):
    asked = json.loads(sys.stdin.buffer.read(int.from_bytes(head, "big")))
    print(asked["verb"], file=log, flush=True)
    act = asked["options"].get("act")
    if act == "die" or (act == "die once" and open(sys.argv[1]).read().count(asked["verb"]) == 1):
        os._exit(1)
    if act == "sleep":
        time.sleep(60)
    if act == "pause":
        time.sleep(0.3)
    if act == "fail":
        write({"error": {"code": "usage", "message": "wrong", "hint": "right", "is_changed": False}})
    elif act == "changed":
        write({"error": {"code": "conflict", "message": "changed", "hint": "", "is_changed": True}})
    elif act == "garbage":
        sys.stdout.buffer.write(b"\\0\\0\\0\\x01x")
        sys.stdout.buffer.flush()
    else:
        write({"value": [asked["user"], asked["options"]]})
"""
ANN = Caller("ann", READER)
Call = Callable[..., Awaitable[Any]]


@asynccontextmanager
async def pool(folder: Path, size: int = 1, seconds: float = 30.0) -> AsyncIterator[tuple[Pool, Path]]:
    log = folder / "log"
    command = [sys.executable, "-c", WORKER, str(log)]
    made = Pool(command, size, lambda verb, _: verb == "read", seconds)
    await made.start()
    try:
        yield made, log
    finally:
        await made.stop(1)


def run(work: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(work(), 60))  # type: ignore[arg-type]


def test_answers_and_errors(tmp_path: Path) -> None:
    async def work() -> None:
        async with pool(tmp_path) as (made, _):
            assert await made.call("read", {"a": 1}, ANN) == ["serve:ann", {"a": 1}]
            with pytest.raises(UsageError, match="wrong"):
                await made.call("read", {"act": "fail"}, ANN)
            with pytest.raises(ChangedError) as found:
                await made.call("write", {"act": "changed"}, ANN)
            assert isinstance(found.value, ConflictError)
            with pytest.raises(UsageError, match="64-bit"):
                await made.call("write", {"object": {"n": 1 << 64}}, ANN)

    run(work)


def test_a_read_is_repeated_once_and_a_write_is_not(tmp_path: Path) -> None:
    async def work() -> None:
        async with pool(tmp_path) as (made, log):
            assert await made.call("read", {"act": "die once"}, ANN)
            with pytest.raises(LostError, match="ended"):
                await made.call("read", {"act": "die"}, ANN)
            with pytest.raises(LostError) as found:
                await made.call("write", {"act": "die once"}, ANN)
            assert "unknown" in found.value.hint
            assert log.read_text().split() == ["read"] * 4 + ["write"]
            with pytest.raises(LostError):
                await made.call("write", {"act": "garbage"}, ANN)
            assert await made.call("write", {}, ANN)

    run(work)


@pytest.mark.slow
def test_who_takes_too_long_is_ended_and_replaced(tmp_path: Path) -> None:
    async def work() -> None:
        async with pool(tmp_path, seconds=1.0) as (made, _):
            calls = [made.call(verb, {"act": "sleep"}, ANN) for verb in ("write", "write")]
            first, second = await asyncio.gather(*calls, return_exceptions=True)
            assert isinstance(first, LateError)
            assert "unknown" in first.hint
            assert isinstance(second, LateError)
            assert second.hint == "try again later"

        async with pool(tmp_path, seconds=5.0) as (made, _):
            with pytest.raises(LateError):
                await made.call("read", {"act": "sleep"}, ANN)
            assert await made.call("read", {}, ANN)

    run(work)


def test_who_stops_ends_what_is_at_work_and_refuses_the_rest(tmp_path: Path) -> None:
    async def work() -> None:
        async with pool(tmp_path) as (made, log):
            calls = [asyncio.create_task(made.call("write", {"act": "pause"}, ANN)) for _ in range(5)]
            while not log.exists() or not log.read_text():  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.01)
            await made.refuse()
            found = await asyncio.gather(*calls, return_exceptions=True)
            assert [isinstance(one, LostError) for one in found] == [False, True, True, True, True]
            with pytest.raises(LostError, match="stopping"):
                await made.call("read", {}, ANN)
            assert log.read_text().split() == ["write"]

    run(work)


def test_a_command_that_does_not_start(tmp_path: Path) -> None:
    async def work() -> None:
        made = Pool([sys.executable, "-c", ""], 1, lambda *_: True, 30.0)
        with pytest.raises(LostError, match="cannot start"):
            await made.start()
        await made.stop(1)

    run(work)


def test_a_process_that_is_never_ready_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.extras.serve.pool._READY_SECONDS", 2.0)
    log = tmp_path / "log"
    sleeper = f"import os, pathlib, time; pathlib.Path({str(log)!r}).write_text(str(os.getpid())); time.sleep(60)"

    async def work() -> None:
        made = Pool([sys.executable, "-c", sleeper], 1, lambda *_: True, 30.0)
        with pytest.raises(LostError, match="TimeoutError"):
            await made.start()
        with pytest.raises(ProcessLookupError):
            os.kill(int(log.read_text()), 0)
        await made.stop(1)

    run(work)


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("serve", {}), ("mcp", {}), ("export", {}), ("import", {}), ("provider list", {}), ("edit", {}), ("feedback gaps", {"close": True}),
        ("forget", {"refs": ["a"], "purge": True}), ("inbox", {"action": "accept"}), ("check code", {"reanchor": True}),
        ("store maintain", {}), ("space delete", {"name": "a"}), ("restore", {}),
    ],
)  # fmt: skip
def test_a_reader_changes_nothing_whatever_a_route_asks_for(verb: str, options: dict[str, Any]) -> None:
    class Nobody:
        async def call(self, verb: str, options: object, caller: object) -> Any:
            raise AssertionError(f"{verb} was called")

    with pytest.raises(MemcliError) as found:
        asyncio.run(GuardedBackend(Nobody(), DeclaredRules()).call(verb, options, ANN))
    assert found.value.code in ("refused", "usage")
