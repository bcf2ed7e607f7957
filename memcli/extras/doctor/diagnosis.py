"""Checks of the installation, the model and the store, with a fix for each problem."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial

from memcli import __version__
from memcli.app.workspace import load_space
from memcli.cli.configured import problems
from memcli.cli.verb import find_verb
from memcli.embed import DEFAULT_EMBEDDER
from memcli.errors import MemcliError
from memcli.index.scale import own_spread, tells_apart
from memcli.record import Record
from memcli.settings import TABLES
from memcli.store.absent import absent, absent_above
from memcli.store.atomic import make_folder, remove_file, write_file
from memcli.store.layout import FOLDER, Layout, missing_lines
from memcli.store.lock import locked
from memcli.store.place import FOLDERS, PrivatePlace, describe
from memcli.store.private import can_write, find_work_tree, stranded
from memcli.store.trust import FileTrust
from memcli.text.words import is_foreign
from memcli.wiring import extra
from memcli.wiring.indexes import load_embedder
from memcli.wiring.roots import locate, read_config
from memcli.wiring.workspace import chosen_store, open_workspace


class Check(Record):
    """The result of one check: what was `found`, and the `fix` if it is not `ok`."""

    name: str
    ok: bool
    found: str
    fix: str = ""


def run_checks(options: Mapping[str, str | None], environ: Mapping[str, str]) -> list[Check]:
    """All checks, in the order of the report; of the store only if there is one."""
    # The store first: to open it, as `_embedding` does, quarantines the files that these checks report.
    store = list(_store(options, environ))
    return [*_installation(), _embedding(options, environ), *store]


def _installation() -> Iterator[Check]:
    """Checks Python, SQLite, git and the files of the model."""
    from memcli.embed.onnx import MODEL_DIGEST, verify

    found = f"memcli {__version__}, Python {platform.python_version()}"
    yield Check("python", sys.version_info >= (3, 11), found, "memcli needs Python 3.11")
    try:
        sqlite3.connect(":memory:").execute("CREATE VIRTUAL TABLE t USING fts5 (x)")
        yield Check("sqlite", True, f"SQLite {sqlite3.sqlite_version} with FTS5")
    except sqlite3.Error as error:
        found = f"SQLite {sqlite3.sqlite_version}: {error}"
        yield Check("sqlite", False, found, "use a Python whose SQLite includes FTS5")
    path = shutil.which("git")
    yield Check("git", path is not None, path or "not on PATH", "install git; `ingest --git` needs it")
    broken = verify()
    found = "; ".join(broken) or f"minilm {MODEL_DIGEST[:12]}, digest verified"
    yield Check("model", not broken, found, "reinstall memcli")


def _embedding(options: Mapping[str, str | None], environ: Mapping[str, str]) -> Check:
    """Checks that the embedder makes vectors and, unless it is calibrated, that related texts have higher cosines than others."""
    try:
        workspace = open_workspace(options, environ)
        name, load = workspace.embedder, workspace.load_embedder
    except MemcliError:  # there is no store, or the checks of the store report this
        name = options.get("embedder") or environ.get("MEMCLI_EMBEDDER") or DEFAULT_EMBEDDER
        load = partial(load_embedder, name)
    try:
        embedder = load()
        if embedder is None:
            return Check("embedding", True, f"{name}: search goes by words only")
        (vector,) = embedder.embed(["memory"])
        spread = () if embedder.is_calibrated else own_spread(embedder)
    except MemcliError as error:
        return Check("embedding", False, f"{name}: {error.message}", error.hint)
    found = f"{name}: {len(vector)} dimensions"
    if not any(vector):
        return Check("embedding", False, found, "set MEMCLI_EMBEDDER=off to search by words only")
    if not spread:
        return Check("embedding", True, found)
    found += f"; cosines of related texts {spread[-1]:.2f}, of unrelated ones {spread[0]:.2f}"
    return Check("embedding", tells_apart(spread), found, "it is of no use for search: check its pooling and prompts")


def _store(options: Mapping[str, str | None], environ: Mapping[str, str]) -> Iterator[Check]:
    """Checks that there is a store that can be written and locked, then all of it."""
    try:
        root = locate(options, environ)
    except MemcliError as error:
        yield Check("store", False, error.message, error.hint)
        return
    absent = absent_above(os.getcwd(), os.path.expanduser("~")) if root is None else None
    if absent:
        yield Check("store", False, absent.message, absent.hint)
        return
    if root is None:
        yield Check("store", True, "none found (`memcli init` creates one)")
        return
    layout = Layout(root)
    probe = layout.local("doctor")
    try:  # with a test file: permissions do not reveal a full disk, or a file in place of the folder
        make_folder(os.path.dirname(probe))
        write_file(probe, b"doctor", 0o600)
        remove_file(probe)
        with locked(layout.lock("doctor"), "the store", wait=0):
            yield Check("store", True, root)
    except MemcliError as error:
        yield Check("store", False, error.message, error.hint)
    yield from _tracking(root)
    yield _config(root)
    yield from _private(root)
    yield from _git_of(root)
    yield from _others(root, options, environ)
    yield from _spaces(options, environ)


def _tracking(root: str) -> Iterator[Check]:
    """Checks that git ignores the files of this machine and tracks none of them. Quarantines those that git checked out."""
    try:
        missing = missing_lines(Layout(root))  # .gitignore may have come with a clone, and lack lines
        found = f"lacks {', '.join(missing)}" if missing else "ignores the files of this machine"
        yield Check("gitignore", not missing, f"{FOLDER}/.gitignore {found}", "run `memcli init`")
    except MemcliError as error:
        yield Check("gitignore", False, error.message, error.hint)
    try:
        aside = PrivatePlace(Layout(root)).claim()
        tracked = PrivatePlace(Layout(root)).tracked()
    except MemcliError as error:
        yield Check("machine", False, error.message, error.hint)
        return
    state = [describe(aside)] if aside else []
    if tracked:
        state.append(f"git tracks {len(tracked)} files that memcli does not use, such as {tracked[0].path}")
    fix = f"`git rm -r --cached --ignore-unmatch {' '.join(f'{FOLDER}/{name}' for name in FOLDERS)}`"
    yield Check("machine", not tracked, "; ".join(state) or "local/ and cache/ were created on this machine", fix)


def _private(root: str) -> Iterator[Check]:
    """Checks that the private state can be written, and reports its folder and size; and the private state of stores that no
    longer exist, as after a store was moved."""
    folder = Layout(root).private_folder
    fix = "run a memcli command where it can be written; until then changes wait in .memory/local"
    try:
        size = sum(os.lstat(os.path.join(place, file)).st_size for place, _, files in os.walk(folder) for file in files)
        found, is_writable = f"{folder} ({-(-size // 1024):,} KB)", can_write(folder)
        if not is_writable:
            found += " cannot be written"
            if not can_write(Layout(root).local("")):
                fix = "make it writable; until then nothing is stored"
        yield Check("private state", is_writable, found, fix)
    except OSError as error:
        yield Check("private state", False, f"cannot read {folder}: {error.strerror}", "check its permissions")
    for folder, place in stranded(find_work_tree(os.path.dirname(root)) or os.path.dirname(root)).items():
        command = next(iter(absent(place).values()), "")
        fix = (
            "if the store was moved: move it back, run `memcli export --private --out FILE` there, move it again and run "
            f"`memcli import FILE`; if it was deleted: {f'`{command}` brings it back, or ' if command else ''}delete it"
        )
        yield Check("private state", False, f"{folder} belongs to no store: there is no {place}", fix)


def _config(root: str) -> Check:
    """Checks the values of config.toml, and of its tables for commands."""
    try:
        config = read_config(Layout(root))
    except MemcliError as error:
        return Check("config", False, error.message, error.hint)
    wrong = [*config.problems, *problems(config, {name: find_verb(name).options for name in TABLES})]
    found = [f"{name}={value}" for name, value in sorted(config.values.items())]
    found += [f"{name}.{key}={value}" for name, table in config.tables.items() for key, value in table.items()]
    return Check("config", not wrong, ", ".join([*found, *wrong]) or "none", "correct the file")


def _git_of(root: str) -> Iterator[Check]:
    """If the store is in a repository: checks that the merge driver is configured if .gitattributes names it, and that installed
    hooks are those of this memcli."""
    from memcli.git import NAMES
    from memcli.git.hooks import find_hooks, problem
    from memcli.git.revisions import open_history

    with suppress(MemcliError):
        history = open_history(Layout(root).spaces)
        wrong = problem(history.repository, history.path("main.json"))
        found = (
            "not configured (`memcli init --git` installs it)" if wrong is None else "git merges memories with memcli"
        )
        # A driver whose program has gone fails this: git would show no difference of a space at all.
        yield Check("merge driver", not wrong, wrong or found, "run `memcli init --git`")
    with suppress(MemcliError):
        hooks = find_hooks(os.path.dirname(root))
        states = [(name, hooks.status(name)[0]) for name in NAMES]
        installed = [f"{name} {state}" for name, state in states if state in ("installed", "outdated", "edited")]
        ok = not any(state in ("outdated", "edited") for _, state in states)
        found = ", ".join(installed) or "none (`memcli hook install` installs them)"
        yield Check("hooks", ok, found, "run `memcli hook install`")


def _others(root: str, options: Mapping[str, str | None], environ: Mapping[str, str]) -> Iterator[Check]:
    """Checks the connected agents, the trust in the store, the language model, its ledger, and the server of the store.

    The model gets no request. A memory that is switched off and a clone that is not accepted are no failures: both are a
    choice of the user.
    """
    from memcli.clock import system_clock
    from memcli.store.ledger import StoreLedger
    from memcli.store.state import State
    from memcli.store.trust import is_off

    is_well, names = extra("agents.setup").examine_agents(root, environ)
    off = "; memory is off (`memcli on`)" if is_off(root, environ) else ""
    connected = ", ".join(names) or "none connected (`memcli agent install` connects one)"
    yield Check("agents", is_well, f"{connected}{off}", "run `memcli agent check`")
    is_accepted = FileTrust(Layout(root)).is_accepted
    trust = "created or accepted here" if is_accepted else "cloned and not yet accepted (`memcli trust --status`)"
    yield Check("trust", True, trust)
    if found := extra("helper.starting").running(root):
        told = f"process {found[0]} has answered {found[1]:,} commands (`memcli off` ends it)"
        yield Check("helper", True, told)
    try:
        yield Check("provider", *extra("providers.opening").health(open_workspace(options, environ), environ))
    except MemcliError as error:
        yield Check("provider", False, error.message, error.hint)
    try:
        day = StoreLedger(State(Layout(root))).read(system_clock()[:10])
        lost = ", and the calls of before were lost with a damaged file" if day.damaged else ""
        found = f"{len(day.charges)} calls of language models today{lost}"
        yield Check("ledger", not day.damaged, found, "a quota lets calls pass again tomorrow (UTC)")
    except MemcliError as error:
        yield Check("ledger", False, error.message, error.hint)
    try:
        if url := chosen_store(options, environ):
            yield from (Check(*one) for one in extra("postgres.opening").examine(url, environ))
    except MemcliError as error:
        yield Check("server", False, error.message, error.hint)


def _spaces(options: Mapping[str, str | None], environ: Mapping[str, str]) -> Iterator[Check]:
    """Checks that each space can be read; and suggests a multilingual model if more than half of the notes are not in English."""
    try:
        workspace = open_workspace(options, environ)
        for space in extra("spaces.managing").list_spaces(workspace):
            found = space.problem or f"{space.objects} memories"
            yield Check(f"space {space.name}", not space.problem, found, "run `memcli check store --repair`")
        notes = [memory.raw for memory in load_space(workspace.store, workspace.main).objects]
        foreign = sum(map(is_foreign, notes))
        if 2 * foreign > len(notes) and workspace.embedder == DEFAULT_EMBEDDER:
            found = f"{foreign} of {len(notes)} notes are not in English, and found by their words alone"
            way = "a multilingual sentence-transformers model in ONNX finds them by meaning: MEMCLI_EMBEDDER=onnx:DIR"
            yield Check("languages", True, f"{found}; {way}")
    except MemcliError as error:
        yield Check("spaces", False, error.message, error.hint)
