"""The transcripts of a project: only its own, and never through a link."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from memcli.extras.transcripts import discovery
from memcli.extras.transcripts.discovery import discover, folder_name, transcript_of
from tests.extras.transcripts import writers

Lines = list[dict[str, Any]]
DATABASE = ".local/share/opencode/opencode.db"


def claude(cwd: str | None) -> Lines:
    line = {"type": "user", "uuid": "1", "sessionId": "s", "message": {"content": "a"}, **({"cwd": cwd} if cwd else {})}
    return [{"type": "mode", "sessionId": "s"}, line]


def codex(cwd: str, **more: Any) -> Lines:
    return [{"type": "session_meta", "payload": {"id": "r", "cwd": cwd, **more}}]


def gemini(project: str) -> Lines:
    return [{"sessionId": "g", "projectHash": sha256(project.encode()).hexdigest()}]


def copilot(cwd: str) -> Lines:
    return [{"type": "session.start", "data": {"sessionId": "p", "context": {"cwd": cwd}}, "parentId": None}]


def cline(folder: str, **about: object) -> dict[str, Lines]:
    """The two files of a session of Cline, of which the second is the transcript."""
    path = f".cline/data/sessions/{folder}/{folder}"
    return {f"{path}.json": [about], f"{path}.messages.json": [writers.cline([])]}


LONG = "/w/" + "x" * 300
CUT = f".claude/projects/{folder_name(LONG)[:200]}-1k2j3h"
DAY = ".codex/sessions/2026/01/02"
CASES: Mapping[str, tuple[str, Mapping[str, Lines | bytes], Mapping[str, Lines | bytes]]] = {
    "claude": (
        "/w/my.shop",
        {
            ".claude/projects/-w-my-shop/1.jsonl": claude("/w/my.shop"),
            ".claude/projects/-w-my-shop/2.jsonl": claude(None),
            ".claude/projects/-w-my-shop-web/3.jsonl": claude("/w/my.shop/web"),
        },
        {
            ".claude/projects/-w-my-shop/4.jsonl": claude("/w/my-shop"),
            ".claude/projects/-w-my-shop-web/5.jsonl": claude("/w/my.shop-web"),
            ".claude/projects/-w-my-shop/agent-6.jsonl": claude("/w/my.shop"),
            ".claude/projects/-w-my-shop/1/subagents/agent-7.jsonl": claude("/w/my.shop"),
            ".claude/projects/-w-my-shop/notes.txt": claude("/w/my.shop"),
            ".claude/projects/-w-other/8.jsonl": claude("/w/my.shop"),
        },
    ),
    "claude cuts long names": (
        LONG, {f"{CUT}/1.jsonl": claude(LONG)}, {f"{CUT}/2.jsonl": claude(f"{LONG}y"), f"{CUT}/3.jsonl": claude(None)},
    ),
    "codex": (
        "/w/shop",
        {
            ".codex/archived_sessions/rollout-0.jsonl": codex("/w/shop"), f"{DAY}/rollout-1.jsonl": codex("/w/shop"),
            f"{DAY}/rollout-2.jsonl": codex("/w/shop/web/"),
        },
        {
            f"{DAY}/rollout-3.jsonl": codex("/w/shop2"), f"{DAY}/rollout-5.jsonl.zst": codex("/w/shop"),
            f"{DAY}/rollout-4.jsonl": codex("/w/shop", source={"subagent": "review"}),
            f"{DAY}/a/b/rollout-6.jsonl": codex("/w/shop"), f"{DAY}/rollout-7.jsonl": b"\xff",
        },
    ),
    "gemini": (  # by what the folder names, or by the hash of the project
        "/w/shop",
        {
            ".gemini/tmp/0a/chats/session-1.jsonl": gemini("/w/shop"),
            ".gemini/tmp/shop/chats/session-1.jsonl": gemini("/w/shop"),
            ".gemini/tmp/web/chats/session-1.jsonl": gemini("/w/shop/web"),
        },
        {
            ".gemini/tmp/shop/.project_root": b"/w/shop\n", ".gemini/tmp/web/.project_root": b"/w/shop/web\n",
            ".gemini/tmp/other/.project_root": b"/w/shop2\n",
            ".gemini/tmp/other/chats/session-1.jsonl": gemini("/w/shop"),
            ".gemini/tmp/0a/chats/session-2.jsonl": gemini("/w/other"),
            ".gemini/tmp/0a/chats/notes.jsonl": gemini("/w/shop"), ".gemini/tmp/0a/chats/session-3.jsonl": b"\xff[" * 9,
        },
    ),
    "copilot": (
        "/w/shop",
        {
            ".copilot/session-state/1/events.jsonl": copilot("/w/shop"),
            ".copilot/session-state/2/events.jsonl": copilot("/w/shop/web"),
        },
        {".copilot/session-state/3/events.jsonl": copilot("/w/shop2"), ".copilot/session-state/4/x": b""},
    ),
    "cline": (
        "/w/shop",
        {
            file: lines for of in (cline("1", cwd="/w/shop/web", workspace_root="/w"), cline("2", workspace_root="/w/shop"))
            for file, lines in of.items() if file.endswith(".messages.json")
        },
        {
            ".cline/data/sessions/1/1.json": [{"cwd": "/w/shop/web", "workspace_root": "/w"}],
            ".cline/data/sessions/2/2.json": [{"workspace_root": "/w/shop"}],
            **cline("3", cwd="/w/shop2"), **cline("4", cwd=["/w/shop"]),
            ".cline/data/sessions/5/5.json": [{"cwd": "/w/shop"}],
        },
    ),
}  # fmt: skip
"""For each agent a project, the sessions that took place in it, and files that are none of them."""


def write(home: Path, files: Mapping[str, Lines | bytes]) -> None:
    for file, content in files.items():
        (home / file).parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, bytes) else b"".join(map(writers.line, content))
        (home / file).write_bytes(data)


def paths(home: Path, files: Iterable[str]) -> list[str]:
    return sorted(str(home / file) for file in files)


def test_the_sessions_of_a_project_are_found_and_no_others(tmp_path: Path) -> None:
    for agent, (project, own, others) in CASES.items():
        home = tmp_path / agent
        write(home, {**own, **others})
        assert (agent, discover(str(home), project, {})) == (agent, paths(home, own))
        assert discover(str(home), "/w/none", {}) == discover(str(home / "none"), project, {}) == []
    assert folder_name("/w/my.shop_é/😀") == "-w-my-shop-----", "as JavaScript makes names"


def test_sessions_of_opencode_are_found_in_its_database(tmp_path: Path) -> None:
    path = tmp_path / DATABASE
    path.parent.mkdir(parents=True)
    for name, folder in (("ses_1", "/w/shop"), ("ses_2", "/w/shop/web"), ("ses_3", "/w/shop2")):
        writers.opencode(str(path), {name: []}, folder)
    found = [f"{path}#ses_1", f"{path}#ses_2"]
    assert discover(str(tmp_path), "/w/shop", {}) == found
    moved = [one.replace("/.local/share/", "/data/") for one in found]
    (tmp_path / "data").mkdir()
    path.parent.rename(tmp_path / "data" / "opencode")
    assert discover(str(tmp_path), "/w/shop", {"XDG_DATA_HOME": str(tmp_path / "data")}) == moved
    path.parent.mkdir()
    path.symlink_to(tmp_path / "data/opencode/opencode.db")
    assert discover(str(tmp_path), "/w/shop", {}) == []
    path.unlink()
    path.write_bytes((tmp_path / "data/opencode/opencode.db").read_bytes()[:5000])
    assert discover(str(tmp_path), "/w/shop", {}) == [str(path)], "so that its reader says what is wrong"


MOVED = {
    "CLAUDE_CONFIG_DIR": ("claude", ".claude/"), "CODEX_HOME": ("codex", ".codex/"), "GEMINI_CLI_HOME": ("gemini", ""),
    "COPILOT_HOME": ("copilot", ".copilot/"), "CLINE_SESSION_DATA_DIR": ("cline", ".cline/data/sessions/"),
    "CLINE_DATA_DIR": ("cline", ".cline/data/"), "CLINE_DIR": ("cline", ".cline/"),
}  # fmt: skip


def test_the_environment_says_where_agents_keep_their_files(tmp_path: Path) -> None:
    for variable, (agent, folder) in MOVED.items():
        project, own, others = CASES[agent]
        home, elsewhere = tmp_path / variable / "home", tmp_path / variable / "elsewhere"
        write(home, {**own, **others})
        write(elsewhere, {file.removeprefix(folder): lines for file, lines in {**own, **others}.items()})
        found = discover(str(home), project, {variable: str(elsewhere)})
        assert (variable, found) == (variable, paths(elsewhere, [file.removeprefix(folder) for file in own]))


def test_a_first_line_that_is_too_long_hides_no_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.extras.transcripts.files.MAX_BYTES", 20_000)
    long = [{"type": "x" * (2 << 20)}]
    write(tmp_path, {f".claude/projects/-w/{n}.jsonl": long + claude(cwd) for n, cwd in enumerate(("/w", "/x"))})
    assert discover(str(tmp_path), "/w", {}) == paths(tmp_path, [".claude/projects/-w/0.jsonl"])


def test_no_link_is_followed(tmp_path: Path) -> None:
    """Neither to the folder of a project or session, nor to a file."""
    for agent, (project, own, others) in CASES.items():
        outside, by_folder, by_file = (tmp_path / agent / name for name in ("outside", "folder", "file"))
        write(outside, {**own, **others})
        for file in own:
            root = next(
                name for name in ("archived_sessions", "sessions", "projects", "tmp", "session-state") if name in file
            )
            folder = Path(f"{file.partition(root)[0]}{root}", file.partition(f"{root}/")[2].split("/")[0])
            for home, link in ((by_folder, folder), (by_file, Path(file))):
                (home / link).parent.mkdir(parents=True, exist_ok=True)
                if not (home / link).is_symlink():
                    (home / link).symlink_to(outside / link)
        write(by_file, {file: lines for file, lines in others.items() if not (by_file / file).exists()})
        assert (agent, discover(str(by_folder), project, {}), discover(str(by_file), project, {})) == (agent, [], [])


def test_how_much_is_looked_at_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "MOST_FILES", 2)
    for n in range(5):
        write(
            tmp_path,
            {
                f".claude/projects/-w/{n}.jsonl": claude("/w"),
                f".codex/sessions/2026/{n:02d}/rollout-{n}.jsonl": codex("/w"),
            },
        )
    assert len(discover(str(tmp_path), "/w", {})) <= 4


def test_a_session_is_found_by_its_id(tmp_path: Path) -> None:
    found = {
        ("copilot", "9f-0c"): ".copilot/session-state/9f-0c/events.jsonl",
        ("cline", "1795_h"): ".cline/data/sessions/1795_h/1795_h.messages.json", ("opencode", "ses_1"): DATABASE,
    }  # fmt: skip
    write(tmp_path, dict.fromkeys(found.values(), b""))
    for (agent, name), file in found.items():
        part = "#ses_1" if agent == "opencode" else ""
        assert transcript_of(agent, name, str(tmp_path), {}) == f"{tmp_path}/{file}{part}"
    wrong = (("copilot", "none"), ("copilot", "../session-state/9f-0c"), ("cline", ""), ("claude", "9f-0c"))
    assert [transcript_of(agent, name, str(tmp_path), {}) for agent, name in wrong] == [""] * 4
