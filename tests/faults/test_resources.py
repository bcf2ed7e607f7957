"""Too little of something, or no permission: one clear line, and the old state whole."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.conftest import ROOT, Run, slow_but
from tests.faults.judge import MAY_BE_THERE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and mounts as Linux has them")


def memcli(
    folder: Path, *arguments: str, limits: dict[int, int] | None = None, by: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Runs the command with `limits`, by way of the program `by`. SIGXFSZ is ignored by Python itself."""

    def prepare() -> None:
        for which, value in (limits or {}).items():
            resource.setrlimit(which, (value, value))

    # Where a file may not grow, Python 3.11 leaves half of a module's bytecode behind, and every later process fails.
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [*by, sys.executable, "-P", "-m", "memcli", *arguments], cwd=folder, text=True, capture_output=True, check=False,
        preexec_fn=prepare, env=environ, timeout=60,
    )  # fmt: skip


def space(folder: Path) -> bytes:
    return (folder / ".memory" / "spaces" / "main.json").read_bytes()


def is_refused(code: int, err: str, before: bytes, folder: Path) -> None:
    assert code in (4, 8), err
    assert len(err.splitlines()) == 1, err
    assert err.startswith("memcli: ")
    assert space(folder) == before or MAY_BE_THERE.search(err)


@pytest.fixture
def work(tmp_path: Path, run: Run) -> Path:
    text = "We chose PostgreSQL because of JSONB. " * 20
    for n in range(8):
        assert run("remember", f"{text}{n}", "--path", f"db/{n}").code == 0
    return tmp_path


@pytest.mark.parametrize("size", slow_but((300,), [0, 1, 300, 4096]))
@pytest.mark.parametrize("command", [("remember", "One more."), ("edit", "db/1", "--set", "kind=fact"), ("export",)])
def test_files_may_not_grow(work: Path, run: Run, command: tuple[str, ...], size: int) -> None:
    before = space(work)
    done = memcli(work, *command, limits={resource.RLIMIT_FSIZE: size})
    is_refused(done.returncode, done.stderr, before, work)
    assert run("remember", "Afterwards.").code == 0


@pytest.mark.parametrize("files", slow_but((5, 8, 12), [4, 5, 6, 8, 10, 12, 16]))
def test_few_files_may_be_open(work: Path, run: Run, files: int) -> None:
    before = space(work)
    done = memcli(work, "remember", "One more.", limits={resource.RLIMIT_NOFILE: files})
    if done.returncode:
        too_few_to_start = "init_import_site" in done.stderr  # the interpreter itself, before a line of ours
        assert too_few_to_start or "Traceback" not in done.stderr or "memcli/" not in done.stderr, done.stderr
        assert space(work) == before
    else:
        assert b"One more." in space(work)
    assert run("remember", "Afterwards.").code == 0


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="mounts need root")
def test_a_full_file_system(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "small"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=640k", "tmpfs", str(place)], check=False, capture_output=True
    )
    if done.returncode:
        pytest.skip("may not mount here")
    try:
        (place / ".git").mkdir()
        monkeypatch.chdir(place)
        stored, refused = 0, 0
        for n in range(40):
            before = space(place) if stored else b""
            done = run("remember", f"{n} " + "Words to fill the place with. " * 250, "--path", f"a/{n}")
            if done.code:
                refused += 1
                is_refused(done.code, done.err, before, place)
            else:
                stored += 1
        assert stored >= 5
        assert refused >= 5
        assert space(place).count(b'"id": ') == stored
        assert run("list").code == 0
    finally:
        monkeypatch.chdir(tmp_path)
        subprocess.run(["umount", str(place)], check=True)


def unprivileged() -> list[str]:
    """What keeps permission bits in force: nothing for a user, and for root a program that gives the right up."""
    if os.geteuid():
        return []
    give_up = "-dac_override,-dac_read_search"
    command = ["setpriv", f"--bounding-set={give_up}", f"--inh-caps={give_up}"]
    if shutil.which("setpriv") is None or subprocess.run([*command, "true"], check=False).returncode:
        pytest.skip("root may do everything here")
    return command


@pytest.mark.parametrize("folder", slow_but(("spaces",), ["", "spaces", "local"]))
@pytest.mark.parametrize("command", [("remember", "One more."), ("edit", "db/1", "--set", "kind=fact"), ("export",)])
def test_a_folder_without_permission(work: Path, folder: str, command: tuple[str, ...]) -> None:
    """What can be done is done; what cannot is refused."""
    before = space(work)
    places = [work / ".memory" / folder, *((work / ".memory").glob("*") if not folder else [])]
    for place in places:
        place.chmod(0o500 if place.is_dir() else 0o400)
    try:
        done = memcli(work, *command, by=unprivileged())
        assert memcli(work, "get", "db/1", by=unprivileged()).returncode == 0
    finally:
        for place in places:
            place.chmod(0o755 if place.is_dir() else 0o644)
    if done.returncode or not folder:
        is_refused(done.returncode, done.stderr, before, work)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts need root")
def test_a_read_only_file_system(work: Path, run: Run) -> None:
    bound = subprocess.run(["mount", "--bind", str(work), str(work)], check=False, capture_output=True).returncode
    if bound:
        pytest.skip("may not mount here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(work)], check=True)
        before = space(work)
        refused = run("remember", "One more.")
        is_refused(refused.code, refused.err, before, work)
        assert run("recall", "postgresql").code == 0
        assert run("get", "db/1").code == 0
    finally:
        subprocess.run(["umount", "-l", str(work)], check=True)  # a child in the background may still be in it


@pytest.mark.parametrize("folder", ["spaces", "local"])
def test_what_is_shared_may_not_be_written_by_all(work: Path, folder: str) -> None:
    """Whatever the umask: files of the store are written by their owner alone."""
    script = f"umask 0; {sys.executable} -P -m memcli remember 'One more.' --path x/y"
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(["sh", "-c", script], cwd=work, env=environ, check=True, capture_output=True)
    for path in (work / ".memory" / folder).rglob("*"):
        if path.is_file():
            assert not path.stat().st_mode & 0o022, path
