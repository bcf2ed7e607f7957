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


GEMINI: Mapping[str, tuple[Mapping[str, object], str]] = {
    "nothing": ({}, UNTRUSTED),
    "the folder": ({"{project}": "TRUST_FOLDER"}, ACTIVE),
    "a folder above": ({"{parent}": "TRUST_FOLDER"}, ACTIVE),
    "the one above a rule": ({"{parent}/other": "TRUST_PARENT"}, ACTIVE),
    "the nearest says no": ({"{parent}": "TRUST_FOLDER", "{project}": "DO_NOT_TRUST"}, UNTRUSTED),
    "the nearest says yes": ({"{parent}": "DO_NOT_TRUST", "{project}": "TRUST_FOLDER"}, ACTIVE),
    "another with the same start": ({"{parent}/pro": "TRUST_FOLDER"}, UNTRUSTED),
    "a folder below": ({"{project}/.gemini": "TRUST_FOLDER"}, UNTRUSTED),
    "an unknown level": ({"{project}": "TRUST_ALL"}, UNKNOWN),
}


def test_gemini_trusts_folders(tmp_path: Path) -> None:
    for case, (rules, expected) in GEMINI.items():
        site = place(tmp_path, "gemini")
        text = json.dumps(rules).replace("{project}", site.folder).replace("{parent}", os.path.dirname(site.folder))
        write(".gemini/trustedFolders.json", text)
        found = {role: state_of(site, "gemini", role) for role in ("mcp", "hooks", "skill", "instructions")}
        states = {role: state for role, (state, _) in found.items()}
        assert (case, states) == (case, {**dict.fromkeys(found, expected), "instructions": ACTIVE})
        off = "not trusted by Gemini CLI: hooks, MCP server and skill are off until you trust this folder"
        assert [found[role][1].startswith(off) for role in ("mcp", "hooks")] == [expected == UNTRUSTED] * 2


SETTINGS = '{"security": {"folderTrust": {"enabled": %s}}} // mine'


def test_gemini_need_not_ask(tmp_path: Path) -> None:
    for environ, settings, expected in (
        ({"GEMINI_CLI_TRUST_WORKSPACE": "true"}, "", ACTIVE),
        ({"GEMINI_CLI_TRUST_WORKSPACE": "1"}, "", UNTRUSTED),
        ({"GEMINI_CLI_TRUST_WORKSPACE": "false"}, SETTINGS % "false", UNTRUSTED),
        ({"GEMINI_RESTRICTED_MODE": "true", "GEMINI_CLI_TRUST_WORKSPACE": "true"}, "", UNTRUSTED),
        ({}, SETTINGS % "false", ACTIVE),
        ({}, SETTINGS % "true", UNTRUSTED),
        ({}, "{", UNKNOWN),
    ):
        site = place(tmp_path, "gemini", **environ)
        if settings:
            write(".gemini/settings.json", settings)
        assert (environ, settings, state_of(site, "gemini")[0]) == (environ, settings, expected)


def test_settings_of_the_system_decide_over_those_of_the_user(tmp_path: Path) -> None:
    system = write("system.json", SETTINGS % "true")
    write(".gemini/settings.json", SETTINGS % "false")
    assert state_of(place(tmp_path, "gemini", GEMINI_CLI_SYSTEM_SETTINGS_PATH=str(system)), "gemini")[0] == UNTRUSTED


def test_the_files_may_be_elsewhere(tmp_path: Path) -> None:
    for n, (name, variable, file, text) in enumerate((
        ("gemini", "GEMINI_CLI_HOME", ".gemini/trustedFolders.json", '{"{project}": "TRUST_FOLDER"}'),
        ("gemini", "GEMINI_CLI_TRUSTED_FOLDERS_PATH", "", '{"{project}": "TRUST_FOLDER"}'),
        ("copilot", "COPILOT_HOME", "config.json", '{"trustedFolders": ["{project}"]}'),
        ("codex", "CODEX_HOME", "config.toml", '[projects."{project}"]\ntrust_level = "trusted"'),
        ("claude", "CLAUDE_CONFIG_DIR", "settings.json", '{"enabledMcpjsonServers": ["memcli"]}'),
        ("claude", "CLAUDE_CONFIG_DIR", ".claude.json",
         '{"projects": {"{project}": {"hasTrustDialogAccepted": true, "enabledMcpjsonServers": ["memcli"]}}}'),
    )):  # fmt: skip
        path = tmp_path / f"elsewhere{n}" / file
        site = place(tmp_path, name, **{variable: str(tmp_path / f"elsewhere{n}")})
        assert state_of(site, name)[0] != ACTIVE
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("{project}", site.folder))
        assert (variable, file, state_of(site, name)[0]) == (variable, file, ACTIVE)


COPILOT = {
    "nothing": ("{}", UNTRUSTED),
    "the folder": ('// managed\n{"trustedFolders": ["{project}"]}', ACTIVE),
    "the older name": ('{"trustedFolders": [], "trusted_folders": ["{project}/"]}', ACTIVE),
    "a folder above": ('{"trustedFolders": ["{parent}"]}', ACTIVE),
    "another with the same start": ('{"trustedFolders": ["{parent}/pro"]}', UNTRUSTED),
    "a folder below": ('{"trustedFolders": ["{project}/.github"]}', UNTRUSTED),
    "not absolute": ('{"trustedFolders": ["."]}', UNTRUSTED),
    "no list": ('{"trustedFolders": "{project}"}', UNKNOWN),
    "no texts": ('{"trustedFolders": [1, "{project}"]}', UNKNOWN),
}


def test_copilot_trusts_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for case, (text, expected) in COPILOT.items():
        site = place(tmp_path, "copilot")
        monkeypatch.chdir(site.folder)
        parent = os.path.dirname(site.folder)
        write(".copilot/config.json", text.replace("{project}", site.folder).replace("{parent}", parent))
        found = [state_of(site, "copilot", role)[0] for role in ("mcp", "hooks", "skill")]
        assert (case, found) == (case, [expected, expected, ACTIVE])
        assert state_of(replace(site, environ={"COPILOT_ALLOW_ALL": "true"}), "copilot")[0] == ACTIVE


def test_a_folder_is_the_same_whatever_links_lead_there(tmp_path: Path) -> None:
    site = place(tmp_path, "copilot")
    (tmp_path / "link").symlink_to(os.path.dirname(site.folder))
    config = write("real.json", json.dumps({"trustedFolders": [str(tmp_path / "link")]}))
    write(".copilot/other", "")
    Path(os.environ["HOME"], ".copilot", "config.json").symlink_to(config)
    assert state_of(site, "copilot")[0] == ACTIVE
    assert state_of(replace(site, folder=str(tmp_path / "link" / "project")), "copilot")[0] == ACTIVE


ALL, LISTED, REJECTED = (
    {"enableAllProjectMcpServers": True}, {"enabledMcpjsonServers": ["memcli"]}, {"disabledMcpjsonServers": ["memcli"]},
)  # fmt: skip
TRUSTED = {"hasTrustDialogAccepted": True}
CLAUDE: Mapping[str, tuple[Mapping[str, object], str]] = {
    "nothing": ({}, PENDING),
    "the folder alone": ({"project": TRUSTED}, PENDING),
    "another server": ({"user": {"enabledMcpjsonServers": ["other"]}}, PENDING),
    "all by the user": ({"user": ALL}, ACTIVE),
    "this one by the user": ({"user": LISTED}, ACTIVE),
    "an answer": ({"project": {**TRUSTED, **LISTED}}, ACTIVE),
    "an answer without trust": ({"project": LISTED}, PENDING),
    "all by the project": ({"shared": ALL, "project": TRUSTED}, ACTIVE),
    "all by the project without trust": ({"shared": ALL}, PENDING),
    "this one by the clone": ({"local": LISTED, "project": TRUSTED}, ACTIVE),
    "this one by the clone without trust": ({"local": LISTED}, PENDING),
    "rejected": ({"project": {**TRUSTED, **LISTED, **REJECTED}}, DISABLED),
    "rejected by the clone": ({"user": ALL, "local": REJECTED}, DISABLED),
    "no list": ({"user": {"enabledMcpjsonServers": "memcli"}}, UNKNOWN),
    "no object": ({"project": ["memcli"]}, UNKNOWN),
}


def test_claude_approves_servers(tmp_path: Path) -> None:
    for case, (files, expected) in CLAUDE.items():
        site = place(tmp_path, "claude")
        for name, data in files.items():
            if name == "project":
                write(".claude.json", json.dumps({"projects": {site.folder: data}}))
            elif name == "user":
                write(".claude/settings.json", json.dumps(data))
            else:
                path = Path(site.folder, ".claude", "settings.json" if name == "shared" else "settings.local.json")
                kept = json.loads(path.read_text()) if path.exists() else {}
                path.write_text(json.dumps({**kept, **data}))  # type: ignore[dict-item]
        state, fix = state_of(site, "claude")
        is_pending = fix.startswith("pending approval (interactive use)")
        assert (case, state, is_pending) == (case, expected, expected == PENDING)
        assert state_of(site, "claude", "hooks")[0] == ACTIVE


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
