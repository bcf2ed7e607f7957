"""Opens a workspace: every adapter that a use case may need, on the store that is meant."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from memcli.app.linked_store import LinkedStore
from memcli.app.redact import Redactor
from memcli.app.workspace import Workspace
from memcli.clock import frozen_clock, system_clock
from memcli.errors import UsageError
from memcli.model.memory import Json, Memory
from memcli.model.names import check_space
from memcli.model.space import Change, Policy
from memcli.ports import Progress, Ranker, Shelf, Store, Summarizer, Trash
from memcli.ports.usage import Observer, Unobserved
from memcli.ranking import RANKERS
from memcli.settings import BESIDE, HARMLESS_FIELDS, Config, is_server, resolve
from memcli.store.file import FileStore
from memcli.store.key import VARIABLE, signer
from memcli.store.layout import FOLDER, Layout, complete_ignore
from memcli.store.lock import WAIT_SECONDS
from memcli.store.state import State
from memcli.store.trust import FileTrust
from memcli.summarize import DEFAULT_SUMMARIZER, SUMMARIZERS
from memcli.wiring.indexes import ChosenEmbedder, absolute, open_index
from memcli.wiring.keeping import Keep, make
from memcli.wiring.models import embeddings, open_language_model, open_ledger
from memcli.wiring.policies import InForce, Policies
from memcli.wiring.records import AuditRecords, StoreRecords, open_files
from memcli.wiring.roots import (
    Warn,
    check_store,
    claimed,
    complete_root,
    create_root,
    global_root,
    locate,
    make_trusted,
    no_store,
    read_config,
)
from memcli.wiring.sessions import drop_talk, open_counters, open_gaps, open_sessions, open_talk, open_usage, sign_topic
from memcli.wiring.sources import open_commits, open_work_tree

if TYPE_CHECKING:
    from memcli.index.reading import Show
    from memcli.ports.answers import Answers
    from memcli.ports.upkeep import UpkeepLog
    from memcli.safety.secrets.detector import Detector
    from memcli.settings import Settings
    from memcli.store.revision import RevisionStore

_T = TypeVar("_T")


def open_workspace(
    options: Mapping[str, str | None],
    environ: Mapping[str, str],
    *,
    create: bool = False,
    warn: Warn = lambda _: None,
    progress: Progress | None = None,
    keep: Keep = make,
    observer: Observer | None = None,
) -> Workspace:
    """The workspace of the store that `options` and `environ` lead to from the working directory.

    With `create`, creates a store in a git work tree that has none. `keep` gives what it made before for the same key, for
    a process that opens many; `observer` sees what is done. Raises NotFoundError if there is no store, StoreError, UsageError.
    """
    layout = claimed(_root(options, environ, create, warn), warn)
    if create:
        complete_ignore(layout)
    trust = FileTrust(layout)
    environ = _surroundings(options, environ)
    settings = resolve(options, environ, _believed(read_config(layout), os.path.dirname(layout.root), trust, warn))
    clock = frozen_clock(settings.freeze_clock) if settings.freeze_clock else system_clock
    policies = Policies(lambda name: kept.store.open(name), settings.main, trust, warn)  # noqa: PLW0108 - `kept` follows
    past = _past(layout, options.get("rev"), warn)
    records = AuditRecords(layout, clock, environ, options.get("command") or "memcli", warn)
    summarizer = cache(_choose(SUMMARIZERS, settings.semantic or DEFAULT_SUMMARIZER, "semantic layer"))
    fold = partial(_fold, trust, policies, lambda: kept.load_trash(), summarizer)  # noqa: PLW0108
    wait = float(options.get("lock_wait") or WAIT_SECONDS)
    observer = observer or Unobserved()

    def show(memories: Sequence[Memory], policy: Policy) -> Sequence[Memory]:
        return workspace.redactor.rewrite(memories, policy)

    kept: StoreRecords = _kept(
        settings, layout, environ, fold, wait, records, policies.in_force, show, lambda: trust.is_accepted
    )
    store = observer.store(past or LinkedStore(kept.store, kept.load_trash, warn))
    embedder = ChosenEmbedder(settings.embedder, layout.cache(""), embeddings(lambda: workspace, environ), keep)
    talk_index = partial(open_index, embedder, keep=keep, warn=warn, progress=progress)
    workspace = Workspace(
        store=store,
        inbox=FileStore(Layout(layout.private("inbox"), layout.private("inbox")), fold, wait=wait, is_local=True),
        trust=trust, load_embedder=embedder.load, load_summarizer=summarizer,
        load_trash=kept.load_trash, load_audit=kept.load_audit, load_ledger=kept.load_ledger,
        load_index=cache(lambda: open_index(embedder, layout, keep, warn, progress, past, kept.server, show)),
        load_redactor=cache(lambda: _redactor(store, layout, environ, policies.in_force, trust, warn, keep)),
        load_sessions=cache(partial(open_sessions, layout, wait)), drop_talk=partial(drop_talk, layout),
        load_talk=cache(lambda: open_talk(workspace, layout, fold, wait, talk_index)),
        load_language_model=lambda *asked: open_language_model(workspace, environ, *asked),
        ranker=partial(_ranker, warn, keep, observer, layout),
        clock=clock, asked_session=environ.get("MEMCLI_SESSION", ""), govern=policies.in_force,
        keeps_here=BESIDE.__contains__ if kept.server else lambda _: True, root=layout.root, embedder=embedder.name, **_told(settings),
        load_code=lambda: None if past else open_work_tree(layout.root, environ),
        load_elsewhere=cache(lambda: None if past else _elsewhere(layout.root, options, environ, warn, progress, keep)),
        load_commits=cache(lambda: open_commits(layout, store, policies.in_force, settings)),
        check_erasable=layout.check_erasable, erase_traces=records.erase_traces,
        find_quotes=partial(_find_quotes, layout, store, warn),
        **_logs(State(layout, warn), environ, trust, observer, is_frozen=bool(settings.freeze_clock), is_past=past is not None),
        warn=warn, progress=progress,
    )  # fmt: skip
    return workspace


def _kept(
    settings: Settings,
    layout: Layout,
    environ: Mapping[str, str],
    fold: Callable[..., tuple[Change, Json]],
    wait: float,
    records: AuditRecords,
    in_force: InForce,
    show: Show,
    is_accepted: Callable[[], bool],
) -> StoreRecords:
    """Where spaces are kept: in files, or on a server. Raises UsageError."""
    files = open_files(layout, fold, wait, records, in_force, show, is_accepted)
    local = StoreRecords(files, records.trash, records.audit, lambda: open_ledger(layout, records.warn))
    if not settings.store:
        return local
    check_store(settings.store, "store")
    from memcli.wiring.shared import open_server, share

    return share(open_server(settings.store, environ, wait), local, fold, records, in_force, records.warn)


def chosen_store(options: Mapping[str, str | None], environ: Mapping[str, str]) -> str:
    """The URL of the server that has the store which `options` and `environ` lead to; "" where it is in files."""
    layout = Layout(_root(options, environ, create=False, warn=lambda _: None))
    believed = _believed(read_config(layout), os.path.dirname(layout.root), FileTrust(layout), lambda _: None)
    return resolve(options, _surroundings(options, environ), believed).store


def _told(settings: Settings) -> dict[str, Any]:
    """What of the settings a workspace has as it is. Raises UsageError."""
    return {
        "space": check_space(settings.space), "main": check_space(settings.main),
        "is_space_named": settings.is_space_named, "project": settings.project, "backend": settings.backend,
        "model": settings.model or "", "is_offline": settings.is_offline,
        "hook_verify": settings.hook_verify or "",
        "semantic": settings.semantic or DEFAULT_SUMMARIZER,
    }  # fmt: skip


def _logs(
    state: State, environ: Mapping[str, str], trust: FileTrust, observer: Observer, **are: bool
) -> dict[str, Any]:
    """What is kept of the use of a store, on this machine alone, each loaded when it is first needed."""
    return {
        "load_usage": cache(lambda: observer.usage(open_usage(state, environ, **are))),
        "load_counters": cache(partial(open_counters, state, environ, trust, **are)),
        "load_gaps": cache(partial(open_gaps, state, environ, **are)),
        "load_upkeep": cache(lambda: _upkeep(state)),
        "load_answers": cache(lambda: _answers(state)),
    }


def _upkeep(state: State) -> UpkeepLog:
    from memcli.store.notes import LocalUpkeep

    return LocalUpkeep(state)


def _answers(state: State) -> Answers:
    from memcli.store.answers import LocalAnswers

    return LocalAnswers(state)


def _root(options: Mapping[str, str | None], environ: Mapping[str, str], create: bool, warn: Warn) -> str:
    """The folder of the store. Raises NotFoundError if there is none."""
    if options.get("store") == "global":
        root = global_root(environ)
        make_trusted(root)
        return root
    found = locate(options, environ)
    if create:
        found = create_root(warn) if found is None else complete_root(found)
    if found is None:
        raise no_store()
    return found


def without_server(environ: Mapping[str, str]) -> Mapping[str, str]:
    """The environment for the user-wide store: the server that it names is that of the project."""
    return {name: value for name, value in environ.items() if name != "MEMCLI_STORE"}


def _surroundings(options: Mapping[str, str | None], environ: Mapping[str, str]) -> Mapping[str, str]:
    """The environment without what is not for the store that the option `store` names."""
    store = options.get("store") or ""
    if is_server(store) and "schema=" in store.partition("?")[2]:  # a URL that is named decides by itself
        return {name: value for name, value in environ.items() if name != "MEMCLI_STORE_SCHEMA"}
    return without_server(environ) if store == "global" else environ


def _redactor(
    store: Store,
    layout: Layout,
    environ: Mapping[str, str],
    in_force: InForce,
    trust: FileTrust,
    warn: Warn,
    keep: Keep,
) -> Redactor:
    key = environ.get(VARIABLE)
    store_itself = os.stat(layout.root).st_ino  # another one at the same place has another key
    detectors: dict[bytes, Detector] = keep(("detectors", layout.root, store_itself, key), dict)
    sign, is_accepted = signer(layout, environ), lambda: trust.is_accepted
    return Redactor(store, sign, in_force, cache(warn), detectors, has_shared_key=bool(key), is_accepted=is_accepted)


def _find_quotes(layout: Layout, store: Store, warn: Warn, memories: Sequence[Memory]) -> list[str]:
    from memcli.wiring.records import find_quotes

    return find_quotes(layout, store, memories, warn)


def _past(layout: Layout, revision: str | None, warn: Warn) -> RevisionStore | None:
    """The store as it was at a commit, where one is named."""
    if revision is None:
        return None
    from memcli.store.revision import open_revision

    return open_revision(layout, revision, warn)


def _fold(
    trust: FileTrust,
    policies: Policies,
    load_trash: Callable[[], Trash],
    load_summarizer: Callable[[], Summarizer],
    shelf: Shelf,
    request: Json,
) -> tuple[Change, Json]:
    from memcli.app.remember import fold

    name = shelf.header.name
    shelf = policies.over(shelf)
    # What a full space would let go is a policy's to say, and that of a stranger deletes nothing.
    may_compact = shelf.header.policy.max_objects is None or trust.is_accepted
    return fold(
        shelf,
        request,
        may_compact,
        lambda memory: load_trash().holds(name, memory),
        lambda fields: load_summarizer().describe(fields),
    )


def _elsewhere(
    root: str,
    options: Mapping[str, str | None],
    environ: Mapping[str, str],
    warn: Warn,
    progress: Progress | None,
    keep: Keep,
) -> Workspace | None:
    """The user-wide store, when there is one and it is not the store at `root` itself."""
    other = global_root(environ)
    if other == root or not os.path.isdir(other) or os.path.islink(other):
        return None
    same = {
        name: options.get(name) for name in ("command", "freeze_clock", "backend", "embedder", "offline", "lock_wait")
    }
    return open_workspace({**same, "root": other}, without_server(environ), warn=warn, progress=progress, keep=keep)


def _believed(config: Config, base: str, trust: FileTrust, warn: Warn) -> Mapping[str, str]:
    """What of the configuration holds: of a store that nobody here has accepted only what can do no harm. Paths in it begin
    at `base`."""
    if config.problems:
        warn(f"{FOLDER}/config.toml: {'; '.join(config.problems)}: ignored")
    loud = [name for name in config.values if name not in HARMLESS_FIELDS]
    if not loud or trust.is_accepted:
        return {name: absolute(value, base) if name == "embedder" else value for name, value in config.values.items()}
    warn(f"{FOLDER}/config.toml was cloned: ignoring {', '.join(sorted(loud))} until you run `memcli trust`")
    return {name: value for name, value in config.values.items() if name not in loud}


def _ranker(warn: Warn, keep: Keep, observer: Observer, layout: Layout, name: str) -> Ranker:
    from memcli.model.recall import DEFAULT_BACKEND

    if name and name not in RANKERS:
        warn(f"no backend {name!r} (known: {', '.join(sorted(RANKERS))}); using {DEFAULT_BACKEND}")
    known = name if name in RANKERS else DEFAULT_BACKEND
    return observer.ranker(known, keep(("ranker", known), RANKERS[known]), partial(sign_topic, layout))


def _choose(table: Mapping[str, _T], name: str, what: str) -> _T:
    if name not in table:
        raise UsageError(f"no {what} {name!r}", f"choose one of {', '.join(sorted(table))}")
    return table[name]
