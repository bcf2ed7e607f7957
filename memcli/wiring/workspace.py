"""Opens a workspace: all adapters that a use case may need, on the store of a command. A derived space has the policy of
`main`."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing, suppress
from functools import cache, cached_property, partial

from memcli.app.linked_store import LinkedStore
from memcli.app.redact import Redactor
from memcli.app.workspace import Observer, Workspace
from memcli.beneath import remove_tree
from memcli.clock import frozen_clock, system_clock
from memcli.codec.space import policy_problems
from memcli.embed import DEFAULT_EMBEDDER
from memcli.embed import FOLDER as MODEL_FOLDER
from memcli.errors import UsageError
from memcli.model.names import check_space
from memcli.model.space import Change, Policy
from memcli.policy.fields import check_rules, tightened
from memcli.record import replace
from memcli.safety.screening import inspect
from memcli.settings import BESIDE, DEFAULT_SUMMARIZER, HARMLESS_FIELDS, Config, is_server, resolve
from memcli.store.atomic import read_regular
from memcli.store.file import FileStore
from memcli.store.layout import FOLDER, Layout, complete_ignore, find_work_tree
from memcli.store.lock import WAIT_SECONDS
from memcli.store.state import State
from memcli.store.trust import VARIABLE as KEY_VARIABLE
from memcli.store.trust import FileTrust, sealer, signer
from memcli.wiring import extra
from memcli.wiring.indexes import Keep, load_embedder, make, open_index
from memcli.wiring.records import LocalRecords
from memcli.wiring.roots import Warn, check_store, claimed, global_root, read_config, root_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from memcli.ingest.code import WorkTree
    from memcli.model.memory import Json, Memory
    from memcli.model.space import Change, Policy
    from memcli.ports import AuditTrail, CallLedger, Index, LanguageModel, Progress, Ranker, Shelf, Store, Trash
    from memcli.safety.secrets.detector import Detector
    from memcli.store.known_commits import FileCommits
    from memcli.store.notes import LocalAnswers, LocalCounters, LocalGaps, LocalUpkeep, LocalUsage
    from memcli.store.sessions import FileSessions
    from memcli.store.snapshot import RevisionStore
    from memcli.wiring.indexes import Remote

    T = TypeVar("T")


_SESSION_VARIABLE = "MEMCLI_SESSION"
_MAX_RULES = 1 << 20
_PATIENCE_SECONDS = 1.0
"""A query computes missing vectors for so long; `Workspace.patience` has it."""
_TALK = os.path.join("cache", "sessions")
"""The folder of the store by which sessions are searched. It has their texts, and so is in the private state: a commit may track
any file of the work tree."""


class _Lazy(cached_property):  # type: ignore[type-arg]
    """A part of a workspace that is opened when it is first used, once for the workspace and all its copies."""

    def __get__(self, workspace: Workspace, owner: type | None = None) -> Any:  # type: ignore[override]
        if workspace is workspace.origin:
            return super().__get__(workspace, owner)
        name = str(self.attrname)
        part = vars(workspace)[name] = getattr(workspace.origin, name)
        return part


def lazy(open_part: Callable[[Any], T]) -> T:
    """A decorator that makes an attribute of a method; its type is that of the result."""
    return _Lazy(open_part)  # type: ignore[return-value]


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
    """The workspace over the store that `options`, `environ` and the working directory select.

    With `create`, makes a store in a git work tree that has none. `keep` caches parts for a process that opens many workspaces;
    `observer` gets the ports of the command. Raises NotFoundError if there is no store, StoreError, UsageError.
    """
    layout = claimed(root_of(options, environ, create, warn), warn)
    if create:
        complete_ignore(layout)
    return StoreWorkspace(
        layout, options, _surroundings(options, environ), warn, progress, keep, observer or Observer()
    )


class StoreWorkspace(Workspace):
    """The workspace over the store at `layout`. Parts that not every command needs are opened when they are first used."""

    def __init__(
        self, layout: Layout, options: Mapping[str, str | None], environ: Mapping[str, str], warn: Warn,
        progress: Progress | None, keep: Keep, observer: Observer,
    ) -> None:  # fmt: skip
        """Raises StoreError, UsageError."""
        self.origin, self.root, self.warn, self.progress = self, layout.root, warn, progress
        self._layout, self._options, self._environ, self._keep, self._observer = (
            layout,
            options,
            environ,
            keep,
            observer,
        )
        self.trust = trust = FileTrust(layout)
        config = _accepted(read_config(layout), os.path.dirname(layout.root), trust, warn)
        self._settings = settings = resolve(options, environ, config)
        self.clock = frozen_clock(settings.freeze_clock) if settings.freeze_clock else system_clock
        self.patience = math.inf if settings.freeze_clock else _PATIENCE_SECONDS
        self._policy_of_main, self._warn_once = {"": Policy()}, cache(warn)
        self._past: RevisionStore | None = None
        if options.get("rev") is not None:  # the store as it was at a commit
            from memcli.store.snapshot import open_revision

            self._past = open_revision(layout, str(options["rev"]), warn)
        self._state = State(layout, warn)
        self._is_recording = recording(layout, environ, is_frozen=bool(settings.freeze_clock))
        self.semantic = settings.semantic or DEFAULT_SUMMARIZER
        if self.semantic != DEFAULT_SUMMARIZER:
            from memcli.summarize import SUMMARIZERS

            if self.semantic not in SUMMARIZERS:
                known = ", ".join(sorted(SUMMARIZERS))
                raise UsageError(f"no semantic layer {self.semantic!r}", f"choose one of {known}")
        self._wait = float(options.get("lock_wait") or WAIT_SECONDS)
        self._local = local = LocalRecords(layout, self.clock, environ, options.get("command") or "memcli", self._state)
        files = local.open_store(self._fold, self._wait, self.in_force, self._as_shown, lambda: trust.is_accepted)
        self._spaces: Store = files
        self._server: Any = None  # an `extras.postgres.opening.ServerRecords`, where the spaces are on a server
        if settings.store:
            check_store(settings.store, "store")
            opening = extra("postgres.opening")
            server = opening.open_server(settings.store, environ, self._wait)
            self._server = opening.ServerRecords(server, local, files, self._fold, self.in_force)
            self._spaces = self._server.store
        self.store = self._past or LinkedStore(self._spaces, lambda: self.trash, warn, observer.written)
        private = layout.private("inbox")
        # In files even if the spaces are on a server: proposals are for the user of this machine to review.
        self.inbox = FileStore(Layout(private, private), self._fold, wait=self._wait, is_local=True)

        def remote() -> Remote:
            found: Remote = extra("providers.opening").embeddings(self, environ)
            return found

        self.embedder = settings.embedder or DEFAULT_EMBEDDER
        self.load_embedder = partial(load_embedder, self.embedder, layout.cache(""), remote, keep)
        self.space, self.main = check_space(settings.space), check_space(settings.main)
        self.is_space_named, self.is_offline = settings.is_space_named, settings.is_offline
        self.project, self.backend, self.model = settings.project, settings.backend, settings.model or ""
        self.hook_verify, self.named_session = settings.hook_verify or "", environ.get(_SESSION_VARIABLE, "")
        self.check_erasable, self.erase_traces = layout.check_erasable, local.erase_traces

    @lazy
    def trash(self) -> Trash:
        trash: Trash = (self._server or self._local).trash
        return trash

    @lazy
    def audit(self) -> AuditTrail:
        audit: AuditTrail = (self._server or self._local).audit
        return audit

    @lazy
    def ledger(self) -> CallLedger:
        ledger: CallLedger = (self._server or self._local).ledger
        return ledger

    @lazy
    def index(self) -> Index:
        from memcli.index.tables import Screen

        server = self._server.server if self._server else None
        return open_index(
            self.embedder, self.load_embedder, self._layout, self._keep, self.warn, self.progress, self._past, server,
            Screen(self._as_shown, lambda memory: inspect(memory) is None, self._sealer),
        )  # fmt: skip

    def describe(self, fields: Mapping[str, object]) -> dict[str, object]:
        from memcli.summarize import SUMMARIZERS

        return SUMMARIZERS[self.semantic](fields)

    @lazy
    def redactor(self) -> Redactor:
        key = self._environ.get(KEY_VARIABLE)
        inode = os.stat(self.root).st_ino  # another store at the same path has another key
        detectors: dict[bytes, Detector] = self._keep(("detectors", self.root, inode, key), dict)
        sign = signer(self._layout, self._environ)
        return Redactor(
            self.store, sign, self.in_force, cache(self.warn), detectors, has_shared_key=bool(key),
            is_accepted=lambda: self.trust.is_accepted,
        )  # fmt: skip

    def _as_shown(self, memories: Sequence[Memory], policy: Policy) -> Sequence[Memory]:
        return self.redactor.rewrite(memories, policy)

    def _sealer(self, policy: Policy) -> Callable[[bytes], bytes] | None:
        """The seal of what the built-in rules find plain: under a policy with rules of its own, texts are searched anew."""
        return None if self.in_force(policy).pii_redaction else sealer()

    @lazy
    def sessions(self) -> FileSessions:
        from memcli.store.sessions import FileSessions

        return FileSessions(self._layout, self._wait)

    @lazy
    def talk(self) -> Workspace:
        from memcli.summarize.summarizers import describe_plainly

        folder = self._layout.private(_TALK)
        own = Layout(folder, folder)

        def erase(space: str, ids: Collection[str]) -> None:
            from memcli.index.erasing import erase as erase_index
            from memcli.store.pending import remove_leftovers

            erase_index(own.cache(""), own.index(space), ids, own.written_at(space))
            remove_leftovers(own)

        return self.copy_with(
            store=FileStore(own, self._fold, wait=self._wait, is_local=True),
            index=open_index(self.embedder, self.load_embedder, own, self._keep, self.warn, self.progress),
            # Messages are short, and are found as well by their texts as with summaries.
            describe=describe_plainly,
            root=own.root,
            is_space_named=True,
            load_code=lambda: None,
            elsewhere=None,
            erase_traces=erase,
        )

    def drop_talk(self) -> None:
        folder = self._layout.private(_TALK)  # emptied, not replaced: other processes may have it open
        with suppress(OSError):
            for name in os.listdir(folder):
                remove_tree(os.path.join(folder, name), ignore_errors=True)

    @lazy
    def upkeep(self) -> LocalUpkeep:
        from memcli.store.notes import LocalUpkeep

        return LocalUpkeep(self._state)

    @lazy
    def answers(self) -> LocalAnswers:
        from memcli.store.notes import LocalAnswers

        return LocalAnswers(self._state)

    @lazy
    def usage(self) -> LocalUsage:
        from memcli.store.notes import LocalUsage

        return LocalUsage(self._notes, self.named_session, self._is_recording, tell=self._observer.shown)

    @lazy
    def counters(self) -> LocalCounters:
        from memcli.store.notes import LocalCounters

        return LocalCounters(self._notes, lambda: self._is_recording() and self.trust.is_accepted)

    @lazy
    def gaps(self) -> LocalGaps:
        from memcli.store.notes import LocalGaps

        return LocalGaps(self._notes, self._is_recording)

    @lazy
    def _notes(self) -> State:
        """The state in which the use of the store is recorded; an empty one, not stored, for the state at a commit."""
        return State(self._layout, self.warn, is_empty=True) if self._past else self._state

    @lazy
    def commits(self) -> FileCommits:
        from memcli.store.known_commits import FileCommits

        return FileCommits(self._layout, self.store.open, self._rules_of_commits)

    def _rules_of_commits(self, space: str) -> str:
        """A digest of everything, beside the commit itself, on which its memories in a space depend."""
        from memcli import __version__
        from memcli.codec.canonical import encode_line
        from memcli.codec.space import policy_to_json
        from memcli.digests import sha256

        policy = policy_to_json(self.in_force(self.store.policy(space)))
        rules = encode_line([__version__, policy, self._settings.semantic, self.project])
        work_tree = find_work_tree(os.getcwd(), os.path.expanduser("~")) or self._layout.work_tree
        ignored = read_regular(os.path.join(work_tree, ".secretsignore"), _MAX_RULES)
        return sha256(rules + (ignored or b"")).hexdigest()

    @lazy
    def elsewhere(self) -> Workspace | None:
        other = global_root(self._environ)
        # No folder of a store may be a link, which could lead to anybody's files.
        if self._past or other == self.root or not os.path.isdir(other) or os.path.islink(other):
            return None
        # Not options that select a store, a space or a commit: they are for the store of the project.
        same = ("command", "freeze_clock", "backend", "embedder", "offline", "lock_wait")
        options = {**{name: self._options.get(name) for name in same}, "root": other}
        environ = without_server(self._environ)
        return open_workspace(options, environ, warn=self.warn, progress=self.progress, keep=self._keep)

    def in_force(self, policy: Policy) -> Policy:
        """See `Workspace.in_force`; warns once of an invalid field."""
        for wrong in policy_problems(policy).values() if policy.extra else ():
            self._warn_once(f"policy: {wrong}; it is ignored until `memcli space policy` corrects it")
        whole = self._whole(policy)
        return whole if self.trust.is_accepted else tightened(whole)  # nobody here has accepted the store

    def _whole(self, policy: Policy) -> Policy:
        """The policy; of a derived space, that of `main`, which is read once for each version of `main`."""
        if not policy.is_derived:
            return policy
        with closing(self._spaces.open(self._settings.main)) as snapshot:
            if snapshot.fingerprint not in self._policy_of_main:
                self._policy_of_main.clear()
                self._policy_of_main[snapshot.fingerprint] = snapshot.header().policy
            return policy.derived_from(self._policy_of_main[snapshot.fingerprint])

    def keeps_here(self, space: str) -> bool:
        return self._server is None or space in BESIDE

    def ranker(self, name: str) -> Ranker:
        from memcli.model.recall import DEFAULT_BACKEND
        from memcli.ranking import RANKERS, open_ranker

        if name and name not in RANKERS:
            self.warn(f"no backend {name!r} (known: {', '.join(sorted(RANKERS))}); using {DEFAULT_BACKEND}")
        known = name if name in RANKERS else DEFAULT_BACKEND
        sign = partial(sign_topic, self._layout)
        return self._observer.ranker(known, self._keep(("ranker", known), lambda: open_ranker(known)), sign)

    def load_code(self) -> WorkTree | None:
        """The work tree that contains the store; None for the user-wide store, and for the state at a commit."""
        if self._past or self.root == global_root(self._environ):
            return None
        from memcli.ingest.code import WorkTree

        folder = os.path.dirname(self.root)
        return WorkTree(find_work_tree(folder, os.path.expanduser("~")) or folder)

    def language_model(self, spec: str | None = None, *, may_wait: bool = False) -> LanguageModel:
        opening = extra("providers.opening")  # calls of copies are charged to the space of the origin
        model: LanguageModel = opening.open_language_model(self.origin, self._environ, spec, may_wait)
        return model

    def advice(self, name: str) -> Any:
        return extra(f"advice.{name}")

    def find_quotes(self, memories: Sequence[Memory]) -> Sequence[str]:
        from memcli.wiring.records import find_quotes

        found = find_quotes(self._layout, self.origin.store, memories, self.warn)
        # Recall searches the user-wide store too.
        beyond = self.elsewhere.find_quotes(memories) if self.elsewhere else ()
        return [*found, *(f"{quote} of the user-wide store" for quote in beyond)]

    def _fold(self, shelf: Shelf, request: Json) -> tuple[Change, Json]:
        """Turns a request to store memories into a change: see `app.remember.fold`."""
        from memcli.app.remember import fold

        name = shelf.header.name
        policy = self._whole(shelf.header.policy)
        if policy.auto_pin and not self.trust.is_accepted:  # a cloned policy must not make a write fail
            try:
                check_rules(policy.auto_pin)
            except UsageError as error:
                self._warn_once(f"{error.message}; auto_pin is ignored")
                policy = replace(policy, auto_pin=())
        if policy is not shelf.header.policy:
            from memcli.policy.draft import Draft

            draft = Draft(shelf)
            draft.take(Change(header=replace(shelf.header, policy=policy)))
            shelf = draft
        # `max_objects` of a policy that nobody here has accepted deletes nothing.
        may_compact = shelf.header.policy.max_objects is None or self.trust.is_accepted

        def is_in_trash(memory: str) -> bool:
            has_trash = self._server is not None or os.path.isdir(self._layout.private("trash"))
            return has_trash and self.trash.holds(name, memory)

        return fold(
            shelf, request, may_compact, is_in_trash, self.describe,
            lambda *step: self.advice("advised").follow(*step),
        )  # fmt: skip


def chosen_store(options: Mapping[str, str | None], environ: Mapping[str, str]) -> str:
    """The URL of the server of the store that `options` and `environ` select; "" where it is in files."""
    layout = Layout(root_of(options, environ, create=False, warn=lambda _: None))
    config = _accepted(read_config(layout), os.path.dirname(layout.root), FileTrust(layout), lambda _: None)
    return resolve(options, _surroundings(options, environ), config).store


def recording(layout: Layout, environ: Mapping[str, str], *, is_frozen: bool) -> Callable[[], bool]:
    """A function whether the use of a store is recorded: not under a frozen clock, nor while memory is off."""
    from memcli.store.trust import is_off

    return cache(lambda: not (is_frozen or is_off(layout.root, environ)))


def sign_topic(layout: Layout, topic: str) -> str:
    """A digest of a topic, keyed by the secret of the store; empty where that cannot be read."""
    from memcli.digests import blake2b
    from memcli.errors import MemcliError
    from memcli.store.trust import own_key

    try:
        key = own_key(layout)
    except (MemcliError, OSError):
        return ""
    data = " ".join(topic.lower().split()).encode("utf-8", "replace")
    return blake2b(data, key=key, digest_size=8, person=b"memcli/otel/1").hexdigest()


def without_server(environ: Mapping[str, str]) -> Mapping[str, str]:
    """The environment for the user-wide store: a server in it is for the store of the project."""
    return {name: value for name, value in environ.items() if name != "MEMCLI_STORE"}


def _surroundings(options: Mapping[str, str | None], environ: Mapping[str, str]) -> Mapping[str, str]:
    """The environment without variables that do not apply to the store that the option `store` names."""
    store = options.get("store") or ""
    if is_server(store) and "schema=" in store.partition("?")[2]:  # the schema in the URL of an option has precedence
        return {name: value for name, value in environ.items() if name != "MEMCLI_STORE_SCHEMA"}
    return without_server(environ) if store == "global" else environ


def _accepted(config: Config, base: str, trust: FileTrust, warn: Warn) -> Mapping[str, str]:
    """The settings of the configuration that apply: all of them, or the harmless ones of a store that nobody here has accepted.
    Paths are relative to `base`."""
    if config.problems:
        warn(f"{FOLDER}/config.toml: {'; '.join(config.problems)}: ignored")
    risky = [name for name in config.values if name not in HARMLESS_FIELDS]
    if not risky or trust.is_accepted:
        values = dict(config.values)
        if values.get("embedder", "").startswith(MODEL_FOLDER):
            folder = os.path.expanduser(values["embedder"].removeprefix(MODEL_FOLDER))
            values["embedder"] = MODEL_FOLDER + os.path.join(base, folder)
        return values
    warn(f"{FOLDER}/config.toml was cloned: ignoring {', '.join(sorted(risky))} until you run `memcli trust`")
    return {name: value for name, value in config.values.items() if name not in risky}
