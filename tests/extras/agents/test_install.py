"""Installing and uninstalling every agent in every scope: foreign bytes stay, twice changes nothing, and all comes back."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import tomllib
from collections.abc import Mapping
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
from memcli.extras.agents.parts import ACTIVE, INSTRUCTIONS, Whole
from memcli.extras.agents.table import AGENTS, PROJECT, SKILL_TEXT
from memcli.extras.agents.table import INSTRUCTIONS as BLOCK
from memcli.record import replace
from tests.conftest import Run
from tests.extras.agents.awkward import texts_for

CASES = [(name, scope) for name, agent in AGENTS.items() for scope in agent.scopes]
unshrunk = settings(phases=[Phase.generate])  # what is drawn is large, and shrinks for minutes
FLAGS = {"project": (), "user": ("--user",), "local": ("--local",)}
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


@pytest.mark.parametrize(("name", "scope"), CASES)
def test_contract(name: str, scope: str, run: Run, tmp_path: Path) -> None:
    """By the command line: install, check, install again, uninstall."""
    home = Path(os.environ["HOME"])
    run("init")
    before = tree(tmp_path), tree(home, without=(".local",))
    planned = run("agent", "install", name, *FLAGS[scope], "--dry-run")
    assert planned.code == 0
    assert planned.out.startswith("--- ")
    assert (tree(tmp_path), tree(home, without=(".local",))) == before
    done = run("agent", "install", name, *FLAGS[scope])
    assert done.code == 0
    after = tree(tmp_path), tree(home, without=(".local",))
    written = {file for old, new in zip(before, after, strict=True) for file in new if new[file] != old.get(file)}
    assert {Path(line.split(" ", 1)[1]).name for line in done.out.splitlines()} <= {Path(file).name for file in written}
    assert (after[0] == before[0]) == (scope == "user"), "only the scope's own folder changes"
    checked = json.loads(run("agent", "check", name, "--json").out)
    states = {part["role"]: part["state"] for part in checked["parts"]}
    expected = dict.fromkeys((part.role for part in AGENTS[name].scopes[scope]), ACTIVE)
    assert states == expected | WAITING.get((name, scope), {})
    again = run("agent", "install", name, *FLAGS[scope])
    assert again.out == f"{name}: nothing to change\n"
    assert (tree(tmp_path), tree(home, without=(".local",))) == after
    assert scope in json.loads(run("agent", "list", "--json").out)[list(AGENTS).index(name)]["installed"]
    removed = run("agent", "uninstall", name, *FLAGS[scope])
    assert removed.code == 0
    assert (tree(tmp_path), tree(home, without=(".local",))) == before
    assert run("agent", "uninstall", name, *FLAGS[scope]).out == f"{name} is not installed\n"


@pytest.mark.parametrize(("name", "scope"), CASES)
def test_every_hook_is_installed_and_calls_the_frozen_command(name: str, scope: str, tmp_path: Path) -> None:
    place = site(tmp_path, scope)
    install(place, name)
    text = "".join(file.read_text() for file in tmp_path.rglob("*") if file.is_file() and ".memory" not in file.parts)
    for event in NATIVE.get(name, {}) if name not in ("generic", "opencode") else ():
        assert hook_command(event, name) in text
    for file in tmp_path.rglob("*.json"):
        json.loads(file.read_text())
    for file in tmp_path.rglob("*.toml"):
        assert tomllib.loads(file.read_text())["mcp_servers"]["memcli"] == {"command": "memcli", "args": ["mcp"]}


def test_the_commands_never_change() -> None:
    """Codex trusts a hook by its text, and clones have it committed."""
    assert hook_command("session-start", "codex") == "memcli hook run session-start --agent codex"


def test_what_agents_are_told_is_short() -> None:
    assert len(BLOCK.encode()) < 1_500
    assert len(SKILL_TEXT.encode()) < 1_500
    description = re.search(r"^description: (.*)$", SKILL_TEXT, re.MULTILINE)
    assert description
    assert len(description[1]) <= 1_024


def test_what_agents_are_told_names_only_commands_that_exist() -> None:
    from memcli.cli.verb import Group, find, find_verb

    for text in (BLOCK, SKILL_TEXT):
        for line in re.findall(r"`[^`]*memcli ([^`]+)`", text):
            verb, *words = line.split()
            below = find(verb)
            assert below is not None
            found = find_verb(f"{verb} {words[0]}" if isinstance(below, Group) and words[0] in below.verbs else verb)
            options = {flag for field in found.options.FIELDS.values() for flag in field.flags}
            assert {word for word in words if word.startswith("--")} <= options


@given(data=st.data())
@unshrunk
def test_install_and_uninstall_restore_every_byte(data: st.DataObject) -> None:
    """Of any agents, in any order, whatever is in the files; twice changes nothing; a refusal changes nothing."""
    names = data.draw(st.lists(st.sampled_from(list(AGENTS)), min_size=1, max_size=3, unique=True))
    with TemporaryDirectory(dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")) as folder:
        place = site(folder)
        files = sorted({p.file for n in names for p in AGENTS[n].scopes[PROJECT] if not isinstance(p, Whole)})
        for file in data.draw(st.lists(st.sampled_from(files), unique=True)) if files else ():
            path = Path(folder, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data.draw(texts_for(file)).encode())
            path.chmod(data.draw(st.sampled_from([0o644, 0o600, 0o664])))
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
        for path in (Path(folder, file) for file in files if done):
            _check_kept(path, before.get(str(path.relative_to(folder))))
        uninstall(place, *data.draw(st.permutations(done)))
        assert tree(Path(folder)) == before


def _check_kept(path: Path, before: tuple[bytes, int] | None) -> None:
    """Whether a file that was changed still has what it had."""
    if before is None:
        return
    old, new = before[0].decode(), path.read_bytes().decode()
    if path.suffix == ".json":
        assert is_within(without_comments(old), without_comments(new))
        assert set(re.findall(r"// note, with a comma|/\* block \*/", old)) <= set(
            re.findall(r"// note, with a comma|/\* block \*/", new)
        )
    elif path.suffix == ".toml":
        assert is_within(tomllib.loads(old.replace("\r\n", "\n")), tomllib.loads(new.replace("\r\n", "\n")))
    else:
        assert new.startswith(old)


@given(data=st.data())
@unshrunk
def test_without_notes_only_what_is_memclis_goes(data: st.DataObject) -> None:
    """As in another clone, or after an edit: nothing foreign is lost, and nothing of memcli stays."""
    name = data.draw(st.sampled_from(list(AGENTS)))
    with TemporaryDirectory(dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")) as folder:
        place = site(folder)
        before: dict[Path, str] = {}
        for part in AGENTS[name].scopes[PROJECT]:
            path = Path(folder, part.file)
            if not isinstance(part, Whole) and path not in before and data.draw(st.booleans()):
                path.parent.mkdir(parents=True, exist_ok=True)
                before[path] = data.draw(texts_for(part.file))
                path.write_bytes(before[path].encode())
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
                assert is_within(kept, without_comments(new))
            elif path.suffix == ".toml":
                assert is_within(tomllib.loads(old.replace("\r\n", "\n")), tomllib.loads(new.replace("\r\n", "\n")))
            else:
                assert new.replace("\r\n", "\n").strip() == old.replace("\r\n", "\n").strip()


JSON_AGENT = ("cursor", ".cursor/hooks.json")
BAD = {
    "no JSON": b"hello",
    "cut": b'{"hooks": {',
    "a list": b"[]",
    "hooks of another shape": b'{"hooks": []}',
    "an event of another shape": b'{"hooks": {"sessionStart": "x"}}',
    "binary": bytes(range(256)),
    "two values": b"{} {}",
    "nested deeply": b"[" * 100_000,
}


@pytest.mark.parametrize("bad", BAD)
def test_settings_that_cannot_be_edited_are_left_alone(bad: str, run: Run, tmp_path: Path) -> None:
    run("init")
    name, file = JSON_AGENT
    path = tmp_path / file
    path.parent.mkdir()
    path.write_bytes(BAD[bad])
    before = tree(tmp_path)
    done = run("agent", "install", name)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert str(path) in done.err
    assert "nothing was changed" in done.err
    assert tree(tmp_path) == before


def _link(path: Path) -> None:
    path.parent.joinpath("elsewhere").write_text("{}")
    path.symlink_to("elsewhere")


def _huge(path: Path) -> None:
    path.write_bytes(b"{}" + b" " * (16 << 20))


def _read_only(path: Path) -> None:
    path.write_text("{}")
    path.chmod(0o444)


def _pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize("make", [_link, _huge, _read_only, _pipe, Path.mkdir])
def test_files_that_are_not_plain_are_left_alone(make: Any, run: Run, tmp_path: Path) -> None:
    run("init")
    name, file = JSON_AGENT
    path = tmp_path / file
    path.parent.mkdir()
    make(path)
    done = run("agent", "install", name)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert str(path) in done.err
    assert not (tmp_path / "AGENTS.md").exists()


def test_a_folder_that_leads_out_of_the_project_is_refused(run: Run, tmp_path: Path) -> None:
    run("init")
    outside = Path(os.environ["HOME"])
    (tmp_path / ".cursor").symlink_to(outside)
    assert run("agent", "install", "cursor").code == 2
    assert not (outside / "hooks.json").exists()


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
    assert text.count("memcli: begin") == 1
    assert "@AGENTS.md" not in text
    assert (tmp_path / "AGENTS.md").is_symlink()
    uninstall(site(tmp_path), "claude")
    assert tree(tmp_path) == before


def test_instructions_that_import_the_others_need_no_block(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("# Rules\n@AGENTS.md\n")
    approve_of_claude()
    install(site(tmp_path), "claude")
    assert (tmp_path / "CLAUDE.md").read_text() == "# Rules\n@AGENTS.md\n"
    assert all(row.is_fine for row in check(site(tmp_path), "claude"))


@pytest.mark.parametrize("order", list(permutations(["claude", "copilot", "codex"])))
def test_shared_files_stay_while_an_agent_needs_them(order: tuple[str, ...], tmp_path: Path) -> None:
    place = site(tmp_path)
    install(place, "claude", "copilot", "codex")
    for n, name in enumerate(order):
        uninstall(place, name)
        for other in order[n + 1 :]:
            assert all(state == ACTIVE for _, _, state in states(place, other)), (name, other)
    assert tree(tmp_path) == {}


@pytest.mark.parametrize("first", ["claude", "copilot"])
def test_shared_files_stay_in_another_clone_too(first: str, tmp_path: Path) -> None:
    place = site(tmp_path)
    install(place, "claude", "copilot")
    shutil.rmtree(tmp_path / ".memory")
    other = "copilot" if first == "claude" else "claude"
    uninstall(place, first)
    assert all(state == ACTIVE for _, _, state in states(place, other))
    uninstall(place, other)
    assert tree(tmp_path) == {}


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


@pytest.mark.parametrize("has_notes", [True, False])
@pytest.mark.parametrize("own", [{}, {"model": "x"}])
def test_what_opencode_adds_to_its_settings_goes_with_them(
    has_notes: bool, own: dict[str, str], tmp_path: Path
) -> None:
    """It writes the address of its schema into a file that has none."""
    place = site(tmp_path)
    install(place, "opencode")
    path = tmp_path / "opencode.json"
    data = json.loads(path.read_text())
    assert data.pop("$schema") == SCHEMA
    path.write_text(json.dumps({"$schema": SCHEMA, **data, **own}))
    if not has_notes:
        shutil.rmtree(tmp_path / ".memory")
    uninstall(place, "opencode")
    assert path.exists() == bool(own)
    if own:
        assert json.loads(path.read_text()) == {"$schema": SCHEMA, **own}


def test_a_foreign_script_is_left_as_it_is(run: Run, tmp_path: Path) -> None:
    script = tmp_path / ".clinerules" / "hooks" / "PreToolUse"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\necho mine\n")
    run("init")
    done = run("agent", "install", "cline")
    assert done.code == 0
    assert f"{script} is not memcli's" in done.err
    checked = run("agent", "check", "cline")
    assert (checked.code, "foreign" in checked.out) == (6, True)
    run("agent", "uninstall", "cline")
    assert script.read_text() == "#!/bin/sh\necho mine\n"
    assert sorted(os.listdir(script.parent)) == ["PreToolUse"]


def test_a_double_installation_is_reported(run: Run) -> None:
    run("init")
    run("agent", "install", "claude", "--user")
    done = run("agent", "install", "claude")
    assert "claude is installed for project and user" in done.err
    checked = run("agent", "check")
    assert (checked.code, "uninstall claude --user" in checked.err) == (6, True)


def test_hooks_that_are_switched_off_are_reported(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text('{"disableAllHooks": true}\n')
    run("init")
    run("agent", "install", "claude")
    checked = run("agent", "check")
    assert (checked.code, "disableAllHooks" in checked.out) == (6, True)


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


def test_zed_reads_another_file_first(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".rules").write_text("x")
    run("init")
    assert "Zed reads .rules" in run("agent", "install", "zed").err


def test_init_connects_agents(run: Run, tmp_path: Path) -> None:
    done = run("init", "--agent", "claude", "--agent", "codex")
    assert done.code == 0
    assert (tmp_path / ".claude" / "settings.json").is_file()
    assert (tmp_path / ".codex" / "hooks.json").is_file()
    assert run("init", "--agent", "nobody").code == 2


def test_install_makes_a_store(run: Run, tmp_path: Path) -> None:
    assert run("agent", "install", "generic", "--dry-run").code == 0
    assert not (tmp_path / ".memory").exists()
    done = run("agent", "install", "generic")
    assert (done.code, "created a store" in done.err) == (0, True)
    assert (tmp_path / ".memory" / "spaces").is_dir()


@pytest.mark.parametrize(
    "arguments", [("nobody",), ("generic", "--user"), ("zed", "--local"), ("claude", "--user", "--local")]
)
def test_wrong_names_and_scopes(arguments: tuple[str, ...], run: Run, tmp_path: Path) -> None:
    for verb in ("install", "uninstall"):
        assert run("agent", verb, *arguments).code == 2
    assert os.listdir(tmp_path) == [".git"]


def test_check_says_that_memcli_is_not_on_the_path(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("agent", "install", "generic")
    monkeypatch.setenv("PATH", os.devnull)
    checked = run("agent", "check")
    assert (checked.code, "not on PATH" in checked.err) == (6, True)


def test_folders_of_the_home_directory_may_be_elsewhere(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("init")
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    run("agent", "install", "codex", "--user")
    assert (tmp_path / "codex" / "hooks.json").is_file()
    assert not Path(os.environ["HOME"], ".codex").exists()
    run("agent", "uninstall", "codex", "--user")
    assert not (tmp_path / "codex").exists()


@pytest.mark.parametrize(
    ("name", "variable", "file"),
    [
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("cline", "CLINE_DIR", "data/settings/cline_mcp_settings.json"),
        ("cline", "CLINE_DATA_DIR", "settings/cline_mcp_settings.json"),
        ("cline", "CLINE_MCP_SETTINGS_PATH", ""),
    ],
)
def test_settings_of_a_user_may_be_elsewhere(name: str, variable: str, file: str, tmp_path: Path) -> None:
    path = tmp_path / "elsewhere" / file
    place = replace(site(tmp_path / "home", "user"), environ={variable: str(tmp_path / "elsewhere")})
    install(place, name)
    assert "memcli" in json.loads(path.read_text())["mcpServers"]
    uninstall(place, name)
    assert not (tmp_path / "elsewhere").exists()


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


def test_check_says_which_programs_were_never_tried(run: Run) -> None:
    """It is no reason to fail."""
    run("init")
    run("agent", "install", "zed")
    checked = run("agent", "check", "zed", "--json")
    remark = "Zed: by its documents of November 2026, not tried with the program"
    assert (checked.code, json.loads(checked.out)["remarks"]) == (0, [remark])
    assert remark in run("agent", "check", "zed").err


@given(text=texts_for("a.json"))
def test_json_is_read_as_a_parser_does(text: str) -> None:
    if "//" in re.sub(r'"(?:[^"\\]|\\.)*"', "", text) or "/*" in text or re.search(r",\s*[}\]]", text):
        splice.parse(text)
        return
    stripped = text.lstrip("\ufeff")
    assert without_comments(text) == (json.loads(stripped) if stripped.strip() else None)


def test_the_block_is_short_of_what_agents_cut(tmp_path: Path) -> None:
    roles: Mapping[str, int] = {part.role: len(getattr(part, "body", "")) for part in AGENTS["codex"].scopes[PROJECT]}
    assert 0 < roles[INSTRUCTIONS] < 1_500
