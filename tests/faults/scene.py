"""A work tree with a store in it, put back before every run; and the command line run there.

Commands run in forks of this process, which has memcli imported already: a run costs milliseconds, and whatever
happens to it, happens to it alone.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOW = "2026-01-31T09:30:00Z"
STORE = ".memory"
PRIVATE = ".git/memcli/.memory"
"""Where the private state of a scene's store is."""
TEMP = ".tmp-"
MACHINE_OWN = ("cache", "local", "audit")
"""What lies in these folders of a store is of one machine, and not compared byte by byte."""
_SHOWN = (".gitignore", ".gitattributes")
_LIMIT_SECONDS = 60
_WARMING = (
    ("remember", "We chose PostgreSQL because of JSONB.", "--path", "db/engine"), ("recall", "which database?", "--json"),
    ("edit", "db/engine", "--set", "kind=fact"), ("check", "store"), ("store", "audit", "--verify"), ("export", "--out", "bundle.json"),
    ("import", "bundle.json"), ("gc",), ("forget", "db/engine"), ("get", "db/engine"), ("check", "store", "--repair"), ("get", "gone"),
)  # fmt: skip
_WAITS_SECONDS = 0.5
_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 24, 1, 2
_CAPABILITY_VERSION_3 = 0x20080522


@dataclass(frozen=True)
class Ended:
    """How a command ended. `code` is below 0 when a signal ended it."""

    code: int
    out: str
    err: str


@dataclass
class Scene:
    """A folder to work in under `base`, and a template that it is made from again and again."""

    base: Path
    environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.base.mkdir(parents=True, exist_ok=True)
        home = self.base / "home"
        home.mkdir(exist_ok=True)
        self.environ = environment(home) | self.environ

    @property
    def work(self) -> Path:
        return self.base / "work"

    @property
    def store(self) -> Path:
        return self.work / STORE

    def reset(self, template: Path | None = None) -> None:
        """Makes the work tree what `template` holds; without one, an empty repository.

        Folders that are there stay the same: memcli knows a copy of a store from the store that was trusted.
        """
        if template is None:
            shutil.rmtree(self.work, ignore_errors=True)
            self.work.mkdir()
            subprocess.run(["git", "init", "-q", "--template="], cwd=self.work, env=self.environ, check=True)
        else:
            for folder, folders, files in os.walk(self.work, topdown=False):
                for name in files:
                    os.unlink(os.path.join(folder, name))
                for name in folders:
                    path = Path(folder, name)
                    if path.is_symlink():
                        path.unlink()
                    elif not (template / path.relative_to(self.work)).is_dir():
                        path.rmdir()
            shutil.copytree(template, self.work, symlinks=True, dirs_exist_ok=True)

    def keep(self, name: str) -> Path:
        """A template of the work tree as it is now."""
        template = self.base / name
        shutil.rmtree(template, ignore_errors=True)
        shutil.copytree(self.work, template, symlinks=True)
        return template

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def kill_while_waiting(self, arguments: Sequence[str]) -> None:
        """Runs a command on the space `main` while another holds its lock, and kills it there."""
        import fcntl

        def be_killed() -> None:
            signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
            signal.setitimer(signal.ITIMER_REAL, _WAITS_SECONDS)

        with open(self.store / "local" / "main.lock", "r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            ended = self.run(arguments, before=be_killed)
        assert ended.code == -signal.SIGKILL, ended

    def run(self, arguments: Sequence[str], stdin: str = "", before: Callable[[], object] | None = None) -> Ended:
        """Runs `memcli ARGUMENTS` in the work tree, in a fork that calls `before` first."""
        return run_forked(self.work, self.environ, arguments, stdin, before)

    def snapshot(self) -> dict[str, bytes]:
        """The bytes of every file that is not of this machine alone: all of the work tree but git's and temporary files, and
        private spaces and sessions."""
        return {name: (self.work / name).read_bytes() for name in self.listing() if _is_shared(name)}

    def listing(self) -> set[str]:
        """The names of all files but git's and the caches'."""
        names = {str(path.relative_to(self.work)) for path in self.work.rglob("*") if not path.is_dir()}
        own = {name for name in names if name.startswith(f"{PRIVATE}/")}
        names = own | {name for name in names if not name.startswith(".git/")}
        return {name for name in names if not name.startswith((f"{STORE}/cache/", f"{PRIVATE}/cache/"))}


def run_forked(
    work: Path,
    environ: Mapping[str, str],
    arguments: Sequence[str],
    stdin: str = "",
    before: Callable[[], object] | None = None,
) -> Ended:
    """Runs `memcli ARGUMENTS` in the folder `work`, in a fork that calls `before` first."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin.encode())
        given.seek(0)
        child = os.fork()
        if child == 0:
            _be_memcli(work, environ, arguments, (given.fileno(), out.fileno(), err.fileno()), before)
        status = os.waitpid(child, 0)[1]
        out.seek(0)
        err.seek(0)
        return Ended(
            os.waitstatus_to_exitcode(status), out.read().decode(errors="replace"), err.read().decode(errors="replace")
        )


def environment(home: Path) -> dict[str, str]:
    """What commands see: an empty home, a frozen clock, an embedder that costs nothing."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org",
        "MEMCLI_FREEZE_CLOCK": NOW,
        "MEMCLI_EMBEDDER": "hashed",
        "NO_COLOR": "1",
    }  # fmt: skip


def drop_rights() -> None:
    """Drops the capabilities of root to write and read what permissions forbid, here and in programs that are started."""
    if sys.platform != "linux" or os.getuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, sets = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    libc.capget(header, sets)
    for right in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
        libc.prctl(_PR_CAPBSET_DROP, right)
        for number in range(3):  # effective, permitted, inheritable
            sets[number] &= ~(1 << right)
    if libc.capset(header, sets):
        raise OSError(ctypes.get_errno(), "capset")


def fast_folder() -> str | None:
    """Where files cost least: in memory, where there is such a place."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def warm_up() -> None:
    """Imports and compiles what commands need, once, so that their forks need not."""
    from memcli.cli.main import load_command
    from memcli.cli.verb import names

    for verb in names():
        if verb != "browse":
            load_command(verb)
    for name in (
        "memcli.cli.verb", "memcli.wiring.workspace", "memcli.index.cache",
        "memcli.ranking.fusion", "memcli.summarize.summarizers", "memcli.embed.hashed", "numpy", "sqlite3",
    ):  # fmt: skip
        importlib.import_module(name)
    _run_each(_WARMING)
    gc.collect()
    gc.freeze()


def _run_each(lines: Sequence[Sequence[str]]) -> None:
    """Runs the command lines in this process, in a folder that is gone afterwards; what they print is not kept."""
    from memcli.cli.main import main

    environ, folder = dict(os.environ), os.getcwd()
    with tempfile.TemporaryDirectory(prefix="memcli-warming-", dir=fast_folder()) as base:
        work = Path(base, "work")
        (work / ".git").mkdir(parents=True)
        os.environ.clear()
        os.environ.update(environment(Path(base)))
        os.chdir(work)
        try:
            for line in lines:
                with _silence() as out, redirect_stdout(out), redirect_stderr(out):
                    main(line)
        finally:
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(environ)


def _silence() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8")


def is_compared(name: str) -> bool:
    """Whether a file of the private state is a space or a session, whose bytes no fault may change."""
    folder, _, file = name.removeprefix(f"{PRIVATE}/").partition("/")
    return not file.rpartition("/")[2].startswith(".") and (
        (folder == "spaces" and file.endswith(".json")) or (folder == "sessions" and file.endswith(".jsonl"))
    )


def _is_shared(name: str) -> bool:
    parts = name.split("/")
    if name.startswith(f"{PRIVATE}/"):
        return is_compared(name)
    if parts[0] != STORE:
        return TEMP not in parts[-1]
    return parts[1] not in MACHINE_OWN and (not parts[-1].startswith(".") or parts[-1] in _SHOWN)


def _be_memcli(
    work: Path,
    environ: Mapping[str, str],
    arguments: Sequence[str],
    streams: tuple[int, int, int],
    before: Callable[[], object] | None,
) -> None:
    code = 1
    try:
        signal.alarm(_LIMIT_SECONDS)
        atexit._clear()  # a command ends by exit handlers, and those here are of the parent: they remove its folders
        os.chdir(work)
        os.environ.clear()
        os.environ.update(environ)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the process
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
        sys.argv = ["memcli", *arguments]
        from memcli.__main__ import main

        if before is not None:
            before()
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    except BaseException:
        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = code or 120
    os._exit(code)
