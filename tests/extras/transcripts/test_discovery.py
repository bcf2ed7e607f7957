"""The transcripts of a project: only its own, and never through a link."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from memcli.extras.transcripts import discovery
from memcli.extras.transcripts.discovery import discover, folder_name, transcript_of
from tests.extras.transcripts import writers


def write(path: Path, *lines: object) -> str:
    """Writes a file with these lines as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return str(path)


def session(path: Path, cwd: str | None) -> str:
    """A session of Claude Code that took place in `cwd`."""
    line = {"type": "user", "uuid": "1", "sessionId": "s", "message": {"content": "a"}, **({"cwd": cwd} if cwd else {})}
    return write(path, {"type": "mode", "sessionId": "s"}, line)


def rollout(path: Path, cwd: str, **more: Any) -> str:
    return write(path, {"type": "session_meta", "payload": {"id": "r", "cwd": cwd, **more}})


def gemini(folder: Path, name: str, project: str, root: str | None = None) -> str:
    """A session of Gemini CLI that took place in `project`; `root` is what its folder names."""
    digest = sha256(project.encode()).hexdigest()
    path = write(folder / "chats" / name, {"sessionId": "g", "projectHash": digest})
    if root:
        (folder / ".project_root").write_text(root + "\n")
    return path


def copilot(folder: Path, cwd: str) -> str:
    data = {"sessionId": folder.name, "context": {"cwd": cwd}}
    return write(folder / "events.jsonl", {"type": "session.start", "data": data, "parentId": None})


def cline(folder: Path, **about: object) -> str:
    write(folder / f"{folder.name}.json", about)
    return write(folder / f"{folder.name}.messages.json", writers.cline([]))


def opencode(path: Path, **folders: str) -> None:
    path.parent.mkdir(parents=True)
    for name, folder in folders.items():
        writers.opencode(str(path), {name: []}, folder)


def test_sessions_of_gemini_are_found_by_their_folder_or_the_hash_of_the_project(tmp_path: Path) -> None:
    folder = tmp_path / ".gemini" / "tmp"
    found = [
        gemini(folder / "0a", "session-1.jsonl", "/w/shop"),
        gemini(folder / "shop", "session-1.jsonl", "/w/shop", "/w/shop"),
        gemini(folder / "web", "session-1.jsonl", "/w/shop/web", "/w/shop/web"),
    ]
    gemini(folder / "0a", "session-2.jsonl", "/w/other")
    gemini(folder / "0a", "notes.jsonl", "/w/shop")
    gemini(folder / "other", "session-1.jsonl", "/w/shop", "/w/shop2")
    (folder / "0a" / "chats" / "session-3.jsonl").write_bytes(b"\xff[" * 9)
    assert discover(str(tmp_path), "/w/shop", {}) == found


def test_sessions_of_copilot_are_found_by_where_they_took_place(tmp_path: Path) -> None:
    folder = tmp_path / ".copilot" / "session-state"
    found = [copilot(folder / "1", "/w/shop"), copilot(folder / "2", "/w/shop/web")]
    copilot(folder / "3", "/w/shop2")
    (folder / "4").mkdir()
    assert discover(str(tmp_path), "/w/shop", {}) == found


def test_sessions_of_cline_are_found_by_what_is_said_of_them(tmp_path: Path) -> None:
    folder = tmp_path / ".cline" / "data" / "sessions"
    found = [cline(folder / "1", cwd="/w/shop/web", workspace_root="/w"), cline(folder / "2", workspace_root="/w/shop")]
    cline(folder / "3", cwd="/w/shop2")
    cline(folder / "4", cwd=["/w/shop"])
    Path(cline(folder / "5", cwd="/w/shop")).unlink()
    assert discover(str(tmp_path), "/w/shop", {}) == found


def test_sessions_of_opencode_are_found_in_its_database(tmp_path: Path) -> None:
    path = tmp_path / ".local" / "share" / "opencode" / "opencode.db"
    opencode(path, ses_1="/w/shop", ses_2="/w/shop/web", ses_3="/w/shop2")
    assert discover(str(tmp_path), "/w/shop", {}) == [f"{path}#ses_1", f"{path}#ses_2"]
    path.write_bytes(path.read_bytes()[:5000])
    assert discover(str(tmp_path), "/w/shop", {}) == [str(path)]


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
    names = (
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "COPILOT_HOME",
        "CLINE_SESSION_DATA_DIR",
        "GEMINI_CLI_HOME",
        "XDG_DATA_HOME",
    )
    environ = {name: str(tmp_path / letter) for name, letter in zip(names, "abcdef", strict=True)}
    opencode(tmp_path / "f" / "opencode" / "opencode.db", ses_1="/w")
    found = [
        session(tmp_path / "a" / "projects" / "-w" / "1.jsonl", "/w"),
        rollout(tmp_path / "b" / "sessions" / "rollout-1.jsonl", "/w"),
        copilot(tmp_path / "c" / "session-state" / "1", "/w"),
        cline(tmp_path / "d" / "1", cwd="/w"),
        gemini(tmp_path / "e" / ".gemini" / "tmp" / "w", "session-1.jsonl", "/w"),
        f"{tmp_path}/f/opencode/opencode.db#ses_1",
    ]
    session(tmp_path / ".claude" / "projects" / "-w" / "1.jsonl", "/w")
    assert discover(str(tmp_path), "/w", environ) == found


def test_a_first_line_that_is_too_long_hides_no_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.extras.transcripts.files.MAX_BYTES", 20_000)
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
    gemini(tmp_path / "outside" / "g", "session-1.jsonl", "/w", "/w")
    copilot(tmp_path / "outside" / "p", "/w")
    cline(tmp_path / "outside" / "l", cwd="/w")
    opencode(tmp_path / "outside" / "o" / "opencode.db", ses_1="/w")
    for name, target in {
        ".gemini/tmp/g": "g", ".copilot/session-state/p": "p", ".copilot/session-state/q/events.jsonl": "p/events.jsonl",
        ".cline/data/sessions/l": "l", ".cline/data/sessions/m/m.messages.json": "l/l.messages.json",
        ".cline/data/sessions/m/m.json": "l/l.json", ".local/share/opencode/opencode.db": "o/opencode.db",
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).symlink_to(tmp_path / "outside" / target)
    assert discover(str(tmp_path), "/w", {}) == []


def test_long_names_are_cut_and_the_sessions_say_which_they_are(tmp_path: Path) -> None:
    project = "/w/" + "x" * 300
    folder = tmp_path / ".claude" / "projects" / f"{folder_name(project)[:200]}-1k2j3h"
    found = session(folder / "1.jsonl", project)
    session(folder / "2.jsonl", f"{project}y")
    session(folder / "3.jsonl", None)
    assert discover(str(tmp_path), project, {}) == [found]
    assert folder_name("/w/my.shop_é/😀") == "-w-my-shop-----", "as JavaScript makes names"


def test_how_much_is_looked_at_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "MOST_FILES", 2)
    for number in range(5):
        session(tmp_path / ".claude" / "projects" / "-w" / f"{number}.jsonl", "/w")
        rollout(tmp_path / ".codex" / "sessions" / "2026" / f"{number:02d}" / f"rollout-{number}.jsonl", "/w")
    found = [Path(path).name for path in discover(str(tmp_path), "/w", {})]
    assert len(found) <= 4


def test_a_session_is_found_by_its_id(tmp_path: Path) -> None:
    home = str(tmp_path)
    found = {
        "copilot": (copilot(tmp_path / ".copilot" / "session-state" / "9f-0c", "/w"), "9f-0c"),
        "cline": (cline(tmp_path / ".cline" / "data" / "sessions" / "1795_h"), "1795_h"),
        "opencode": (f"{home}/.local/share/opencode/opencode.db#ses_1", "ses_1"),
    }
    opencode(tmp_path / ".local" / "share" / "opencode" / "opencode.db")
    (tmp_path / ".local" / "share" / "opencode" / "opencode.db").touch()
    for agent, (path, session) in found.items():
        assert transcript_of(agent, session, home, {}) == path
    for agent, session in (
        ("copilot", "none"),
        ("copilot", "../session-state/9f-0c"),
        ("cline", ""),
        ("claude", "9f-0c"),
    ):
        assert transcript_of(agent, session, home, {}) == ""
