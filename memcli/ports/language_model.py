"""Language models of providers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memcli.model.conversation import Prompt
from memcli.model.memory import Json
from memcli.model.usage import Charge, Day, TokenUsage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol, TypeVar

    T = TypeVar("T")
else:
    Protocol = object


class LanguageModel(Protocol):
    """A model that answers prompts by JSON. What it is asked and what it costs is counted, and limited by the quota."""

    @property
    def name(self) -> str:
        """As `provider:model`."""

    def load(self) -> None:
        """Loads what the first question needs, which takes a second or two. It may be called in a thread of its own."""

    def ask(self, prompt: Prompt, read: Callable[[Json], T], within: float) -> T:
        """What `read` makes of the answer.

        `read` raises ValueError for an answer that is not valid, and the model is asked once more, with the reason. All
        of it takes at most `within` seconds. Raises ProviderError when there is no valid answer, RefusedError when the
        call could exceed the quota: then nothing was sent.
        """


class CallLedger(Protocol):
    """The calls that were made, by day."""

    def reserve(self, charge: Charge, check: Callable[[Day], None]) -> Charge:
        """Books a call on the day of its time, and returns it with its number, once `check` has seen the calls of its space on that day so far, and maybe
        those of others; what it raises is raised. Raises LockedError, StoreError, RefusedError."""

    def settle(self, booked: Charge, usage: TokenUsage) -> None:
        """Puts what a call has cost in the place of what was booked for it. Raises LockedError, StoreError."""

    def read(self, day: str) -> Day:
        """The calls of a day, and how many lines are damaged. Raises StoreError."""

    def days(self) -> Sequence[str]:
        """The days that have calls, in order, such as `2026-05-03`."""

    def sums(self, today: str) -> Mapping[str, TokenUsage]:
        """What each provider has charged, also on days that are no longer kept; it only grows. Raises StoreError."""


Reserve = Callable[[str, TokenUsage], Callable[[TokenUsage], None]]
"""Books the most that a call for a task may cost, and returns what books its true cost instead.

When that is never called, as in a process that is killed, the most counts until the day ends. Raises RefusedError when the
call could exceed the quota or cannot be booked.
"""
