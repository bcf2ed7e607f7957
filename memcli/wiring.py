"""The one file that names concrete adapters: it finds the store and opens a Workspace on it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, TypeVar

from memcli.app.redact import Redactor
from memcli.app.workspace import Workspace
from memcli.clock import Clock, frozen_clock, system_clock
from memcli.codec.canonical import encode
from memcli.embed import DEFAULT_EMBEDDER, EMBEDDERS
from memcli.errors import NotFoundError, StoreError, UsageError
from memcli.model.memory import Json
from memcli.model.names import check_space
from memcli.model.space import Change, Policy
from memcli.policy.strangers import tightened
from memcli.ports import Index, Progress, Ranker, Shelf, Source
from memcli.ranking import RANKERS
from memcli.settings import HARMLESS_FIELDS, Settings, check_config, resolve
from memcli.store.atomic import make_folder, read_json, read_regular, write_file
from memcli.store.audited import AuditedStore
from memcli.store.file import FileStore
from memcli.store.guard import Guard
from memcli.store.key import signer
from memcli.store.layout import FOLDER, Layout, check_root, find_root, find_work_tree, make_root
from memcli.store.trust import FileTrust
from memcli.summarize import DEFAULT_SUMMARIZER, SUMMARIZERS

if TYPE_CHECKING:
    from threading import Event

    from memcli.app.watch import Watch
    from memcli.codec.soundness import Finding
    from memcli.ingest.foreign import ForeignSource
    from memcli.store.audit import AuditLog
    from memcli.store.revision import RevisionStore
    from memcli.store.trash import FileTrash

_T = TypeVar("_T")
_MAX_CONFIG = 1 << 20
_MAX_USER = 64
Warn = Callable[[str], None]


def open_workspace(
    options: Mapping[str, str | None],
    environ: Mapping[str, str],
    *,
    create: bool = False,
    warn: Warn = lambda _: None,
    progress: Progress | None = None,
) -> Workspace:
    """The workspace of the store that `options` and `environ` lead to from the working directory.

    With `create` a store is made in a git work tree that has none.
    Raises NotFoundError when there is no store, StoreError, UsageError.
    """
    if options.get("store") == "global":
        root: str | None = global_root(environ)
        _make(str(root))
    else:
        root = locate(options, environ) or (_create(warn) if create else None)
    if root is None:
        raise NotFoundError("no .memory here or above", "run `memcli init`, or name a store with --root")
    layout = Layout(root)
    trust = FileTrust(layout)
    settings = resolve(options, environ, _believed(read_config(layout), trust, warn))
    clock = frozen_clock(settings.freeze_clock) if settings.freeze_clock else system_clock
    command = options.get("command") or "memcli"
    log = cache(lambda: _audit(layout, clock, environ, command, warn))
    trash = cache(lambda: _trash(layout, clock, command, warn))
    guard = Guard(layout, lambda removed: trash().keep(removed), warn)
    past = None
    if (revision := options.get("rev")) is not None:
        from memcli.store.revision import open_revision

        past = open_revision(layout, revision, warn)
    fold = partial(_fold, trust)

    def in_force(policy: Policy) -> Policy:
        return policy if trust.is_accepted else tightened(policy)

    store = past or AuditedStore(FileStore(layout, fold, guard), log)
    return Workspace(
        store=store,
        inbox=FileStore(Layout(layout.local("inbox")), fold),
        trust=trust,
        load_trash=trash,
        load_audit=log,
        load_index=cache(lambda: _index(layout, settings, warn, progress, past)),
        load_summarizer=cache(_choose(SUMMARIZERS, settings.semantic or DEFAULT_SUMMARIZER, "semantic layer")),
        load_redactor=cache(lambda: Redactor(store, signer(layout, environ), in_force, warn)),
        ranker=_ranker(warn),
        clock=clock,
        space=check_space(settings.space),
        root=root,
        project=settings.project,
        backend=settings.backend,
        load_elsewhere=cache(lambda: None if past else _elsewhere(root, options, environ, warn, progress)),
        warn=warn,
        progress=progress,
    )


def _fold(trust: FileTrust, shelf: Shelf, request: Json) -> tuple[Change, Json]:
    from memcli.app.remember import fold

    # What a full space would let go is a policy's to say, and that of a stranger deletes nothing.
    return fold(shelf, request, may_compact=shelf.header.policy.max_objects is None or trust.is_accepted)


def _audit(layout: Layout, clock: Clock, environ: Mapping[str, str], command: str, warn: Warn) -> AuditLog:
    from memcli.store.audit import AuditLog

    return AuditLog(layout, clock, lambda: user_name(environ), command, warn)


def _trash(layout: Layout, clock: Clock, command: str, warn: Warn) -> FileTrash:
    from memcli.store.trash import FileTrash

    return FileTrash(layout, clock, command, warn)


def user_name(environ: Mapping[str, str]) -> str:
    """Who is at work: `MEMCLI_USER`, or the name that this person logged in with, or else the number."""
    named = next((environ[name] for name in ("MEMCLI_USER", "LOGNAME", "USER", "USERNAME") if environ.get(name)), "")
    if not named and os.name != "nt":
        import pwd

        with suppress(KeyError):  # a user that the system has no name for, as in many a container
            named = pwd.getpwuid(os.getuid()).pw_name
        named = named or str(os.getuid())
    return "".join(c for c in named if c.isprintable())[:_MAX_USER]


def global_root(environ: Mapping[str, str]) -> str:
    """The root of the user-wide store: `MEMCLI_GLOBAL`, or in the platform's folder for a user's data."""
    if named := environ.get("MEMCLI_GLOBAL"):
        return _named_root(named)
    system = sys.platform
    if system == "linux":  # what platformdirs says, without the milliseconds to import it at every recall
        home = environ.get("XDG_DATA_HOME", "").strip() or os.path.expanduser("~/.local/share")
        return os.path.join(home, "memcli", FOLDER)
    import platformdirs

    return os.path.join(platformdirs.user_data_dir("memcli", appauthor=False), FOLDER)


def _elsewhere(
    root: str, options: Mapping[str, str | None], environ: Mapping[str, str], warn: Warn, progress: Progress | None
) -> Workspace | None:
    """The user-wide store, when there is one and it is not the store at `root` itself."""
    other = global_root(environ)
    if other == root or not os.path.isdir(other) or os.path.islink(other):
        return None
    kept = {name: options.get(name) for name in ("freeze_clock", "backend")}
    return open_workspace({**kept, "root": other}, environ, warn=warn, progress=progress)


def locate(options: Mapping[str, str | None], environ: Mapping[str, str]) -> str | None:
    """The root of the store that is meant, or None. Raises NotFoundError when one is named and is not there."""
    named = options.get("root") or environ.get("MEMCLI_ROOT")
    if named:
        return check_root(_named_root(named))
    return find_root(os.getcwd(), os.path.expanduser("~"))


def make_store(
    options: Mapping[str, str | None], environ: Mapping[str, str], check: Callable[[str], object] = lambda _: None
) -> tuple[str, bool]:
    """Makes the store that is meant: `--root`, or `.memory` in the work tree, or here. Its root, and whether it is new.

    `check` is given the root first, and may raise.
    """
    named = options.get("root") or environ.get("MEMCLI_ROOT")
    here = os.getcwd()
    home = os.path.expanduser("~")
    root = _named_root(named) if named else os.path.join(find_work_tree(here, home) or here, FOLDER)
    check(root)
    new = _make(root)
    if options.get("project"):
        write_file(Layout(root).config, f'project = "{_toml(str(options["project"]))}"\n'.encode())
    return root, new


def check_files(workspace: Workspace, repair: bool) -> Iterator[tuple[Finding, bool]]:
    """What is wrong in the files of the store, each with whether `repair` mended it."""
    from memcli.store.repair import check_store

    return check_store(Layout(workspace.root), lambda name: workspace.store.update(name, lambda _: Change()), repair)


def format_files(workspace: Workspace, named: Sequence[str], check: bool) -> list[tuple[str, bool]]:
    """The spaces that are named (all, if none), and whether each was canonical; without `check` all are now."""
    from memcli.store.repair import format_space, space_names

    layout = Layout(workspace.root)
    return [(name, format_space(layout, name, check)) for name in space_names(layout, named)]


def commit_source(revisions: str) -> Source:
    """The commits of a range in the repository that the working directory is in. Raises NotFoundError, ProviderError."""
    from memcli.ingest.commits import CommitSource

    return CommitSource(os.getcwd(), revisions)


def file_source(workspace: Workspace, paths: Sequence[str]) -> Source:
    """Files and folders; their paths are told from the work tree. Raises NotFoundError for one that is not there."""
    from memcli.ingest.files import FileSource

    here = os.getcwd()
    return FileSource(paths, find_work_tree(here, os.path.expanduser("~")) or os.path.dirname(workspace.root))


def foreign_source(workspace: Workspace, path: str, data: bytes | None, form: str) -> ForeignSource:
    """The files of another tool: a folder, or one file (of the name `path`) whose content is `data`.

    Their names are told from the work tree.
    """
    from collections import Counter

    from memcli.ingest.foreign import ForeignSource, files_under, label

    base = find_work_tree(os.getcwd(), os.path.expanduser("~")) or os.path.dirname(workspace.root)
    skipped: Counter[str] = Counter()
    if data is None:
        return ForeignSource(files_under(path, base, skipped), form, skipped, strict=False)
    return ForeignSource([(label(path, base), data)], form, skipped, strict=True)


def open_watch(
    workspace: Workspace, paths: Sequence[str], globs: Sequence[str], *, with_git: bool, once: bool, stop: Event
) -> Watch:
    """A watch over the work tree that the working directory is in, going on from where the last one ended."""
    import shutil

    from memcli.app.watch import Watch
    from memcli.ingest.commits import CommitSource
    from memcli.ingest.files import FileSource
    from memcli.ingest.labels import readable
    from memcli.ingest.state import WatchState
    from memcli.ingest.watch import Watcher

    layout = Layout(workspace.root)
    work_tree = find_work_tree(os.getcwd(), os.path.expanduser("~"))
    if with_git and work_tree is not None and shutil.which("git") is None:
        workspace.warn("git is not on PATH: files are followed, commits are not")
        with_git = False
    saved = layout.local(f"{workspace.space}.watch.json")
    known = read_json(saved)
    watcher = Watcher(
        work_tree or layout.work_tree, paths=paths, globs=globs, with_git=with_git and work_tree is not None,
        state=None if known is None else WatchState.from_json(known), stop=stop, warn=workspace.warn, once=once,
    )  # fmt: skip
    base = work_tree or layout.work_tree
    make_folder(os.path.dirname(saved))

    def save() -> None:
        write_file(saved, encode(watcher.state.to_json()), 0o600)

    return Watch(
        workspace=workspace,
        work_tree=base,
        lock=layout.local("watch.lock"),
        batches=watcher.batches(),
        file_source=lambda files: FileSource([os.path.join(base, f) for f in files], base, may_be_gone=True),
        commit_source=lambda revisions: CommitSource(base, revisions),
        name_of=readable,
        save=save,
    )


def read_config(layout: Layout) -> dict[str, str]:
    """The configuration of the store. Raises UsageError when it is no TOML or names what it may not."""
    try:
        data = read_regular(layout.config, _MAX_CONFIG)
    except OSError as error:
        raise StoreError(f"cannot read {FOLDER}/config.toml: {error.strerror}", "make it a plain file") from None
    if data is None:
        return {}
    import tomllib

    try:
        return check_config(tomllib.loads(data.decode()), f"{FOLDER}/config.toml")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{FOLDER}/config.toml: {error}", "mend the file") from None


def _believed(config: dict[str, str], trust: FileTrust, warn: Warn) -> dict[str, str]:
    """What of the configuration holds: of a store that nobody here has accepted only what can do no harm."""
    loud = [name for name in config if name not in HARMLESS_FIELDS]
    if not loud or trust.is_accepted:
        return config
    warn(f"{FOLDER}/config.toml came with a clone: {', '.join(sorted(loud))} ignored until you run `memcli trust`")
    return {name: value for name, value in config.items() if name not in loud}


def _make(root: str) -> bool:
    """Makes the store at `root`, or adds what it lacks; whether it is new. What is made here is trusted here."""
    new = make_root(root)
    if new:
        FileTrust(Layout(root)).accept()
    return new


def _create(warn: Warn) -> str | None:
    work_tree = find_work_tree(os.getcwd(), os.path.expanduser("~"))
    if work_tree is None:
        return None
    root = os.path.join(work_tree, FOLDER)
    _make(root)
    warn(f"made a store at {root}; commit it to share it")
    return root


def _named_root(named: str) -> str:
    """`--root` names the store itself, or the folder that it is in."""
    path = os.path.abspath(named)
    return path if os.path.basename(path) == FOLDER else os.path.join(path, FOLDER)


def _index(
    layout: Layout, settings: Settings, warn: Warn, progress: Progress | None, past: RevisionStore | None
) -> Index:
    from memcli.index.cache import CachedIndex

    embedder = _choose(EMBEDDERS, settings.embedder or DEFAULT_EMBEDDER, "embedder")
    if past is None:
        return CachedIndex(layout.cache(""), embedder, warn, progress)
    from memcli.index.revisions import folder_for

    # An index of its own, so that a look back does not undo that of now; vectors are by text, and shared.
    return CachedIndex(folder_for(layout.cache("revisions"), past.commit), embedder, warn, progress, layout.cache(""))


def _ranker(warn: Warn) -> Callable[[str], Ranker]:
    def load(name: str) -> Ranker:
        from memcli.model.recall import DEFAULT_BACKEND

        if name and name not in RANKERS:
            warn(f"no backend {name!r} (there are {', '.join(sorted(RANKERS))}); using {DEFAULT_BACKEND}")
        return RANKERS.get(name, RANKERS[DEFAULT_BACKEND])()

    return load


def _choose(table: Mapping[str, _T], name: str, what: str) -> _T:
    if name not in table:
        raise UsageError(f"no {what} {name!r}", f"there are {', '.join(sorted(table))}")
    return table[name]


def _toml(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
