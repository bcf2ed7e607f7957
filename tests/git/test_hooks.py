"""Hooks come, call what was there before them, and go without a trace; with the git that is installed."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from memcli.cli.main import main
from memcli.errors import StoreError
from memcli.git import DEFAULT, NAMES
from memcli.git.hooks import SAVED, find_hooks, script
from memcli.ingest.patch import Commit, FileDiff
from tests.cli.conftest import until
from tests.conftest import ROOT, slow_but
from tests.ingest.conftest import Repo, new_repo

PYTHON = sys.executable


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("MEMCLI_HOOK_FOREGROUND", "1")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository with a store that git ignores, in a folder whose name a shell could stumble over."""
    made = new_repo(tmp_path / """it's a "$HOME" `repo`""")
    made.write(".gitignore", ".memory\n")
    made.git("add", "-A")
    made.git("commit", "-qm", "begin")
    monkeypatch.chdir(made.root)
    assert main(["init", "-q"]) == 0
    return made


def hook(*arguments: str, code: int = 0) -> None:
    assert main(["hook", *arguments, "-q"]) == code


@pytest.mark.parametrize("act", ["install", "uninstall", "restore"])
def test_a_folder_of_hooks_that_becomes_a_link_is_not_written(place: Repo, tmp_path: Path, act: str) -> None:
    if act == "restore":
        (place.root / ".git/hooks").mkdir(exist_ok=True)
        (place.root / ".git/hooks/post-commit").write_text("#!/bin/sh\n")
    if act != "install":
        hook("install")
    found = find_hooks(str(place.root))
    (place.root / ".git/hooks").rename(tmp_path / "outside")
    (place.root / ".git/hooks").symlink_to(tmp_path / "outside")
    before = {path.name: path.read_bytes() for path in (tmp_path / "outside").iterdir()}
    with pytest.raises(StoreError):
        (found.install if act == "install" else found.uninstall)("post-commit")
    assert {path.name: path.read_bytes() for path in (tmp_path / "outside").iterdir()} == before


@pytest.mark.parametrize("folder", [".", "src"])
def test_init_installs_the_hooks_of_the_repository_of_the_store(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = new_repo(tmp_path / "shop")
    made.write("src/a.py", "a = 1\n")
    monkeypatch.chdir(made.root / folder)
    assert main(["init", "--hooks", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["created"], data["hooks"]["hooks"]) == (True, dict.fromkeys(DEFAULT, "installed"))
    assert {name for name, state in states(capsys).items() if state == "installed"} == set(DEFAULT)
    assert main(["init", "--hooks", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hooks"]["hooks"] == dict.fromkeys(DEFAULT, "unchanged")


def test_init_with_hooks_goes_by_the_root_and_needs_a_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = new_repo(tmp_path / "shop")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert main(["init", "--hooks", "-q"]) == 3
    assert main(["init", "--hooks", "--root", "../shop", "-q"]) == 0
    assert os.listdir() == []
    path = made.root / ".git/hooks/post-commit"
    path.write_text(path.read_text() + "echo more\n")
    (made.root / ".git/hooks/post-merge").unlink()
    capsys.readouterr()
    assert main(["init", "--hooks", "--root", "../shop"]) == 5
    found = capsys.readouterr()
    assert [word in found.out for word in ("refused post-commit", "installed post-merge")] == [True, True]
    assert "edited" in found.err


def states(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    capsys.readouterr()
    assert main(["hook", "status", "--json"]) == 0
    return {one["name"]: one["state"] for one in json.loads(capsys.readouterr().out)["hooks"]}


def put(repo: Repo, name: str, text: str | bytes, mode: int = 0o755, folder: str = ".git/hooks") -> Path:
    path = repo.root / folder / name
    repo.write(f"{folder}/{name}", text)
    path.chmod(mode)
    return path


def change(repo: Repo, text: str = "def fetch(): pass\n") -> str:
    repo.write("app.py", text)
    repo.git("add", "app.py")
    repo.git("commit", "-q", "-m", f"change {text.strip()[:30]}")
    repo.hour += 1
    return repo.git("rev-parse", "HEAD")


def attempt(repo: Repo, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "-c", "user.name=Ann", "-c", "user.email=a@example.org", *arguments],
        cwd=repo.root, env={**os.environ, **environ}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def log(repo: Repo) -> list[dict[str, object]]:
    file = repo.root / ".memory" / "local" / "hooks.log"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def commits(repo: Repo) -> set[str]:
    """The commits that are remembered."""
    file = repo.root / ".memory" / "spaces" / "repo.json"
    if not file.exists():
        return set()
    objects = json.loads(file.read_text())["objects"]
    return {o["provenance"]["commit"] for o in objects if o.get("active", True) and "commit" in o.get("provenance", {})}


def test_install_and_uninstall_leave_no_trace(place: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(os.listdir(place.root / ".git" / "hooks"))
    assert set(states(capsys).values()) == {"absent"}
    hook("install")
    hook("install")
    assert states(capsys) == {name: "installed" if name in DEFAULT else "absent" for name in NAMES}
    hook("install", "pre-push")
    assert set(states(capsys).values()) == {"installed"}
    hook("uninstall")
    hook("uninstall")
    assert sorted(os.listdir(place.root / ".git" / "hooks")) == before
    hook("install", "pre-commit", code=2)


@pytest.mark.slow
def test_while_memory_is_off_hooks_do_nothing(place: Repo) -> None:
    hook("install")
    assert main(["off", "-q"]) == 0
    change(place)
    assert (commits(place), log(place)) == (set(), [])
    assert main(["on", "-q"]) == 0
    assert attempt(place, "commit", "--allow-empty", "-qm", "one", MEMCLI_OFF="1").returncode == 0
    assert commits(place) == set()
    second = change(place, "def fetch(): retry()\n")
    assert commits(place) == {second}


def test_a_commit_is_remembered(place: Repo) -> None:
    hook("install")
    first = change(place)
    assert commits(place) == {first}  # the last one alone: what was before is for `ingest`
    second = change(place, "def fetch(): retry()\n")
    assert commits(place) == {first, second}
    assert [entry["outcome"] for entry in log(place)] == ["ingested", "ingested"]


@pytest.mark.parametrize("name", ["post-commit", "post-merge", "post-checkout", "post-rewrite"])
def test_who_reads_what_git_prints_does_not_wait(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands in for memcli ends only once the hook's output has come to its end."""
    monkeypatch.delenv("MEMCLI_HOOK_FOREGROUND")
    told, done, stand_in, installed = (tmp_path / part for part in ("told", "done", "memcli", name))
    stand_in.write_text(f'#!/bin/sh\nuntil [ -e "{told}" ]; do sleep 0.05; done\ncat > "{done}"\n')
    installed.write_bytes(script(name, [str(stand_in)]))
    for file in (stand_in, installed):
        file.chmod(0o755)
    line = [str(installed), "a", "b", "1"]
    ran = subprocess.run(line, input=b"old new\n", capture_output=True, cwd=tmp_path, timeout=60, check=True)
    assert (ran.stdout, ran.stderr) == (b"", b"")
    told.touch()
    until(lambda: done.exists() and (name != "post-rewrite" or done.read_bytes()))
    assert done.read_bytes() == (b"old new\n" if name == "post-rewrite" else b"")


@pytest.mark.slow
def test_the_background_does_the_same(place: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMCLI_HOOK_FOREGROUND")
    hook("install")
    made = change(place)
    until(lambda: log(place))
    assert commits(place) == {made}
    hook("uninstall")
    again = change(place, "x = 1\n")
    assert main(["hook", "run", "post-commit"]) == 0  # as a hook manager would: it detaches itself
    until(lambda: len(log(place)) > 1)
    assert commits(place) == {made, again}


def test_a_hook_that_was_there_comes_back_byte_for_byte(place: Repo) -> None:
    text = b"#!/bin/sh\nprintf '%s' \"$0 $*\" >> ran\r\n\xff\x00"
    for name, mode in product(["post-commit", "prepare-commit-msg", "post-rewrite", "pre-push"], [0o755, 0o700, 0o644]):
        path = put(place, name, text, mode)
        inode = path.stat().st_ino
        hook("install", name)
        assert path.read_bytes() != text
        hook("install", name)
        hook("uninstall", name)
        assert path.read_bytes() == text
        assert (stat.S_IMODE(path.stat().st_mode), path.stat().st_ino) == (mode, inode)
        assert not path.with_name(name + SAVED).exists()
        path.unlink()


@pytest.mark.slow
def test_a_link_comes_back_as_a_link(place: Repo) -> None:
    put(place, "shared", "#!/bin/sh\necho linked > ran\n", folder="tools")
    link = place.root / ".git" / "hooks" / "post-commit"
    link.symlink_to("../../tools/shared")
    hook("install")
    change(place)
    assert (place.root / "ran").read_text() == "linked\n"
    hook("uninstall")
    assert os.readlink(link) == "../../tools/shared"
    link.unlink()
    link.symlink_to("nowhere")
    hook("install")
    change(place, "y = 1\n")
    hook("uninstall")
    assert os.readlink(link) == "nowhere"


@pytest.mark.slow
def test_the_kept_hook_gets_what_git_gives_and_decides(place: Repo) -> None:
    put(place, "prepare-commit-msg", '#!/bin/sh\necho "$@" > args\n[ ! -e stop ] || { echo no >&2; exit 7; }\n')
    put(place, "post-commit", "#!/bin/sh\necho posted\nexit 3\n")
    hook("install")
    done = attempt(place, "commit", "--allow-empty", "-qm", "one")
    assert done.returncode == 0
    assert (place.root / "args").read_text() == ".git/COMMIT_EDITMSG message\n"
    assert done.stderr == "posted\n"  # git sends what hooks print there
    place.write("stop", "")
    done = attempt(place, "commit", "--allow-empty", "-qm", "two")
    assert (done.returncode, done.stderr) == (1, "no\n")
    assert place.git("log", "-1", "--format=%s") == "one"
    script = place.root / ".git" / "hooks" / "post-commit"
    assert subprocess.run([script], cwd=place.root, capture_output=True, check=False).returncode == 3


@pytest.mark.slow
def test_a_kept_binary_that_reads_its_input(place: Repo) -> None:
    """As post-rewrite does, whose input memcli reads too."""
    shutil.copy(shutil.which("tee") or "/usr/bin/tee", place.root / ".git" / "hooks" / "post-rewrite")
    hook("install")
    old = change(place)
    attempt(place, "commit", "-q", "--amend", "-m", "better")
    new = place.git("rev-parse", "HEAD")
    assert (place.root / "amend").read_text() == f"{old} {new}\n"  # what tee writes: its input, into its argument
    assert commits(place) == {new}


def test_an_amended_commit_takes_the_place_of_the_old_one(place: Repo) -> None:
    hook("install")
    change(place)
    attempt(place, "commit", "-q", "--amend", "-m", "better")
    assert commits(place) == {place.git("rev-parse", "HEAD")}


@pytest.mark.slow
def test_a_rebase_is_followed_once_it_is_over(place: Repo) -> None:
    hook("install")
    change(place)
    place.git("switch", "-q", "-c", "topic")
    old = {change(place, "a = 1\n"), change(place, "a = 2\n")}
    place.git("tag", "kept", "topic~1")
    place.git("switch", "-q", "main")
    place.write("other.py", "b = 1\n")
    place.git("add", "-A")
    place.git("commit", "-qm", "meanwhile")
    place.git("switch", "-q", "topic")
    runs = len(log(place))
    place.git("rebase", "-q", "main")
    assert [entry["hook"] for entry in log(place)[runs:]] == ["post-rewrite"]
    new = set(place.git("rev-list", "topic").split()[:-1])
    assert commits(place) == new | {place.git("rev-parse", "kept")}
    assert not old & commits(place) - {place.git("rev-parse", "kept")}


def test_merges_and_branches_are_followed(place: Repo) -> None:
    change(place)
    place.git("switch", "-q", "-c", "topic")
    made = [change(place, "a = 1\n"), change(place, "a = 2\n")]
    place.git("switch", "-q", "main")
    hook("install")
    place.git("merge", "-q", "topic")
    assert commits(place) == set(made)
    place.git("switch", "-q", "--detach", "HEAD~1")
    made.append(change(place, "a = 3\n"))
    assert commits(place) == set(made)
    place.git("checkout", "-q", "main", "--", "app.py")  # files only: nothing moved
    assert log(place)[-1]["hook"] == "post-commit"


@pytest.mark.slow
def test_too_many_commits_are_left_to_ingest(place: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.wiring.hooks.MAX_COMMITS", 2)
    start = change(place)
    hook("run", "post-commit")
    for n in range(3):
        change(place, f"a = {n}\n")
    hook("run", "post-checkout", "--", start, "HEAD", "1")
    assert log(place)[-1]["outcome"] == "too many commits"
    assert log(place)[-1]["left_out"] == 3
    assert commits(place) == {start}


def test_no_commits_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = new_repo(tmp_path / "new")
    monkeypatch.chdir(repo.root)
    hook("install")
    assert attempt(repo, "commit", "--allow-empty", "-qm", "no store here").stderr == ""
    assert not (repo.root / ".memory").exists()
    assert main(["init", "-q"]) == 0
    for name in NAMES:
        hook("run", name)


@pytest.mark.slow
def test_a_linked_work_tree_has_the_hooks_of_its_main_one(place: Repo, tmp_path: Path, capsys, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    other = tmp_path / "linked tree"
    place.git("worktree", "add", "-q", str(other), "-b", "linked")
    monkeypatch.chdir(other)
    hook("install")
    assert main(["init", "-q"]) == 0
    linked = Repo(other)
    made = change(linked)
    assert commits(linked) == {made}
    monkeypatch.chdir(place.root)
    assert states(capsys)["post-commit"] == "installed"
    assert not commits(place)


def test_a_bare_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "bare.git")], check=True)
    monkeypatch.chdir(tmp_path / "bare.git")
    hook("install")
    assert (tmp_path / "bare.git" / "hooks" / "post-commit").exists()
    assert states(capsys)["post-merge"] == "installed"
    hook("uninstall")


def test_no_repository_and_a_folder_elsewhere_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain").mkdir()
    monkeypatch.chdir(tmp_path / "plain")
    hook("install", code=3)
    repo = new_repo(tmp_path / "repo")
    monkeypatch.chdir(repo.root)
    for folder in (str(tmp_path / "elsewhere"), "/dev/null", "../elsewhere", ""):
        repo.git("config", "core.hooksPath", folder)
        hook("install", code=5)
        hook("status", code=5)
    assert not (tmp_path / "elsewhere").exists()


def test_hooks_of_the_work_tree(place: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    place.git("config", "core.hooksPath", "my hooks")
    assert main(["hook", "install"]) == 0
    assert "do not commit them" in capsys.readouterr().err
    made = change(place)
    assert commits(place) == {made}
    hook("uninstall")
    assert not os.listdir(place.root / "my hooks")


HUSKY_RUNNER = """#!/usr/bin/env sh
n=$(basename "$0")
s=$(dirname "$(dirname "$0")")/$n
[ ! -f "$s" ] && exit 0
sh -e "$s" "$@"
exit $?
"""


@pytest.mark.slow
def test_husky(place: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    """Its scripts ask for their own name, which they must keep."""
    put(place, "h", HUSKY_RUNNER, folder=".husky/_")
    mine = {n: put(place, n, '#!/usr/bin/env sh\n. "${0%/*}/h"', folder=".husky/_") for n in DEFAULT}
    place.write(".husky/_/.gitignore", "*")
    place.write(".husky/post-commit", 'echo "post $#" >> ran\n')
    place.write(".husky/prepare-commit-msg", 'echo "prepare $2" >> ran\n')
    place.git("config", "core.hooksPath", ".husky/_")
    capsys.readouterr()
    assert main(["hook", "install"]) == 0
    assert capsys.readouterr().err == ""  # git ignores this folder
    made = change(place)
    assert commits(place) == {made}
    assert (place.root / "ran").read_text() == "prepare message\npost 0\n"
    mine["post-commit"].write_text('#!/usr/bin/env sh\n. "${0%/*}/h"')  # as `husky` does at every `npm install`
    assert states(capsys)["post-commit"] == "foreign"
    hook("install")
    assert states(capsys)["post-commit"] == "installed"
    hook("uninstall")
    assert mine["post-commit"].read_text() == '#!/usr/bin/env sh\n. "${0%/*}/h"'
    place.write("ran", "")
    change(place, "x = 1\n")
    assert (place.root / "ran").read_text() == "prepare message\npost 0\n"


@pytest.mark.slow
def test_pre_commit_before_and_after(place: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    """pre-commit finds its place by its folder, and moves what is there to `.legacy`, which it calls."""
    theirs = '#!/usr/bin/env bash\nHERE="$(cd "$(dirname "$0")" && pwd)"\n[ -d "$HERE" ] && echo theirs >> ran\n'
    path = put(place, "post-commit", theirs)
    hook("install")
    change(place)
    assert (place.root / "ran").read_text() == "theirs\n"
    hook("uninstall")
    assert path.read_text() == theirs
    path.unlink()
    hook("install")
    path.rename(path.with_name("post-commit.legacy"))
    put(place, "post-commit", f'{theirs}exec "$HERE/post-commit.legacy" "$@"\n')
    made = change(place, "x = 1\n")
    assert made in commits(place)
    assert states(capsys)["post-commit"] == "foreign"


def test_an_edited_hook_is_left_alone(place: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    hook("install")
    path = place.root / ".git" / "hooks" / "post-commit"
    text = path.read_text() + "echo more\n"
    path.write_text(text)
    assert states(capsys)["post-commit"] == "edited"
    hook("install", code=5)
    capsys.readouterr()
    assert main(["hook", "uninstall"]) == 5
    assert "edited" in capsys.readouterr().err
    assert path.read_text() == text
    assert states(capsys)["post-merge"] == "absent"  # the others went


def test_a_second_hook_over_a_kept_one_is_left_alone(place: Repo) -> None:
    first, second = (f"#!/bin/sh\necho {name}\n" for name in ("first", "second"))
    path = put(place, "post-commit", first)
    hook("install")
    path.unlink()
    put(place, "post-commit", second)
    hook("install", code=5)
    hook("uninstall", code=5)
    assert path.read_text() == second
    path.unlink()
    hook("uninstall")
    assert path.read_text() == first


@pytest.mark.slow
def test_an_older_hook_is_brought_up_to_date(place: Repo, capsys, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    put(place, "post-commit", "#!/bin/sh\necho first >> ran\n")
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(sys, "executable", "/old/place of/python")
        hook("install")
    assert states(capsys)["post-commit"] == "outdated"
    hook("install")
    made = change(place)
    assert commits(place) == {made}
    assert (place.root / "ran").read_text() == "first\n"


@pytest.mark.slow
def test_memcli_is_gone(place: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "gone" / "python"))
    hook("install", *NAMES)
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("git", "sh", "cat"):
        (tools / name).symlink_to(shutil.which(name) or "")
    done = attempt(place, "commit", "--allow-empty", "-qm", "alone", PATH=str(tools))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not log(place)
    shim = tools / "memcli"  # the one on PATH stands in
    shim.write_text(f'#!/bin/sh\nexec "{PYTHON}" -P -m memcli "$@"\n')
    shim.chmod(0o755)
    attempt(place, "commit", "--allow-empty", "-qm", "together", PATH=str(tools))
    assert len(log(place)) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_a_folder_that_cannot_be_written(place: Repo) -> None:
    folder = place.root / ".git" / "hooks"
    folder.chmod(0o555)
    try:
        hook("install", code=8)
    finally:
        folder.chmod(0o755)


def test_a_hook_that_is_no_file(place: Repo) -> None:
    (place.root / ".git" / "hooks" / "post-commit").mkdir()
    hook("install", code=8)
    os.rmdir(place.root / ".git" / "hooks" / "post-commit")
    shutil.rmtree(place.root / ".git" / "hooks")
    place.write(".git/hooks", "a file")
    hook("install", code=8)


@pytest.mark.parametrize("harm", slow_but(["full"], ["corrupt", "config", "local", "locked", "full", "inside"]))
def test_a_commit_never_fails(place: Repo, harm: str, request: pytest.FixtureRequest) -> None:
    hook("install", *NAMES)
    change(place)
    store = place.root / ".memory"
    environ = {}
    if harm == "corrupt":
        (store / "spaces" / "main.json").write_text("{ no json")
    elif harm == "config":
        (store / "config.toml").write_text("= = =")
    elif harm == "local":
        shutil.rmtree(store / "local")
        (store / "local").write_text("no folder")
    elif harm == "locked":
        import fcntl

        held = (store / "local" / "repo.lock").open("w")
        request.addfinalizer(held.close)
        fcntl.flock(held, fcntl.LOCK_EX)
    elif harm == "full":  # no file may grow: what the shell's `ulimit -f 0` says to memcli, and to git not yet
        for name in NAMES:
            text = (place.root / ".git" / "hooks" / name).read_text()
            put(place, name, text.replace("run() {", "run() { export PYTHONDONTWRITEBYTECODE=1; ulimit -f 0\n"))
    elif harm == "inside":
        environ = {"GIT_DIR": str(place.root / ".git"), "GIT_WORK_TREE": str(place.root)}
    place.write("app.py", "z = 1\n")
    place.git("add", "-A")
    done = attempt(place, "commit", "-qm", "all the same", **environ)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    attempt(place, "commit", "--allow-empty", "-q", GIT_EDITOR="sed -i 1s/^/written/", **environ)
    assert place.git("log", "-2", "--format=%B").split() == ["written", "all", "the", "same"]
    if harm == "locked":
        assert "locked by another process (waited 2 s)" in str(log(place)[-1]["error"])


@pytest.mark.slow
def test_it_says_what_it_did_when_asked(place: Repo) -> None:
    hook("install")
    done = attempt(place, "commit", "--allow-empty", "-qm", "x", MEMCLI_HOOK_VERBOSE="1")
    assert done.stderr.startswith("memcli: post-commit: outcome ingested, range ")


@pytest.mark.slow
@pytest.mark.parametrize("first", ["#!/bin/bash", "#!/usr/bin/env bash", "#!/bin/sh -e", "#!/usr/bin/env -S bash -eu"])
def test_a_hook_that_looks_at_its_name_is_read_by_its_own_shell(place: Repo, first: str) -> None:
    bash_only = "set -o pipefail; names=(a b)\n" if "bash" in first else 'case "$-" in *e*) ;; *) exit 3 ;; esac\n'
    kept = put(place, "prepare-commit-msg", f'{first}\n{bash_only}echo "$(basename "$0")" > told\n')
    hook("install")
    change(place)
    assert (place.root / "told").read_text() == "prepare-commit-msg\n"
    hook("uninstall")
    assert kept.read_text().startswith(first)


def test_a_hook_that_would_miss_its_name_is_left_alone(place: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    text = "#!/usr/bin/env python3\nimport sys\nsys.exit(not sys.argv[0].endswith('post-checkout'))\n"
    kept = put(place, "post-checkout", text)
    hook("install", code=5)
    assert kept.read_text() == text
    assert states(capsys)["post-commit"] == "installed"
    place.git("checkout", "-qb", "other")


def test_the_gitignore_of_an_older_store_is_renewed(place: Repo) -> None:
    ignore = place.root / ".memory" / ".gitignore"
    whole = ignore.read_text()
    ignore.write_text(whole.replace("spaces/repo.json\n", "") + "mine\n")
    hook("install")
    assert sorted(ignore.read_text().splitlines()) == sorted([*whole.splitlines(), "mine"])


def test_a_commit_that_cannot_be_ingested_does_not_block_the_next(
    place: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from memcli.ingest import commits as reading

    real = reading.candidate

    def candidate(commit: Commit | None, message: str, diffs: Sequence[FileDiff]) -> Mapping[str, object]:
        if "poison" in message:
            raise IndexError("poison")
        return real(commit, message, diffs)

    def status() -> dict[str, Any]:
        capsys.readouterr()
        assert main(["hook", "status", "--json"]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    assert status()["skipped"] == []
    monkeypatch.setattr(reading, "candidate", candidate)
    hook("run", "post-commit")
    made = []
    for text in ("one = 1\n", "poison = 1\n", "three = 1\n"):
        made.append(change(place, text))
        hook("run", "post-commit")
    first, bad, last = made
    assert commits(place) >= {first, last}
    assert bad not in commits(place)
    told = status()
    assert [(entry["commit"], entry["reason"].split()[0]) for entry in told["skipped"]] == [(bad, "IndexError")]
    assert (told["last_run"]["hook"], told["last_run"]["outcome"]) == ("post-commit", "ingested")
    (entry,) = [entry for entry in log(place) if "skipped" in entry]
    assert entry["skipped"] == [{"commit": bad, "reason": told["skipped"][0]["reason"]}]
    assert "poison" not in (place.root / ".memory/local/repo.hooks.json").read_text()
    assert main(["hook", "status"]) == 0
    shown = capsys.readouterr()
    assert f"skipped {bad[:10]} " in shown.out
    assert "`memcli hook retry`" in shown.err
    hook("retry", code=1)
    monkeypatch.undo()
    monkeypatch.chdir(place.root)
    hook("retry")
    assert bad in commits(place)
    assert status()["skipped"] == []


def test_a_skipped_commit_that_is_gone_is_forgotten(place: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    state = place.root / ".memory/local/repo.hooks.json"
    state.write_text(json.dumps({"skipped": [{"commit": "0" * 40, "reason": "x", "at": "y"}, "no entry", {}]}))
    hook("retry")
    assert json.loads(state.read_text()) == {}
