"""Installing and uninstalling every agent in every scope: foreign bytes stay, twice changes nothing, and all comes back."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import tomllib
from collections.abc import Callable, Mapping
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from memcli.errors import StoreError, UsageError
from memcli.extras.agents import splice
from memcli.extras.agents.events import NATIVE, hook_command
from memcli.extras.agents.files import Site
from memcli.extras.agents.install import carry_out, check, is_installed, plan_install, plan_uninstall, states
from memcli.extras.agents.parts import ACTIVE, Whole
from memcli.extras.agents.table import AGENTS, PROJECT, SKILL_TEXT
from memcli.extras.agents.table import INSTRUCTIONS as BLOCK
from memcli.record import replace
from tests.conftest import Run
from tests.extras.agents.awkward import texts_for

CASES = [(name, scope) for name, agent in AGENTS.items() for scope in agent.scopes]
unshrunk = settings(phases=[Phase.generate])  # what is drawn is large, and shrinks for minutes
WAITING = {
    ("claude", "project"): {"mcp": "pending"},
    ("codex", "project"): {"mcp": "untrusted", "hooks": "untrusted"},
    ("codex", "user"): {"hooks": "pending"},
    ("copilot", "project"): {"mcp": "untrusted", "hooks": "untrusted"},
    ("gemini", "project"): {"mcp": "untrusted", "hooks": "untrusted", "skill": "untrusted"},
}
"""What each client does not use of a fresh installation until its user lets it."""


@pytest.fixture(autouse=True)
def homes(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Nothing leads to a real home directory, and memcli is on PATH."""
    for name in list(os.environ):
        if name.startswith(("CLAUDE_", "CLINE_", "CODEX_", "COPILOT_", "GEMINI_", "XDG_")):
            monkeypatch.delenv(name)
    tools = tmp_path_factory.mktemp("bin")
    (tools / "memcli").write_text("#!/bin/sh\n")
    (tools / "memcli").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")


def tree(folder: Path, *, without: tuple[str, ...] = (".git", ".memory")) -> dict[str, Any]:
    """Every file and folder below a folder, with its bytes and mode."""
    found: dict[str, Any] = {}
    for base, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in without]
        for name in (*folders, *files):
            path = Path(base, name)
            mode = stat.S_IMODE(path.lstat().st_mode)
            content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
            found[str(path.relative_to(folder))] = (content, mode)
    return found


def site(folder: Path | str, scope: str = PROJECT) -> Site:
    Path(folder, ".memory").mkdir(parents=True, exist_ok=True)  # only `init` makes the root of a store
    return Site(scope, str(folder), str(Path(folder, ".memory", "local", "agents.installed.json")))


def install(place: Site, *names: str) -> None:
    for name in names:
        carry_out(place, plan_install(place, name))


def uninstall(place: Site, *names: str) -> None:
    for name in names:
        carry_out(place, plan_uninstall(place, name))


def approve_of_claude() -> None:
    """As a user does who lets Claude Code start every MCP server of a project."""
    settings = Path(os.environ["HOME"], ".claude", "settings.json")
    settings.parent.mkdir()
    settings.write_text('{"enableAllProjectMcpServers": true}')


def without_comments(text: str) -> Any:
    node = splice.parse(text)
    return None if node is None else node.value


def is_within(part: Any, whole: Any) -> bool:
    """Whether all of a JSON value is in another one, where null and an empty object or list stand for nothing."""
    if part in (None, {}, []):
        return True
    if isinstance(part, dict):
        whole = {} if whole is None else whole
        return isinstance(whole, dict) and all(is_within(v, whole.get(k)) for k, v in part.items())
    if isinstance(part, list):
        return isinstance(whole, list) and all(any(one == other for other in whole) for one in part)
    return bool(part == whole)


def loses_nothing(file: str, old: str, new: str) -> bool:
    """Whether the new text of a file still has all values that the old text had."""
    if file.endswith(".json"):
        return is_within(without_comments(old), without_comments(new))
    if file.endswith(".toml"):
        return is_within(tomllib.loads(old.replace("\r\n", "\n")), tomllib.loads(new.replace("\r\n", "\n")))
    return new.replace("\r\n", "\n").strip().startswith(old.replace("\r\n", "\n").strip())


def test_contract(tmp_path: Path) -> None:
    """Every agent in every scope: install, check, install again, uninstall."""
    for name, scope in CASES:
        folder = tmp_path / f"{name} {scope}"
        place = site(folder, scope)
        install(place, name)
        states_now = {row.role: row.state for row in check(place, name)}
        expected = dict.fromkeys((part.role for part in AGENTS[name].scopes[scope]), ACTIVE)
        assert (name, scope, states_now) == (name, scope, expected | WAITING.get((name, scope), {}))
        after = tree(folder)
        text = b"".join(content for content, _ in after.values() if content).decode()
        hooks = NATIVE.get(name, {}) if name not in ("generic", "opencode") else ()
        assert [event for event in hooks if hook_command(event, name) not in text] == []
        for file in folder.rglob("*.json"):
            json.loads(file.read_text())
        for file in folder.rglob("*.toml"):
            assert tomllib.loads(file.read_text())["mcp_servers"]["memcli"] == {"command": "memcli", "args": ["mcp"]}
        assert plan_install(place, name).changes == ()
        uninstall(place, name)
        assert (name, scope, tree(folder)) == (name, scope, {})


def test_by_the_command_line(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the project and for the user, whose folder of settings may be elsewhere."""
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "elsewhere"))
    run("init")
    before = tree(tmp_path)
    for flags, scope, file in (((), "project", ".codex/hooks.json"), (("--user",), "user", "elsewhere/hooks.json")):
        assert run("agent", "install", "codex", *flags, "--dry-run").out.startswith("--- ")
        assert tree(tmp_path) == before
        done = run("agent", "install", "codex", *flags)
        after = tree(tmp_path)
        assert (done.code, file in after, (tmp_path / ".codex").exists()) == (0, True, scope == "project")
        assert [
            line for line in done.out.splitlines() if not os.path.exists(os.path.expanduser(line.split(" ", 1)[1]))
        ] == []
        assert {part["state"] for part in run("agent", "check", "codex", "--json").json["parts"]} > {ACTIVE}
        assert run("agent", "install", "codex", *flags).out == "codex: nothing to change\n"
        assert scope in run("agent", "list", "--json").json[list(AGENTS).index("codex")]["installed"]
        assert run("agent", "uninstall", "codex", *flags).code == 0
        assert tree(tmp_path) == before
        assert run("agent", "uninstall", "codex", *flags).out == "codex is not installed\n"


def test_what_agents_are_told_is_short_and_names_only_commands_that_exist() -> None:
    from memcli.cli.verb import Group, find, find_verb

    description = re.search(r"^description: (.*)$", SKILL_TEXT, re.MULTILINE)
    assert description
    assert len(description[1]) <= 1_024
    for text in (BLOCK, SKILL_TEXT):
        assert len(text.encode()) < 1_500
        for line in re.findall(r"`[^`]*memcli ([^`]+)`", text):
            verb, *words = line.split()
            below = find(verb)
            assert below is not None
            found = find_verb(f"{verb} {words[0]}" if isinstance(below, Group) and words[0] in below.verbs else verb)
            options = {flag for field in found.options.FIELDS.values() for flag in field.flags}
            assert {word for word in words if word.startswith("--")} <= options


def draw_files(data: st.DataObject, folder: str, *names: str) -> dict[str, str]:
    """Writes some of the files that the agents share with their users; the texts."""
    files = sorted({p.file for n in names for p in AGENTS[n].scopes[PROJECT] if not isinstance(p, Whole)})
    made = {}
    for file in data.draw(st.lists(st.sampled_from(files), unique=True)) if files else ():
        path = Path(folder, file)
        path.parent.mkdir(parents=True, exist_ok=True)
        made[file] = data.draw(texts_for(file))
        path.write_bytes(made[file].encode())
        path.chmod(data.draw(st.sampled_from([0o644, 0o600, 0o664])))
    return made


@given(data=st.data())
@unshrunk
def test_install_and_uninstall_restore_every_byte(data: st.DataObject) -> None:
    """Of any agents, in any order, whatever is in the files; twice changes nothing; a refusal changes nothing."""
    names = data.draw(st.lists(st.sampled_from(list(AGENTS)), min_size=1, max_size=3, unique=True))
    with TemporaryDirectory(dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")) as folder:
        place = site(folder)
        files = draw_files(data, folder, *names)
        before = tree(Path(folder))
        done = []
        for name in names:
            state = tree(Path(folder))
            try:
                install(place, name)
            except UsageError:
                assert tree(Path(folder)) == state
                continue
            done.append(name)
            state = tree(Path(folder))
            assert plan_install(place, name).changes == ()
            install(place, name)
            assert tree(Path(folder)) == state
            assert is_installed(place, name)
        for file, old in files.items() if done else ():
            new = Path(folder, file).read_bytes().decode()
            assert loses_nothing(file, old, new)
            notes = [note for note in ("// note, with a comma", "/* block */") if note in old]
            assert [note for note in notes if note not in new] == []
        uninstall(place, *data.draw(st.permutations(done)))
        assert tree(Path(folder)) == before


@given(data=st.data())
@unshrunk
def test_without_notes_only_what_is_memclis_goes(data: st.DataObject) -> None:
    """As in another clone, or after an edit: nothing foreign is lost, and nothing of memcli stays."""
    name = data.draw(st.sampled_from(list(AGENTS)))
    with TemporaryDirectory(dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")) as folder:
        place = site(folder)
        before = {Path(folder, file): text for file, text in draw_files(data, folder, name).items()}
        try:
            install(place, name)
        except UsageError:
            return
        shutil.rmtree(Path(folder, ".memory"), ignore_errors=True)
        installed = tree(Path(folder))
        assert plan_install(place, name).changes == ()
        assert tree(Path(folder)) == installed
        uninstall(place, name)
        assert not is_installed(place, name)
        assert all(state != "stale" for _, _, state in states(place, name))
        for path, old in before.items():
            new = path.read_bytes().decode() if path.exists() else ""
            if path.suffix == ".json":
                kept = without_comments(old)
                if isinstance(kept, dict) and kept.get("version") == 1 and is_within({**kept, "version": None}, {}):
                    continue  # memcli writes a version too
            assert loses_nothing(path.name, old, new)
            assert path.suffix != ".md" or loses_nothing(path.name, new, old)


def _link(path: Path) -> None:
    path.parent.joinpath("elsewhere").write_text("{}")
    path.symlink_to("elsewhere")


def _read_only(path: Path) -> None:
    path.write_text("{}")
    path.chmod(0o444)


NOT_EDITABLE: Mapping[str, bytes | Callable[[Path], object]] = {
    "no JSON": b"hello", "cut": b'{"hooks": {', "a list": b"[]", "hooks of another shape": b'{"hooks": []}',
    "an event of another shape": b'{"hooks": {"sessionStart": "x"}}', "binary": bytes(range(256)),
    "two values": b"{} {}", "nested deeply": b"[" * 100_000, "huge": b"{}" + b" " * (16 << 20),
    "a link": _link, "read-only": _read_only, "a pipe": os.mkfifo, "a folder": Path.mkdir,
    "below a link": lambda path: (path.parent.rmdir(), path.parent.symlink_to(os.environ["HOME"])),
}  # fmt: skip


def test_settings_that_cannot_be_edited_are_left_alone(tmp_path: Path, run: Run) -> None:
    for name, content in NOT_EDITABLE.items():
        folder = tmp_path / name
        path = folder / ".cursor" / "hooks.json"
        path.parent.mkdir(parents=True)
        path.write_bytes(content) if isinstance(content, bytes) else content(path)
        before = tree(folder)
        with pytest.raises(UsageError) as raised:
            install(site(folder), "cursor")
        assert (name, str(path.parent) in str(raised.value), tree(folder)) == (name, True, before)
    run("init")
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor" / "hooks.json").write_bytes(b"hello")
    done = run("agent", "install", "cursor")
    assert (done.code, done.out, done.err.count("\n"), "nothing was changed" in done.err) == (2, "", 1, True)


@pytest.mark.parametrize("plan", [plan_install, plan_uninstall])
def test_a_folder_that_becomes_a_link_after_the_plan_is_not_written(tmp_path: Path, plan: Any) -> None:
    project = tmp_path / "project"
    project.mkdir()
    if plan is plan_uninstall:
        install(site(project), "cursor")
    (project / ".cursor").mkdir(exist_ok=True)
    planned = plan(site(project), "cursor")
    (project / ".cursor").rename(tmp_path / "outside")
    (project / ".cursor").symlink_to(tmp_path / "outside")
    before = tree(tmp_path / "outside")
    with pytest.raises(StoreError):
        carry_out(site(project), planned)
    assert tree(tmp_path / "outside") == before


def test_a_failure_on_the_way_takes_everything_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from memcli.extras.agents import files

    (tmp_path / "AGENTS.md").write_text("# Rules\n")
    before = tree(tmp_path)
    write, calls = files.write_file, []

    def failing(path: str, *rest: Any, **more: Any) -> Any:
        calls.append(path)
        if path.endswith("hooks.json"):
            raise StoreError("disk full", "")
        return write(path, *rest, **more)

    monkeypatch.setattr(files, "write_file", failing)
    with pytest.raises(StoreError):
        install(site(tmp_path), "cursor")
    assert len(calls) > 2
    assert tree(tmp_path) == before


def test_a_link_between_the_instructions_of_two_agents_is_followed(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("# Rules\n")
    (tmp_path / "AGENTS.md").symlink_to("CLAUDE.md")
    before = tree(tmp_path)
    install(site(tmp_path), "claude")
    text = (tmp_path / "CLAUDE.md").read_text()
    assert (text.count("memcli: begin"), "@AGENTS.md" in text, (tmp_path / "AGENTS.md").is_symlink()) == (
        1,
        False,
        True,
    )
    uninstall(site(tmp_path), "claude")
    assert tree(tmp_path) == before


def test_instructions_that_import_the_others_need_no_block(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("# Rules\n@AGENTS.md\n")
    approve_of_claude()
    install(site(tmp_path), "claude")
    assert (tmp_path / "CLAUDE.md").read_text() == "# Rules\n@AGENTS.md\n"
    assert all(row.is_fine for row in check(site(tmp_path), "claude"))


def test_shared_files_stay_while_an_agent_needs_them(tmp_path: Path) -> None:
    """Also in another clone, without the notes of the installation."""
    orders = list(permutations(["claude", "copilot", "codex"]))
    for order, has_notes in [*((order, True) for order in orders), (orders[0], False), (orders[-1], False)]:
        folder = tmp_path / f"{'-'.join(order)} {has_notes}"
        place = site(folder)
        install(place, *sorted(order))
        if not has_notes:
            shutil.rmtree(folder / ".memory")
        for n, name in enumerate(order):
            uninstall(place, name)
            for other in order[n + 1 :]:
                assert all(state == ACTIVE for _, _, state in states(place, other)), (order, name, other)
        assert tree(folder) == {}


def test_a_user_may_add_to_what_was_installed(tmp_path: Path) -> None:
    place = site(tmp_path)
    install(place, "claude")
    path = tmp_path / ".claude" / "settings.json"
    data = json.loads(path.read_text())
    data["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "notify"})
    data["model"] = "opus"
    path.write_text(json.dumps(data))
    assert plan_install(place, "claude").changes == ()
    uninstall(place, "claude")
    assert json.loads(path.read_text()) == {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "notify"}]}]}, "model": "opus",
    }  # fmt: skip
    assert not (tmp_path / "AGENTS.md").exists()


def test_what_is_out_of_date_is_found_and_mended(tmp_path: Path) -> None:
    place = site(tmp_path)
    install(place, "claude")
    for file, old, new in (
        ("AGENTS.md", "Project memory", "Old memory"), (".mcp.json", '"mcp"', '"serve"'),
        (".claude/settings.json", '"timeout": 5', '"timeout": 50'), (".claude/skills/memcli/SKILL.md", "Recall:", "Ask:"),
    ):  # fmt: skip
        path = tmp_path / file
        path.write_text(path.read_text().replace(old, new))
    rows = check(place, "claude")
    assert [row.state for row in rows] == ["stale"] * 4
    assert {row.fix for row in rows} == {"run `memcli agent install claude`"}
    install(place, "claude")
    approve_of_claude()
    assert all(row.is_fine for row in check(place, "claude"))
    uninstall(place, "claude")
    assert tree(tmp_path) == {}


PRE_COMPRESS = {"hooks": [{"type": "command", "command": "memcli hook run after-compaction --agent gemini"}]}


def test_a_hook_that_older_versions_installed_is_taken_out(tmp_path: Path) -> None:
    place = site(tmp_path)
    install(place, "gemini")
    path = tmp_path / ".gemini" / "settings.json"
    data = json.loads(path.read_text())
    assert "PreCompress" not in data["hooks"]
    assert data["hooks"]["BeforeTool"] == data["hooks"]["AfterTool"]
    data["hooks"]["PreCompress"] = [PRE_COMPRESS, {"hooks": [{"type": "command", "command": "mine"}]}]
    path.write_text(json.dumps(data))
    assert [row.state for row in check(place, "gemini") if row.role == "hooks"] == ["stale"]
    install(place, "gemini")
    assert json.loads(path.read_text())["hooks"]["PreCompress"] == data["hooks"]["PreCompress"][1:]
    assert "stale" not in [row.state for row in check(place, "gemini")]
    path.write_text(json.dumps({"hooks": {"PreCompress": [PRE_COMPRESS]}}))
    uninstall(place, "gemini")
    assert tree(tmp_path) == {}
    assert not is_installed(place, "gemini")


SCHEMA = "https://opencode.ai/config.json"


def test_what_opencode_adds_to_its_settings_goes_with_them(tmp_path: Path) -> None:
    """It writes the address of its schema into a file that has none."""
    for own, has_notes in (({}, True), ({}, False), ({"model": "x"}, True), ({"model": "x"}, False)):
        folder = tmp_path / f"{len(own)} {has_notes}"
        place = site(folder)
        install(place, "opencode")
        path = folder / "opencode.json"
        data = json.loads(path.read_text())
        assert data.pop("$schema") == SCHEMA
        path.write_text(json.dumps({"$schema": SCHEMA, **data, **own}))
        if not has_notes:
            shutil.rmtree(folder / ".memory")
        uninstall(place, "opencode")
        assert (json.loads(path.read_text()) if path.exists() else {}) == ({"$schema": SCHEMA, **own} if own else {})


def test_a_foreign_script_is_left_as_it_is(run: Run, tmp_path: Path) -> None:
    script = tmp_path / ".clinerules" / "hooks" / "PreToolUse"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\necho mine\n")
    run("init")
    done = run("agent", "install", "cline")
    assert (done.code, f"{script} is not memcli's" in done.err) == (0, True)
    checked = run("agent", "check", "cline")
    assert (checked.code, "foreign" in checked.out) == (6, True)
    run("agent", "uninstall", "cline")
    assert script.read_text() == "#!/bin/sh\necho mine\n"
    assert sorted(os.listdir(script.parent)) == ["PreToolUse"]


def test_what_keeps_an_installation_from_working_is_reported(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice installed, hooks switched off, another file first, and no memcli on PATH."""
    run("agent", "install", "zed")
    checked = run("agent", "check", "zed", "--json")
    remark = "Zed: by its documents of November 2026, not tried with the program"
    assert (checked.code, checked.json["remarks"]) == (0, [remark]), "which is no reason to fail"
    assert remark in run("agent", "check", "zed").err
    (tmp_path / ".rules").write_text("x")
    assert "Zed reads .rules" in run("agent", "install", "zed").err
    run("agent", "install", "claude", "--user")
    assert "claude is installed for project and user" in run("agent", "install", "claude").err
    settings = tmp_path / ".claude" / "settings.json"
    settings.write_text(json.dumps({"disableAllHooks": True, **json.loads(settings.read_text())}))
    monkeypatch.setenv("PATH", os.devnull)
    checked = run("agent", "check")
    assert (checked.code, "disableAllHooks" in checked.out) == (6, True)
    assert [text for text in ("uninstall claude --user", "not on PATH") if text not in checked.err] == []


def test_doctor_tells_of_agents(run: Run, tmp_path: Path) -> None:
    run("init")
    assert "none connected" in run("doctor").out
    run("agent", "install", "claude")
    assert re.search(r"ok +agents +claude \(pending: see `memcli agent check`\)$", run("doctor").out, re.MULTILINE)
    approve_of_claude()
    assert re.search(r"ok +agents +claude$", run("doctor").out, re.MULTILINE)
    (tmp_path / "AGENTS.md").unlink()
    run("off")
    assert re.search(r"FAIL +agents +claude; memory is off .*memcli agent check", run("doctor").out)


def test_install_makes_a_store_and_init_connects_agents(run: Run, tmp_path: Path) -> None:
    assert run("agent", "install", "generic", "--dry-run").code == 0
    assert not (tmp_path / ".memory").exists()
    done = run("agent", "install", "generic")
    assert (done.code, "created a store" in done.err) == (0, True)
    assert (tmp_path / ".memory" / "spaces").is_dir()
    assert run("init", "--agent", "claude", "--agent", "codex").code == 0
    assert [(tmp_path / file).is_file() for file in (".claude/settings.json", ".codex/hooks.json")] == [True, True]
    assert run("init", "--agent", "nobody").code == 2


def test_wrong_names_and_scopes(run: Run, tmp_path: Path) -> None:
    for words in (("nobody",), ("generic", "--user"), ("zed", "--local"), ("claude", "--user", "--local")):
        assert [run("agent", verb, *words).code for verb in ("install", "uninstall")] == [2, 2], words
    assert os.listdir(tmp_path) == [".git"]


def test_settings_of_a_user_may_be_elsewhere(tmp_path: Path) -> None:
    for name, variable, file in (
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("cline", "CLINE_DIR", "data/settings/cline_mcp_settings.json"),
        ("cline", "CLINE_DATA_DIR", "settings/cline_mcp_settings.json"),
        ("cline", "CLINE_MCP_SETTINGS_PATH", ""),
    ):
        place = replace(site(tmp_path / "home", "user"), environ={variable: str(tmp_path / variable)})
        install(place, name)
        assert "memcli" in json.loads((tmp_path / variable / file).read_text())["mcpServers"]
        uninstall(place, name)
        assert not (tmp_path / variable).exists()


def test_the_server_of_cline_is_added_to_those_of_the_user_and_taken_out_again(tmp_path: Path) -> None:
    """With the form of the entries that Cline writes, and comments, which it does not."""
    settings = tmp_path / ".cline" / "data" / "settings" / "cline_mcp_settings.json"
    settings.parent.mkdir(parents=True)
    text = '{\n  "mcpServers": {\n    "x": {"transport": {"type": "stdio", "command": "x"}} // mine\n  }\n}'
    settings.write_text(text)
    place = site(tmp_path, "user")
    install(place, "cline")
    servers = without_comments(settings.read_text())["mcpServers"]
    assert servers["memcli"] == {"command": "memcli", "args": ["mcp"], "timeout": 60}
    assert servers["x"] == {"transport": {"type": "stdio", "command": "x"}}
    uninstall(place, "cline")
    assert settings.read_text() == text


def test_install_ends_with_what_is_left_to_do(run: Run) -> None:
    run("init")
    for name, step in {
        "claude": "approve the MCP server", "cline": "cline mcp add --yes memcli -- memcli mcp",
        "codex": "codex exec --trust", "copilot": "--trust-folder", "gemini": "GEMINI_CLI_TRUST_WORKSPACE=true",
        **dict.fromkeys(("cursor", "windsurf", "zed"), "by its documents of November 2026"),
    }.items():  # fmt: skip
        assert step in run("agent", "install", name).err.splitlines()[-1], name
    assert run("agent", "install", "opencode").err == ""


@given(text=texts_for("a.json"))
def test_json_is_read_as_a_parser_does(text: str) -> None:
    if "//" in re.sub(r'"(?:[^"\\]|\\.)*"', "", text) or "/*" in text or re.search(r",\s*[}\]]", text):
        splice.parse(text)
        return
    stripped = text.lstrip("\ufeff")
    assert without_comments(text) == (json.loads(stripped) if stripped.strip() else None)


def test_what_is_written_for_agents_is_no_document_of_the_project(run: Run, tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("# Shop\n\nThe till closes at nine.\n")
    assert run("agent", "install", "claude").code == 0
    assert run("ingest", ".").code == 0
    paths = {one["path"] for one in run("list", "-s", "repo", "--json").json}
    assert "CLAUDE.md" in {path.split("/")[0] for path in paths}
    assert [path for path in paths if path.startswith(("AGENTS.md", ".claude/skills"))] == []
    assert (tmp_path / "AGENTS.md").exists()
    assert list((tmp_path / ".claude").rglob("SKILL.md"))
