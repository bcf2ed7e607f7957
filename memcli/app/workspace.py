"""The Workspace: an open store with its adapters, and the space to work in. Also opens spaces, whole or with their index."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager

from memcli.errors import CorruptError, MemcliError, RefusedError, reason
from memcli.settings import DEFAULT_SPACE, REPO, journal_of, meant_by

TYPE_CHECKING = False
if TYPE_CHECKING:  # parts with one implementation have its class as type; a protocol is for two
    from typing import Any, Self

    from memcli.app.redact import Redactor
    from memcli.clock import Clock
    from memcli.index.view import IndexedSpace
    from memcli.ingest.code import WorkTree
    from memcli.model.memory import Memory
    from memcli.model.space import Policy, Space
    from memcli.ports import (
        AuditTrail,
        CallLedger,
        Embedder,
        Index,
        LanguageModel,
        Progress,
        Ranker,
        Snapshot,
        Store,
        Trash,
    )
    from memcli.store.known_commits import FileCommits
    from memcli.store.notes import LocalAnswers, LocalCounters, LocalGaps, LocalUpkeep, LocalUsage
    from memcli.store.sessions import FileSessions
    from memcli.store.trust import FileTrust
    from memcli.summarize import Describe


class Observer:
    """Observes a command: `ranker` may return a wrapper of the given ranker, which the command then uses. This class does nothing;
    a trace records what it is given (see `extras/telemetry/tracing.py`).

    `backend` is the name of the last ranker that was used.
    """

    def __init__(self) -> None:
        self.backend = ""

    def ranker(self, name: str, ranker: Ranker, sign: Callable[[str], str]) -> Ranker:
        """Called before the ranker of this name is used; `sign` returns a keyed digest of a topic."""
        del sign
        self.backend = name
        return ranker

    def shown(self, count: int) -> None:
        """Called when so many memories are shown."""
        del count

    def written(self, count: int) -> None:
        """Called when a write has touched so many memories."""
        del count

    def ended(self, space: str, code: int) -> None:
        """Called when the command in this space has ended with this exit code."""
        del space, code


class Workspace:
    """An open store with all adapters that a use case may need; `wiring/workspace.py` opens the attributes that are declared here."""

    origin: Workspace
    """The workspace that this one is a copy of, or itself."""
    root: str
    """The folder of the store."""
    space: str
    """The space to write to."""
    main: str = DEFAULT_SPACE
    """The space for memories that people and agents store, and the default of `space`."""
    is_space_named: bool = True
    """Whether the user has named `space`; if not, the spaces beside `main` are read with it."""
    is_alone: bool = False
    """Whether no other space is read with `space`."""
    is_noted: bool = True
    """Whether shown memories and topics without an answer are recorded."""
    project: str
    backend: str | None
    embedder: str
    """The name by which the user chose the embedder."""
    semantic: str
    """The name of the semantic layer."""
    model: str
    """The language model as `provider:model`; empty where none is configured."""
    hook_verify: str
    """The configured number of memories that a model verifies for the prompt of an agent."""
    named_session: str
    """The session that the environment names."""
    is_offline: bool
    clock: Clock
    patience: float
    """Seconds that a query waits for missing vectors; infinite under a frozen clock, where the result must not depend on time."""
    warn: Callable[[str], None]
    """Prints a warning, on standard error."""
    progress: Progress | None

    store: Store
    inbox: Store
    """Proposed memories, until a person accepts or rejects them."""
    trash: Trash
    audit: AuditTrail
    trust: FileTrust
    index: Index
    redactor: Redactor
    """Redacts secrets in every text before it is stored, and before it is shown."""
    describe: Describe
    sessions: FileSessions
    talk: Workspace
    """The workspace over the messages of the sessions (see `app/talk.py`)."""
    upkeep: LocalUpkeep
    usage: LocalUsage
    counters: LocalCounters
    gaps: LocalGaps
    answers: LocalAnswers
    """Answers of language models, so that the same question is not paid for twice."""
    ledger: CallLedger
    """The costs of calls to language models."""
    commits: FileCommits
    """The commits that were ingested."""
    elsewhere: Workspace | None
    """The user-wide store, where there is one besides this."""

    in_force: Callable[[Policy], Policy]
    """The effective policy: in a store that nobody here has accepted, only fields that restrict; for a derived space, the policy
    of `main`. Raises CorruptError, StoreError."""
    keeps_here: Callable[[str], bool]
    """Whether a space is on this machine, not on a server."""
    ranker: Callable[[str], Ranker]
    """The ranker of a name; the default one, with a warning, where there is none of that name."""
    load_embedder: Callable[[], Embedder | None]
    """The embedder; None when it is off. Raises UsageError, ProviderError."""
    load_code: Callable[[], WorkTree | None]
    """The files of the work tree as they are now; None where the store belongs to none."""
    language_model: Callable[..., LanguageModel]
    """The model that `spec` names as `provider:model`, or else the configured one; its calls count for this space.

    With `may_wait`, it refuses calls when less than a fifth of the day's quota is left. Raises UsageError when none is
    configured, RefusedError when offline or in a store that nobody has accepted, ProviderError when its SDK, key or address
    is missing."""
    advice: Callable[[str], Any]
    """The module of this name in `extras/advice/`, each of which has the calls of language models for one purpose."""
    drop_talk: Callable[[], None]
    """Empties the store of `talk`."""
    check_erasable: Callable[[Collection[str]], None]
    """Raises StoreError where this process cannot write a file that contains one of these marks (ids, hashes), to erase it."""
    erase_traces: Callable[[str, Collection[str]], None]
    """Erases deleted memories of a space, by id, from indexes and logs."""
    find_quotes: Callable[[Sequence[Memory]], Sequence[str]]
    """The names of other files, memories and commits that quote the texts of memories; warns of those that cannot be read."""

    def over_repo(self) -> Self:
        """The workspace over the space `repo`; itself where the user has named a space."""
        return self if self.is_space_named else self.copy_with(space=REPO)

    def copy_with(self, **changes: object) -> Self:
        """A copy with other values of some attributes. A part that is opened later is opened once for both.

        Raises TypeError for a name that is no attribute."""
        if unknown := changes.keys() - Workspace.__annotations__.keys():
            raise TypeError(f"a workspace has no {', '.join(sorted(unknown))}")
        # Without `__init__`, which would open the store once more.
        copy = object.__new__(type(self))
        vars(copy).update({**vars(self), **changes})
        return copy

    @property
    def spaces_to_read(self) -> list[str]:
        """The names of the spaces to read: the one that the user named, with its journal, or `main`, `repo` and the journal, as far
        as they exist; only the space itself where the workspace `is_alone`."""
        if self.is_alone:
            return [self.space]
        first, *others = meant_by(self.space) if self.is_space_named else (self.main, REPO, journal_of(self.main))
        return [first, *filter(self.has_space, others)]

    def fingerprint(self, name: str) -> str:
        """A digest that every write of the space changes; empty where it does not exist. Raises StoreError."""
        snapshot = self.store.open(name)
        snapshot.close()
        return snapshot.fingerprint

    def has_space(self, name: str) -> bool:
        """Whether there is a space of this name. Raises StoreError."""
        return bool(self.fingerprint(name))

    @contextmanager
    def behind_the_write(self, what: str = "cleanup") -> Iterator[None]:
        """A context for work after a committed write: a failure of this work, named `what`, is a warning, not an error."""
        try:
            yield
        except (MemcliError, OSError) as error:
            self.warn(f"saved, but {what} failed: {reason(error)}")

    def refusal(self, space: Space, what: str, instead: str = "") -> RefusedError | None:
        """The error for `what`, a deletion, if the effective policy of the space does not allow it; None otherwise."""
        # For what deletes by a rule: a purge of named memories is only confirmed, since a secret must go at once.
        if space.policy.is_derived or self.in_force(space.policy).allow_delete:
            return None
        if space.policy.allow_delete:
            return RefusedError(
                f"{what}, but this store was cloned and its policies cannot delete anything until you trust it",
                f"{instead}review it with `memcli trust --status`, accept it with `memcli trust`",
            )
        return RefusedError(
            f"{what}, but policy.allow_delete of space {space.name!r} is false",
            f"{instead}run `memcli space policy {space.name} --set allow_delete=true`",
        )


def load_space(store: Store, name: str) -> Space:
    """The whole space, empty if it does not exist. Raises CorruptError, StoreError."""
    with closing(store.open(name)) as snapshot:
        return snapshot.load()


def load(workspace: Workspace, space: str | None = None) -> Space:
    """The whole space, empty, with a warning, if it does not exist. Raises CorruptError, StoreError."""
    with closing(workspace.store.open(space or workspace.space)) as snapshot:
        warn_of_missing(workspace, snapshot)
        return snapshot.load()


@contextmanager
def opened(workspace: Workspace, space: str | None = None) -> Iterator[tuple[Snapshot, IndexedSpace]]:
    """The space as it is now, with its index brought up to date. Raises CorruptError, StoreError."""
    snapshot = workspace.store.open(space or workspace.space)
    try:
        warn_of_missing(workspace, snapshot)
        view = workspace.index.view(snapshot)
        is_damaged = False
        try:
            yield snapshot, view
        except Exception as error:
            is_damaged = shows_damage(error)
            raise
        finally:
            view.close()
            # After the view is closed, since this removes the files that it has open.
            if is_damaged:
                workspace.index.rebuild(snapshot.space)
    finally:
        snapshot.close()


def shows_damage(error: Exception) -> bool:
    """Whether an error may be caused by an index with damaged content, which is then to be rebuilt."""
    # By its name: `app` does no I/O and may not import sqlite3.
    if type(error).__name__ == "OperationalError":  # of SQLite: most often the database is only locked
        return "no such" in str(error)
    return isinstance(error, CorruptError) or not isinstance(error, (MemcliError, OSError))


def warn_of_missing(workspace: Workspace, snapshot: Snapshot) -> None:
    """Warns that the space does not exist, unless others are read with it."""
    if not snapshot.fingerprint and workspace.spaces_to_read in ([snapshot.space], [workspace.space]):
        workspace.warn(f"space {snapshot.space!r} is empty")
