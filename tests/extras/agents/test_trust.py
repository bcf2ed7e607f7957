"""What `agent check` says of a client, by the files in which the client keeps what its user trusts.

The hashes and the meaning of each file are those of Claude Code 2.1.330, Codex 0.169.0, Gemini CLI 0.61.0 and Copilot CLI
1.0.102, which were asked.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from memcli.extras.agents.files import Site
from memcli.extras.agents.install import carry_out, check, plan_install
from memcli.record import replace

PENDING, UNTRUSTED, UNKNOWN, DISABLED, ACTIVE = "pending", "untrusted", "unknown", "disabled", "active"
HASHES = {
    "session_start": "27e8759730e628f4d3a15171a87a0c98e2121665bcf97df05f477b8f58aba353",
    "subagent_start": "839d6f782fbf7ab2e54299e41d3d6f51ff01b7fbc15fe486a441b631b7ea5f41",
    "user_prompt_submit": "712fa07dcaa5faf8def67a4137c7a4fca6f493d52c1750bd15ef2bbb0fabf70d",
    "pre_tool_use": "219ae909f9774739810f75ad81838aafda804f99d53c53a5f1bfb451703680e7",
    "post_compact": "cf9f37041d9d9bcf313add7773534a39d1deffd676a478c5304aafa6f82e7d34",
    "stop": "cd8154833fc552841154af6d5066d16d2d34b20ef27a5e1a54275b53857a6a1c",
    "session_end": "0d3bb4011f86f5f02bdad4d7476cb67dbff392aeaacb6805f02441133c1375b9",
}
"""What Codex computes for each of memcli's hooks."""


def place(folder: Path, name: str, **environ: str) -> Site:
    """A project below an empty home, where an agent is installed, and the environment of the user."""
    for old in (folder / "parent", *Path(os.environ["HOME"]).iterdir()):
        shutil.rmtree(old, ignore_errors=True) if old.is_dir() else old.unlink(missing_ok=True)
    project = folder / "parent" / "project"
    (project / ".memory").mkdir(parents=True)
    site = Site("project", str(project), str(project / ".memory" / "notes.json"))
    carry_out(site, plan_install(site, name))
    return replace(site, environ=environ)


def write(file: str, text: str) -> Path:
    path = Path(os.environ["HOME"], file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def state_of(site: Site, name: str, role: str = "mcp") -> tuple[str, str]:
    (row,) = (row for row in check(site, name) if row.role == role)
    return row.state, row.fix


Files = dict[str, object]
"""What a file of the user holds: a text, or a value that is written as JSON; below `{project}`, it is added to what is there."""
GEMINI, COPILOT, SETTINGS = ".gemini/trustedFolders.json", ".copilot/config.json", ".gemini/settings.json"
CLAUDE, USER, SHARED, LOCAL = (
    ".claude.json", ".claude/settings.json", "{project}/.claude/settings.json", "{project}/.claude/settings.local.json",
)  # fmt: skip
ALL, LISTED, REJECTED = (
    {"enableAllProjectMcpServers": True}, {"enabledMcpjsonServers": ["memcli"]}, {"disabledMcpjsonServers": ["memcli"]},
)  # fmt: skip
TRUSTED = {"hasTrustDialogAccepted": True}
ON = '{"security": {"folderTrust": {"enabled": true}}} // mine'
OFF = ON.replace("true", "false")


def folders(value: object, *, key: str = "trustedFolders") -> Files:
    return {COPILOT: {key: value}}


def entry(*data: object) -> Files:
    """What Claude Code keeps of the project."""
    merged = {name: value for one in data if isinstance(one, dict) for name, value in one.items()}
    return {CLAUDE: {"projects": {"{project}": merged if isinstance(data[0], dict) else data[0]}}}


WAITING = {"gemini": ("mcp", "hooks", "skill"), "copilot": ("mcp", "hooks"), "claude": ("mcp",)}
"""What each client does not use until its user lets it; the rest is active in every case."""
CASES: tuple[tuple[str, Mapping[str, str], Files, str], ...] = (
    ("gemini", {}, {GEMINI: {}}, UNTRUSTED),
    ("gemini", {}, {GEMINI: {"{project}": "TRUST_FOLDER"}}, ACTIVE),
    ("gemini", {}, {GEMINI: {"{parent}": "TRUST_FOLDER"}}, ACTIVE),
    ("gemini", {}, {GEMINI: {"{parent}/other": "TRUST_PARENT"}}, ACTIVE),
    ("gemini", {}, {GEMINI: {"{parent}": "TRUST_FOLDER", "{project}": "DO_NOT_TRUST"}}, UNTRUSTED),
    ("gemini", {}, {GEMINI: {"{parent}": "DO_NOT_TRUST", "{project}": "TRUST_FOLDER"}}, ACTIVE),
    ("gemini", {}, {GEMINI: {"{parent}/pro": "TRUST_FOLDER"}}, UNTRUSTED),
    ("gemini", {}, {GEMINI: {"{project}/.gemini": "TRUST_FOLDER"}}, UNTRUSTED),
    ("gemini", {}, {GEMINI: {"{project}": "TRUST_ALL"}}, UNKNOWN),
    ("gemini", {"GEMINI_CLI_TRUST_WORKSPACE": "true"}, {}, ACTIVE),
    ("gemini", {"GEMINI_CLI_TRUST_WORKSPACE": "1"}, {}, UNTRUSTED),
    ("gemini", {"GEMINI_CLI_TRUST_WORKSPACE": "false"}, {SETTINGS: OFF}, UNTRUSTED),
    ("gemini", {"GEMINI_RESTRICTED_MODE": "true", "GEMINI_CLI_TRUST_WORKSPACE": "true"}, {}, UNTRUSTED),
    ("gemini", {}, {SETTINGS: OFF}, ACTIVE),
    ("gemini", {}, {SETTINGS: ON}, UNTRUSTED),
    ("gemini", {}, {SETTINGS: "{"}, UNKNOWN),
    (
        "gemini",
        {"GEMINI_CLI_SYSTEM_SETTINGS_PATH": "{home}/system.json"},
        {"system.json": ON, SETTINGS: OFF},
        UNTRUSTED,
    ),
    ("gemini", {"GEMINI_CLI_HOME": "{home}/x"}, {f"x/{GEMINI}": {"{project}": "TRUST_FOLDER"}}, ACTIVE),
    ("gemini", {"GEMINI_CLI_TRUSTED_FOLDERS_PATH": "{home}/x"}, {"x": {"{project}": "TRUST_FOLDER"}}, ACTIVE),
    ("copilot", {}, {COPILOT: "{}"}, UNTRUSTED),
    ("copilot", {}, {COPILOT: '// managed\n{"trustedFolders": ["{project}"]}'}, ACTIVE),
    ("copilot", {}, folders(["{project}/"], key="trusted_folders"), ACTIVE),
    ("copilot", {}, folders(["{parent}"]), ACTIVE),
    ("copilot", {}, folders(["{parent}/pro"]), UNTRUSTED),
    ("copilot", {}, folders(["{project}/.github"]), UNTRUSTED),
    ("copilot", {}, folders(["."]), UNTRUSTED),
    ("copilot", {}, folders("{project}"), UNKNOWN),
    ("copilot", {}, folders([1, "{project}"]), UNKNOWN),
    ("copilot", {"COPILOT_ALLOW_ALL": "true"}, folders(1), ACTIVE),
    ("copilot", {"COPILOT_HOME": "{home}/x"}, {"x/config.json": {"trustedFolders": ["{project}"]}}, ACTIVE),
    ("claude", {}, {}, PENDING),
    ("claude", {}, entry(TRUSTED), PENDING),
    ("claude", {}, {USER: {"enabledMcpjsonServers": ["other"]}}, PENDING),
    ("claude", {}, {USER: ALL}, ACTIVE),
    ("claude", {}, {USER: LISTED}, ACTIVE),
    ("claude", {}, entry(TRUSTED, LISTED), ACTIVE),
    ("claude", {}, entry(LISTED), PENDING),
    ("claude", {}, {SHARED: ALL, **entry(TRUSTED)}, ACTIVE),
    ("claude", {}, {SHARED: ALL}, PENDING),
    ("claude", {}, {LOCAL: LISTED, **entry(TRUSTED)}, ACTIVE),
    ("claude", {}, {LOCAL: LISTED}, PENDING),
    ("claude", {}, entry(TRUSTED, LISTED, REJECTED), DISABLED),
    ("claude", {}, {USER: ALL, LOCAL: REJECTED}, DISABLED),
    ("claude", {}, {USER: {"enabledMcpjsonServers": "memcli"}}, UNKNOWN),
    ("claude", {}, entry(["memcli"]), UNKNOWN),
    ("claude", {"CLAUDE_CONFIG_DIR": "{home}/x"}, {"x/settings.json": LISTED}, ACTIVE),
    ("claude", {"CLAUDE_CONFIG_DIR": "{home}/x"}, {"x/.claude.json": entry(TRUSTED, LISTED)[CLAUDE]}, ACTIVE),
)
FIXES = {
    ("gemini", UNTRUSTED): "not trusted by Gemini CLI: hooks, MCP server and skill are off until you trust this folder",
    ("copilot", UNTRUSTED): "not trusted by Copilot CLI: hooks and MCP server are off",
    ("claude", PENDING): "pending approval (interactive use)", ("claude", DISABLED): "rejected in ",
}  # fmt: skip


@pytest.mark.parametrize("client", WAITING)
def test_what_a_client_lets_run(client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for _, environ, files, expected in (case for case in CASES if case[0] == client):
        site = place(tmp_path, client)
        monkeypatch.chdir(site.folder)
        names = {"{project}": site.folder, "{parent}": os.path.dirname(site.folder), "{home}": os.environ["HOME"]}

        def filled(text: str, names: Mapping[str, str] = names) -> str:
            for name, path in names.items():
                text = text.replace(name, path)
            return text

        for file, content in files.items():
            path = Path(os.environ["HOME"], filled(file))
            kept = json.loads(path.read_text()) if "{project}" in file and path.exists() else {}
            data = {**kept, **content} if isinstance(content, dict) else content
            write(str(path), filled(data if isinstance(data, str) else json.dumps(data)))
        site = replace(site, environ={name: filled(value) for name, value in environ.items()})
        rows = {row.role: row for row in check(site, client)}
        states = dict.fromkeys(rows, ACTIVE) | dict.fromkeys(WAITING[client], expected)
        assert (environ, files, {role: row.state for role, row in rows.items()}) == (environ, files, states)
        trusts_none = "GEMINI_RESTRICTED_MODE" in environ or environ.get("GEMINI_CLI_TRUST_WORKSPACE") == "false"
        fix = "Gemini CLI trusts no folder" if trusts_none else FIXES.get((client, expected), "")
        assert all(rows[role].fix.startswith(fix) for role in WAITING[client])


def test_a_folder_is_the_same_whatever_links_lead_there(tmp_path: Path) -> None:
    site = place(tmp_path, "copilot")
    (tmp_path / "link").symlink_to(os.path.dirname(site.folder))
    config = write("real.json", json.dumps({"trustedFolders": [str(tmp_path / "link")]}))
    write(".copilot/other", "")
    Path(os.environ["HOME"], ".copilot", "config.json").symlink_to(config)
    assert state_of(site, "copilot")[0] == ACTIVE
    assert state_of(replace(site, folder=str(tmp_path / "link" / "project")), "copilot")[0] == ACTIVE


def codex_config(site: Site, hashes: Mapping[str, str], place: str = "0:0", more: str = "") -> None:
    hooks = "".join(
        f'[hooks.state."{site.folder}/.codex/hooks.json:{event}:{place}"]\ntrusted_hash = "{known}"\n{more}'
        for event, known in hashes.items()
    )
    write(".codex/config.toml", f'[projects."{site.folder}"]\ntrust_level = "trusted"\n{hooks}')


APPROVED = {event: f"sha256:{known}" for event, known in HASHES.items()}


def test_codex_trusts_a_project_and_each_hook_as_it_is(tmp_path: Path) -> None:
    site = place(tmp_path, "codex")
    assert [state_of(site, "codex", role)[0] for role in ("mcp", "hooks")] == [UNTRUSTED] * 2
    codex_config(site, {})
    state, fix = state_of(site, "codex", "hooks")
    assert (state, "until you approve them" in fix, state_of(site, "codex")[0]) == (PENDING, True, ACTIVE)
    codex_config(site, APPROVED)
    assert state_of(site, "codex", "hooks") == (ACTIVE, "")
    elsewhere = Path(os.environ["HOME"], ".codex").rename(tmp_path / "elsewhere")
    assert state_of(replace(site, environ={"CODEX_HOME": str(elsewhere)}), "codex", "hooks") == (ACTIVE, "")
    codex_config(site, {**APPROVED, "stop": APPROVED["session_start"]})
    assert "skips 1 hook until" in state_of(site, "codex", "hooks")[1]
    codex_config(site, {**APPROVED, "stop": "version-2:abc"})
    assert state_of(site, "codex", "hooks")[0] == UNKNOWN
    codex_config(site, APPROVED, place="0:1")
    assert state_of(site, "codex", "hooks")[0] == PENDING
    codex_config(site, APPROVED, more="enabled = false\n")
    assert state_of(site, "codex", "hooks")[0] == PENDING
    codex_config(site, APPROVED)
    carry_out(site, plan_install(site, "codex", next_turn=True))
    state, fix = state_of(site, "codex", "hooks")
    assert (state, "skips 1 hook until" in fix) == (PENDING, True), "one has changed"


def test_what_codex_computes_of_an_edited_hook_may_be_unknown(tmp_path: Path) -> None:
    """Beside another hook in its group, memcli's counts as installed whatever else the user gave it."""
    cases: tuple[tuple[dict[str, object], dict[str, object], str], ...] = (
        ({"statusMessage": "Süß"}, {}, PENDING),
        ({"async": False}, {}, ACTIVE),
        ({"new": 1}, {}, UNKNOWN),
        ({"timeout": "5"}, {}, UNKNOWN),
        ({"statusMessage": None}, {}, UNKNOWN),
        ({}, {"new": 1}, UNKNOWN),
        ({}, {"matcher": "x"}, UNKNOWN),
    )
    for handler, group, expected in cases:
        site = place(tmp_path, "codex")
        path = Path(site.folder, ".codex", "hooks.json")
        data = json.loads(path.read_text())
        entry = data["hooks"]["Stop"][0]
        entry["hooks"][0].update(handler)
        entry["hooks"].append({"type": "command", "command": "notify"})
        entry.update(group)
        path.write_text(json.dumps(data))
        codex_config(site, APPROVED)
        assert (handler, group, state_of(site, "codex", "hooks")[0]) == (handler, group, expected)


STATE_FILES = {
    "gemini": ".gemini/trustedFolders.json", "copilot": ".copilot/config.json", "codex": ".codex/config.toml",
    "claude": ".claude.json",
}  # fmt: skip
BAD = {"cut": b'{"a', "binary": b"\xff\xfe\x00", "a list": b"[1]", "too deep": b"[" * 2000}


def test_a_file_that_cannot_be_understood_makes_it_unknown(tmp_path: Path) -> None:
    for name, file in STATE_FILES.items():
        site = place(tmp_path, name)
        path = write(file, "")
        for bad, content in BAD.items():
            path.write_bytes(content)
            state, fix = state_of(site, name)
            expected = UNTRUSTED if (name, bad) == ("codex", "a list") else UNKNOWN  # which is a table in TOML
            assert (name, bad, state) == (name, bad, expected)
            assert expected == UNTRUSTED or str(path) in fix
            assert "nothing was changed" not in fix
        path.unlink()
        os.mkfifo(path)
        assert state_of(site, name) == (UNKNOWN, f"cannot read {path}: it is not a regular file (move it away)")
        path.unlink()
        path.write_text("{}")
        path.chmod(0)
        if not os.access(path, os.R_OK):
            assert state_of(site, name) == (UNKNOWN, f"cannot read {path}: Permission denied (check its permissions)")
