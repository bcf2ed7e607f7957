"""A project with a memory, and calls of hooks in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Result, Run

PAYLOADS = Path(__file__).parent / "payloads"
AGENTS = {file.stem: json.loads(file.read_text()) for file in sorted(PAYLOADS.glob("*.json"))}

Fire = Callable[..., Result]


def payload(agent: str, event: str, cwd: Path, **changes: object) -> dict[str, Any]:
    """What the agent passes to the hook of an event, in the folder `cwd`."""
    text = json.dumps(AGENTS[agent][event]).replace("{cwd}", str(cwd))
    return {**json.loads(text), **changes}


@pytest.fixture
def project(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose memory has something for each event."""
    monkeypatch.setenv("MEMCLI_HOOK_FOREGROUND", "1")
    (tmp_path / "src" / "orders").mkdir(parents=True)
    (tmp_path / "src" / "orders" / "handler.py").write_text("def handle():\n    pass\n")
    run("remember", "Orders live in PostgreSQL: we need JSONB.", "--kind", "decision", "--path", "orders/database")
    run("remember", "Never sleep in a handler: it blocks the worker.", "--kind", "negative", "--path", "orders/sleep",
        "--anchor", "src/orders/handler.py:1-2")  # fmt: skip
    run("remember", "Releases happen on Tuesdays.", "--path", "release/day", "--pin")
    return tmp_path


@pytest.fixture
def fire(run: Run, project: Path) -> Fire:
    """Calls the hook of an event as the agent does."""

    def call(agent: str, event: str, data: bytes | None = None, **changes: object) -> Result:
        given = data if data is not None else json.dumps(payload(agent, event, project, **changes)).encode()
        return run("hook", "run", event, "--agent", agent, stdin=given)

    return call


def entries(project: Path, name: str) -> list[dict[str, Any]]:
    """The lines of a file in `local/`."""
    file = project / ".memory" / "local" / name
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
