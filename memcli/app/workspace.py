"""The Workspace: every port that a use case may need, bundled once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager

from memcli.app.redact import Redactor
from memcli.clock import Clock
from memcli.errors import LockedError, RefusedError, StoreError
from memcli.model.memory import Memory
from memcli.model.space import Policy, Space
from memcli.policy.fields import in_force
from memcli.ports import AuditTrail, CodeReader, Index, Progress, Ranker, Store, Summarizer, Trash, Trust
from memcli.record import Record


class Workspace(Record, kw_only=True):
    """A store, opened. What not every use case needs is loaded when it is first asked for.

    What is proposed waits in `inbox`, a store like the other. `load_code` gives the files as they are when it is called,
    None where the store belongs to no work tree of now. `erase_traces` takes memories of a space that are gone for good
    out of indexes and logs; `find_quotes` names what else holds their texts. `warn` and `progress` speak to the user, never on standard output.
    """

    store: Store
    inbox: Store
    trust: Trust
    load_trash: Callable[[], Trash]
    load_audit: Callable[[], AuditTrail]
    load_index: Callable[[], Index]
    load_summarizer: Callable[[], Summarizer]
    load_redactor: Callable[[], Redactor]
    ranker: Callable[[str], Ranker]
    clock: Clock
    space: str
    root: str
    project: str = ""
    backend: str | None = None
    load_elsewhere: Callable[[], Workspace | None] = lambda: None
    load_code: Callable[[], CodeReader | None] = lambda: None
    erase_traces: Callable[[str, Collection[str]], None] = lambda *_: None
    find_quotes: Callable[[Sequence[Memory]], Sequence[str]] = lambda _: ()
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
    def elsewhere(self) -> Workspace | None:
        """The user-wide store, where there is one."""
        return self.load_elsewhere()

    @contextmanager
    def behind_the_write(self) -> Iterator[None]:
        """Around what tidies up behind a committed write: the act is done, so a failure here is told, not raised."""
        try:
            yield
        except (StoreError, LockedError) as error:
            self.warn(f"saved, but cleanup failed: {error.message}")
        except OSError as error:  # a file that cannot be read
            self.warn(f"saved, but cleanup failed: {error.strerror or error}")

    def in_force(self, policy: Policy) -> Policy:
        """What of the policy holds here: of a store that nobody has accepted only what makes it tighter."""
        return in_force(policy, self.trust.is_accepted)

    def check_deletion(self, space: Space, what: str, instead: str = "") -> None:
        """Raises RefusedError, as `refusal` words it, unless the policy of the space allows deletion here."""
        if refusal := self.refusal(space, what, instead):
            raise refusal

    def refusal(self, space: Space, what: str, instead: str = "") -> RefusedError | None:
        """Why `what` may not be done: it deletes, and the policy of the space does not allow that here."""
        if self.in_force(space.policy).allow_delete:
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
