"""The transcripts of a project: only its own, and never through a link."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memcli.transcripts import discovery
from memcli.transcripts.discovery import discover, folder_name


def session(path: Path, cwd: str | None, **more: Any) -> str:
    """A session of Claude Code that took place in `cwd`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    line = {
        "type": "user",
        "uuid": "1",
        "sessionId": "s",
        "message": {"content": "a"},
        **({"cwd": cwd} if cwd else {}),
        **more,
    }
    path.write_text(json.dumps({"type": "mode", "sessionId": "s"}) + "\n" + json.dumps(line) + "\n")
    return str(path)


def rollout(path: Path, cwd: str, **more: Any) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"type": "session_meta", "payload": {"id": "r", "cwd": cwd, **more}}) + "\n")
    return str(path)


def test_sessions_of_claude_code_are_found_by_the_folder_and_by_what_they_say(tmp_path: Path) -> None:
    projects = tmp_path / ".claude" / "projects"
    found = [
        session(projects / "-w-my-shop" / "1.jsonl", "/w/my.shop"),
        session(projects / "-w-my-shop" / "2.jsonl", None),
        session(projects / "-w-my-shop-web" / "3.jsonl", "/w/my.shop/web"),
    ]
    session(projects / "-w-my-shop" / "4.jsonl", "/w/my-shop")
    session(projects / "-w-my-shop-web" / "5.jsonl", "/w/my.shop-web")
    session(projects / "-w-my-shop" / "agent-6.jsonl", "/w/my.shop")
    session(projects / "-w-my-shop" / "1" / "subagents" / "agent-7.jsonl", "/w/my.shop")
    session(projects / "-w-my-shop" / "notes.txt", "/w/my.shop")
    session(projects / "-w-other" / "8.jsonl", "/w/my.shop")
    assert discover(str(tmp_path), "/w/my.shop", {}) == sorted(found)
    assert discover(str(tmp_path), "/w/none", {}) == []
    assert discover(str(tmp_path / "none"), "/w/my.shop", {}) == []


def test_rollouts_are_found_by_where_they_took_place(tmp_path: Path) -> None:
    day = tmp_path / ".codex" / "sessions" / "2026" / "01" / "02"
    found = [
        rollout(tmp_path / ".codex" / "archived_sessions" / "rollout-0.jsonl", "/w/shop"),
        rollout(day / "rollout-1.jsonl", "/w/shop"),
        rollout(day / "rollout-2.jsonl", "/w/shop/web/"),
    ]
    rollout(day / "rollout-3.jsonl", "/w/shop2")
    rollout(day / "rollout-4.jsonl", "/w/shop", source={"subagent": "review"})
    rollout(day / "rollout-5.jsonl.zst", "/w/shop")
    rollout(day / "a" / "b" / "rollout-6.jsonl", "/w/shop")
    (day / "rollout-7.jsonl").write_bytes(b"\xff")
    assert discover(str(tmp_path), "/w/shop", {}) == found


def test_the_environment_says_where_agents_keep_their_files(tmp_path: Path) -> None:
    environ = {"CLAUDE_CONFIG_DIR": str(tmp_path / "a"), "CODEX_HOME": str(tmp_path / "b")}
    found = [
        session(tmp_path / "a" / "projects" / "-w" / "1.jsonl", "/w"),
        rollout(tmp_path / "b" / "sessions" / "rollout-1.jsonl", "/w"),
    ]
    session(tmp_path / ".claude" / "projects" / "-w" / "1.jsonl", "/w")
    assert discover(str(tmp_path), "/w", environ) == found


def test_a_first_line_that_is_too_long_hides_no_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.transcripts.files.MAX_BYTES", 20_000)
    projects = tmp_path / ".claude" / "projects"
    own, other = (
        Path(session(projects / "-w" / f"{name}.jsonl", folder)) for name, folder in (("1", "/w"), ("2", "/x"))
    )
    for path in (own, other):
        path.write_bytes(b'{"type": "' + b"x" * (2 << 20) + b'"}\n' + path.read_bytes())
    assert discover(str(tmp_path), "/w", {}) == [str(own)]


def test_no_link_is_followed(tmp_path: Path) -> None:
    projects, sessions = tmp_path / ".claude" / "projects", tmp_path / ".codex" / "sessions"
    outside = session(tmp_path / "outside" / "1.jsonl", "/w")
    rollout(tmp_path / "outside" / "rollout-1.jsonl", "/w")
    (projects / "-w").mkdir(parents=True)
    sessions.mkdir(parents=True)
    (projects / "-w" / "1.jsonl").symlink_to(outside)
    (projects / "-w-x").symlink_to(tmp_path / "outside")
    (sessions / "2026").symlink_to(tmp_path / "outside")
    (sessions / "rollout-1.jsonl").symlink_to(tmp_path / "outside" / "rollout-1.jsonl")
    assert discover(str(tmp_path), "/w", {}) == []


def test_long_names_are_cut_and_the_sessions_say_which_they_are(tmp_path: Path) -> None:
    project = "/w/" + "x" * 300
    folder = tmp_path / ".claude" / "projects" / f"{folder_name(project)[:200]}-1k2j3h"
    found = session(folder / "1.jsonl", project)
    session(folder / "2.jsonl", f"{project}y")
    session(folder / "3.jsonl", None)
    assert discover(str(tmp_path), project, {}) == [found]


def test_names_are_made_as_javascript_makes_them() -> None:
    assert folder_name("/w/my.shop_é/😀") == "-w-my-shop-----"


def test_how_much_is_looked_at_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "MOST_FILES", 2)
    for number in range(5):
        session(tmp_path / ".claude" / "projects" / "-w" / f"{number}.jsonl", "/w")
        rollout(tmp_path / ".codex" / "sessions" / "2026" / f"{number:02d}" / f"rollout-{number}.jsonl", "/w")
    found = [Path(path).name for path in discover(str(tmp_path), "/w", {})]
    assert len(found) <= 4
