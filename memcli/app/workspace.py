"""The Workspace: every port that a use case may need, bundled once.

Opens spaces, whole or with their index.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from memcli.app.redact import Redactor
from memcli.clock import Clock
from memcli.errors import CorruptError, MemcliError, RefusedError, reason
from memcli.model.memory import Memory
from memcli.model.space import Policy, Space
from memcli.ports import AuditTrail, Embedder, Index, Progress, Ranker, Snapshot, Store, Summarizer, Trash, Trust
from memcli.ports.answers import Answers, NoAnswers
from memcli.ports.code import CodeReader, KnownCommits, NoCommits
from memcli.ports.gaps import Gaps, NoGaps
from memcli.ports.sessions import SessionStore
from memcli.ports.upkeep import UpkeepLog
from memcli.ports.usage import Counters, NoCounters, NoUsage, Usage
from memcli.record import Record
from memcli.settings import DEFAULT_SPACE, REPO, journal_of, meant_by

if TYPE_CHECKING:
    from memcli.ports.language_model import CallLedger, LanguageModel
    from memcli.ports.views import SpaceView


class Workspace(Record, kw_only=True):
    """A store, opened. What not every use case needs is loaded when it is first asked for.

    `space` is the one to write to, and `main` the one for what people tell; unless the user has named a space, what reads
    asks `asked_spaces`. `govern` says what of a policy holds here, `keeps_here` whether a space is on this machine, not on a
    server.
    What is proposed waits in `inbox`, a store like the other. `load_code` gives the files as they are when it is called,
    None where the store belongs to no work tree of now. `load_talk` gives the workspace over what was said in the sessions
    (see `app/talk.py`), which `drop_talk` removes. `embedder` is the name by which the
    user chose the embedder, `asked_session` the session that the environment names, and `hook_verify` says how many memories a model verifies for the prompt of an agent.
    `check_erasable` refuses to erase what has one of the marks (an id, a hash) where this process cannot write; `erase_traces`
    takes memories of a space that are gone for good out of indexes and logs; `find_quotes` names what else holds their texts, and warns of what it cannot read. `warn` and `progress` speak to the user, never on standard output.
    """

    store: Store
    inbox: Store
    trust: Trust
    load_trash: Callable[[], Trash]
    load_audit: Callable[[], AuditTrail]
    load_index: Callable[[], Index]
    load_embedder: Callable[[], Embedder | None]
    load_summarizer: Callable[[], Summarizer]
    load_redactor: Callable[[], Redactor]
    load_sessions: Callable[[], SessionStore]
    load_talk: Callable[[], Workspace]
    load_upkeep: Callable[[], UpkeepLog]
    drop_talk: Callable[[], None]
    load_language_model: Callable[[str | None, bool], LanguageModel]
    load_ledger: Callable[[], CallLedger]
    ranker: Callable[[str], Ranker]
    clock: Clock
    space: str
    root: str
    main: str = DEFAULT_SPACE
    is_space_named: bool = True
    is_alone: bool = False
    govern: Callable[[Policy], Policy] = lambda policy: policy
    keeps_here: Callable[[str], bool] = lambda _: True
    project: str = ""
    backend: str | None = None
    embedder: str = ""
    model: str = ""
    semantic: str = ""
    hook_verify: str = ""
    asked_session: str = ""
    is_offline: bool = False
    load_elsewhere: Callable[[], Workspace | None] = lambda: None
    load_code: Callable[[], CodeReader | None] = lambda: None
    check_erasable: Callable[[Collection[str]], None] = lambda _: None
    erase_traces: Callable[[str, Collection[str]], None] = lambda *_: None
    find_quotes: Callable[[Sequence[Memory]], Sequence[str]] = lambda _: ()
    load_usage: Callable[[], Usage] = NoUsage
    load_counters: Callable[[], Counters] = NoCounters
    load_gaps: Callable[[], Gaps] = NoGaps
    load_answers: Callable[[], Answers] = NoAnswers
    load_commits: Callable[[], KnownCommits] = NoCommits
    warn: Callable[[str], None] = lambda _: None
    progress: Progress | None = None

    @property
    def trash(self) -> Trash:
        """What was removed and can be brought back."""
        return self.load_trash()

    @property
    def audit(self) -> AuditTrail:
        """What was done, by whom and when."""
        return self.load_audit()

    @property
    def index(self) -> Index:
        """What recall keeps beside the store."""
        return self.load_index()

    @property
    def summarizer(self) -> Summarizer:
        """The semantic layer."""
        return self.load_summarizer()

    @property
    def redactor(self) -> Redactor:
        """What every text passes before it is stored, and before it is shown."""
        return self.load_redactor()

    @property
    def sessions(self) -> SessionStore:
        """The conversations."""
        return self.load_sessions()

    def language_model(self, spec: str | None = None, *, may_wait: bool = False) -> LanguageModel:
        """The model that `spec` names as `provider:model`, or else the configured one; its calls count for this space.

        With `may_wait`, it refuses calls when less than a fifth of the day's quota is left. Raises UsageError when none is
        configured, RefusedError when offline or in a store that nobody has accepted, ProviderError when its SDK, key or
        address is missing.
        """
        return self.load_language_model(spec, may_wait)

    @property
    def answers(self) -> Answers:
        """What language models have answered."""
        return self.load_answers()

    @property
    def ledger(self) -> CallLedger:
        """What calls to language models have cost."""
        return self.load_ledger()

    @property
    def upkeep(self) -> UpkeepLog:
        """What `maintain` has done and begun."""
        return self.load_upkeep()

    @property
    def usage(self) -> Usage:
        """The log of what was shown and judged."""
        return self.load_usage()

    @property
    def counters(self) -> Counters:
        """How often what was done."""
        return self.load_counters()

    @property
    def gaps(self) -> Gaps:
        """The questions that nothing answered."""
        return self.load_gaps()

    @property
    def commits(self) -> KnownCommits:
        """The commits that were ingested."""
        return self.load_commits()

    @property
    def elsewhere(self) -> Workspace | None:
        """The user-wide store, where there is one."""
        return self.load_elsewhere()

    @property
    def asked_spaces(self) -> list[str]:
        """The spaces to read: the one that the user named, with its journal, or `main` and those beside it that are there;
        where the space is to be read alone, no other."""
        if self.is_alone:
            return [self.space]
        first, *others = meant_by(self.space) if self.is_space_named else (self.main, REPO, journal_of(self.main))
        return [first, *filter(self.has_space, others)]

    def fingerprint(self, name: str) -> str:
        """What changes with every write of a space; empty where there is no space of this name. Raises StoreError."""
        snapshot = self.store.open(name)
        snapshot.close()
        return snapshot.fingerprint

    def has_space(self, name: str) -> bool:
        """Whether there is a space of this name. Raises StoreError."""
        return bool(self.fingerprint(name))

    def load_policy(self, space: str) -> Policy:
        """The policy of a space as it is stored. Raises CorruptError, StoreError."""
        return self.store.policy(space)

    @contextmanager
    def behind_the_write(self, what: str = "cleanup") -> Iterator[None]:
        """Around `what` follows a committed write: the act is done, so a failure here is a warning, not an error."""
        try:
            yield
        except (MemcliError, OSError) as error:
            self.warn(f"saved, but {what} failed: {reason(error)}")

    def in_force(self, policy: Policy) -> Policy:
        """What of the policy holds here: of a store that nobody has accepted only what makes it tighter; in a derived
        space that of `main`."""
        return self.govern(policy)

    def check_deletion(self, space: Space, what: str, instead: str = "") -> None:
        """Raises RefusedError, as `refusal` words it, unless the policy of the space allows deletion here."""
        if refusal := self.refusal(space, what, instead):
            raise refusal

    def refusal(self, space: Space, what: str, instead: str = "") -> RefusedError | None:
        """Why `what` may not be done: it deletes, and the policy of the space does not allow that here."""
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
    """The whole space, which is empty if it does not exist. Raises CorruptError, StoreError."""
    with closing(store.open(name)) as snapshot:
        return snapshot.load()


def load(workspace: Workspace, space: str | None = None) -> Space:
    """The whole space, which is empty when it does not exist. Raises CorruptError, StoreError."""
    with closing(workspace.store.open(space or workspace.space)) as snapshot:
        tell_empty(workspace, snapshot)
        return snapshot.load()


@contextmanager
def opened(workspace: Workspace, space: str | None = None) -> Iterator[tuple[Snapshot, SpaceView]]:
    """The space as it is now, with its index brought up to date. Raises CorruptError, StoreError."""
    snapshot = workspace.store.open(space or workspace.space)
    try:
        tell_empty(workspace, snapshot)
        view = workspace.index.view(snapshot)
        makes_sense = True
        try:
            yield snapshot, view
        except Exception as error:
            makes_sense = not is_nonsense(error)
            raise
        finally:
            view.close()
            if not makes_sense:
                workspace.index.rebuild(snapshot.space)
    finally:
        snapshot.close()


def is_nonsense(error: Exception) -> bool:
    """Whether an error may come from a cache that makes no sense, which is made anew; no input leads to such a one."""
    if type(error).__name__ == "OperationalError":  # of SQLite, which may only be locked
        return "no such" in str(error)
    return isinstance(error, CorruptError) or not isinstance(error, (MemcliError, OSError))


def tell_empty(workspace: Workspace, snapshot: Snapshot) -> None:
    """Warns that the space is not there, unless others are asked with it."""
    if not snapshot.fingerprint and workspace.asked_spaces in ([snapshot.space], [workspace.space]):
        workspace.warn(f"space {snapshot.space!r} is empty")
