"""What every test may rely on: a frozen clock, a store of its own, and nobody's real home directory."""

from __future__ import annotations

import io
import json
import math
import os
import re
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

from memcli.app.workspace import Workspace
from memcli.codec.space import encode_space
from memcli.model.memory import Memory
from memcli.model.space import Change, Space, change_between
from memcli.ports import Shelf, Store
from memcli.settings import BESIDE
from memcli.store.layout import Layout
from memcli.wiring import workspace as wiring
from memcli.wiring.roots import make_store
from memcli.wiring.workspace import open_workspace
from tests.servers import new_schema, server_url

wiring._PATIENCE_SECONDS = math.inf  # how many vectors a question waits for must not depend on how busy the machine is

settings.register_profile("default", max_examples=25, deadline=None, derandomize=True, database=None)
settings.register_profile("long", max_examples=2000, deadline=None)
settings.register_profile("unshrunk", settings.get_profile("default"), phases=[Phase.generate])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def examples(share: float) -> settings:
    """The settings of a property that holds for each of many parameters: a share of the profile's examples for each."""
    return settings(max_examples=max(1, round(settings.default.max_examples * share)))


if os.access("/dev/shm", os.W_OK):  # in memory, where a flush costs nothing: half of the time goes into flushes
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", "/dev/shm")

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or each process that a test starts compiles memcli anew
sys.dont_write_bytecode = False

NOW = "2026-01-31T09:30:00Z"
ROOT = Path(__file__).parent.parent
_HOMES = count()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files with what comes out now")
    parser.addoption(
        "--on-server", action="store_true", help="run commands on a PostgreSQL server, as far as they allow it"
    )
    parser.addoption("--slow", action="store_true", help="run the tests marked slow too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what is marked slow, but with --slow or where a test is named."""
    if (
        config.getoption("--slow")
        or config.getoption("--update-golden")
        or any("::" in str(given) for given in config.args)
    ):
        return
    left_out = [item for item in items if item.get_closest_marker("slow")]
    items[:] = [item for item in items if not item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=left_out)


def slow_but(chosen: Collection[object], values: Iterable[object]) -> list[object]:
    """The values of a parameter, of which all but the chosen are slow."""
    return [value if value in chosen else pytest.param(value, marks=pytest.mark.slow) for value in values]


_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = frozenset(("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink"))
_CHECKOUT, _HOME, *_TEMPORARY = (
    os.path.join(os.path.realpath(folder), "") if folder else ""
    for folder in (
        ROOT, os.path.expanduser("~"), os.environ.get("PYTEST_DEBUG_TEMPROOT", ""), tempfile.gettempdir(),
    )
)  # fmt: skip
_FREE_IN_CHECKOUT = tuple(f"{_CHECKOUT}{name}/" for name in (".hypothesis", ".venv"))
_GUARD = {"is_on": False, "updates": False}


class OutsideWriteError(AssertionError):
    """A test wrote to the checkout or to the user's home directory."""


def _refuse_outside(event: str, arguments: tuple[object, ...]) -> None:
    """Raises OutsideWriteError when this process changes a file of the checkout or of the user's home directory."""
    if not _GUARD["is_on"] or (event != "open" and event not in _CHANGES):
        return
    if event == "open" and not (isinstance(arguments[2], int) and arguments[2] & _WRITES):
        return
    if event != "open" and isinstance(arguments[-1], int) and arguments[-1] >= 0:
        return  # relative to a folder that is open, as when pytest removes a test's own
    if event == "open" and arguments[1] is None and isinstance(arguments[0], str) and os.sep not in arguments[0]:
        return  # the same: `os.open` does not say which folder
    changed = {"os.rename": (0, 1), "os.link": (1,), "os.symlink": (1,)}.get(event, (0,))
    paths = [arguments[n] for n in changed]
    for path in paths:
        if not isinstance(path, (str, bytes, os.PathLike)):
            continue
        try:
            full = os.path.abspath(os.fsdecode(path))  # asks the file system nothing, which a test may have patched
        except OSError:  # the working directory is gone
            continue
        if not _is_free(full):
            raise OutsideWriteError(f"{event}: {full} is outside of the test's own folders")


def _is_free(path: str) -> bool:
    """Whether a test may change this file. The checkout may itself lie in the folder for temporary files."""
    if "__pycache__" in path:
        return True
    if path.startswith(_CHECKOUT):
        is_updated = _GUARD["updates"] and re.search(
            r"/(golden|completions|docs|man|plugins|\.claude-plugin)(/|$)|/README\.md$", path
        )
        return path.startswith(_FREE_IN_CHECKOUT) or bool(is_updated)
    return not path.startswith(_HOME) or any(folder and path.startswith(folder) for folder in _TEMPORARY)


sys.addaudithook(_refuse_outside)


def pytest_configure(config: pytest.Config) -> None:
    _GUARD["updates"] = bool(config.getoption("--update-golden", default=False))


@pytest.fixture(autouse=True)
def no_writes_outside() -> Iterator[None]:
    """Fails whatever a test writes to the checkout or to the real home directory."""
    _GUARD["is_on"] = True
    yield
    _GUARD["is_on"] = False


@pytest.fixture(scope="session", autouse=True)
def checkout_unchanged() -> Iterator[None]:
    """Fails the run when a process that a test started changed the checkout."""
    before = _checkout()
    yield
    assert _checkout() == before, "a test changed the checkout"


def _checkout() -> list[str]:
    """The files of a store in the checkout, which no test makes or changes."""
    files = (ROOT / ".memory").rglob("*")
    return sorted(f"{path} {path.stat().st_mtime_ns}" for path in files if path.is_file())


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


Golden = Callable[[Path, str], None]


@pytest.fixture
def golden(update_golden: bool) -> Golden:
    """Compares a text with that of a golden file, which is rewritten where that is asked for."""

    def compare(file: Path, text: str) -> None:
        if update_golden:
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(text.encode())
        assert text == file.read_bytes().decode()

    return compare


@pytest.fixture(autouse=True)
def isolated(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """An empty home, no settings from outside, a frozen clock, and an embedder that costs nothing."""
    home = tmp_path_factory.getbasetemp() / f"home{next(_HOMES)}"  # `mktemp` reads the whole folder, each time
    home.mkdir()
    monkeypatch.chdir(home)  # above the checkout or below it, a store could be found
    for name in list(os.environ):
        if name.startswith(("MEMCLI_", "GIT_", "XDG_")):
            monkeypatch.delenv(name)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("MEMCLI_FREEZE_CLOCK", NOW)
    monkeypatch.setenv("MEMCLI_EMBEDDER", "hashed")
    monkeypatch.setenv("MEMCLI_BACKGROUND", "off")
    monkeypatch.setenv("MEMCLI_USER", "ann")
    # Background work within a test would slow all that run after it.
    monkeypatch.setattr("memcli.cli.background.lower_priority", lambda: None)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("MEMCLI_PAGER", "cat")
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture(autouse=True)
def on_server(request: pytest.FixtureRequest, isolated: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """With `--on-server`, what each test stores is in a schema of its own."""
    if not request.config.getoption("--on-server"):
        yield
        return
    from memcli.extras.postgres.opening import close_servers

    url = request.getfixturevalue("postgres")
    with new_schema(url) as schema:
        monkeypatch.setenv("MEMCLI_STORE", url)
        monkeypatch.setenv("MEMCLI_STORE_SCHEMA", schema)
        yield
        close_servers()


def mirror(root: Path) -> None:
    """Puts what a server has of the store at `root` where files have it, for tests that look there."""
    if not root.is_dir():
        return
    workspace = open_workspace({"root": str(root)}, os.environ)
    store, audit = workspace.store, workspace.audit
    names = {name for name in store.spaces() if name not in BESIDE}
    for file in (root / "spaces").glob("*.json"):
        if file.stem not in names and file.stem not in BESIDE:
            file.unlink()
    for name in names:
        with closing(store.open(name)) as snapshot:
            (root / "spaces" / f"{name}.json").write_bytes(encode_space(snapshot.load()))
        log = Path(Layout(str(root)).audit(f"{name}.jsonl"))
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_bytes(audit.read(name))


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace on a new, empty store."""
    return open_at(tmp_path)


def open_at(folder: Path, **environ: str) -> Workspace:
    """A workspace on the store in `folder`, made if it is not there."""
    make_store({"root": str(folder)}, {})
    return open_workspace({"root": str(folder)}, {**os.environ, **environ})


def memory(name: str = "a", **fields: object) -> Memory:
    """A memory with plain values for what is not given."""
    values: dict[str, object] = {
        "id": f"mem_{name}", "path": f"notes/{name}", "kind": "fact", "raw": f"The text of {name}.",
        "created_at": NOW, "updated_at": NOW, **fields,
    }  # fmt: skip
    return Memory(**values)  # type: ignore[arg-type]


def raising(error: Exception) -> Callable[..., Any]:
    """What raises the error, whatever it is called with."""

    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def nested(levels: int) -> Any:
    """The number 1 in so many lists."""
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@dataclass(frozen=True)
class Result:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What stands on standard output, read as JSON."""
        return json.loads(self.out)


Run = Callable[..., Result]


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> Run:
    """Runs a command line in this process, in a git work tree of its own, and returns what it printed."""
    from memcli.cli.main import main

    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, stdin: bytes | str = b"") -> Result:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        capfd.readouterr()
        code = main(arguments)
        captured = capfd.readouterr()
        if request.config.getoption("--on-server"):
            mirror(tmp_path / ".memory")
        return Result(code, captured.out, captured.err)

    return call


def rewrite(store: Store, change: Callable[[Space], Space], space: str = "main") -> Space:
    """Makes of a space what `change` makes of it, and returns that."""
    after = Space(space)

    def apply(shelf: Shelf) -> Change:
        nonlocal after
        before = shelf.load()
        after = change(before)
        return Change() if after is before else change_between(before, after)

    store.update(space, apply)
    return after


@pytest.fixture(scope="session")
def postgres() -> str:
    """The URL of a PostgreSQL server; the test is skipped where there is none."""
    return server_url()
