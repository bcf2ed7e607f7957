"""The Workspace: every port that a use case may need, bundled once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memcli.app.redact import Redactor
from memcli.clock import Clock
from memcli.ports import AuditTrail, Index, Progress, Ranker, Store, Summarizer, Trash


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A store, opened. What not every use case needs is loaded when it is first asked for.

    `warn` and `progress` speak to the user, never on standard output.
    """

    store: Store
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
