"""Language models of providers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from memcli.model.memory import Json
from memcli.model.prompt import Prompt

T = TypeVar("T")


class LanguageModel(Protocol):
    """A model that answers prompts by JSON. What it is asked and what it costs is counted, and limited by the quota."""

    @property
    def name(self) -> str:
        """As `provider:model`."""

    def ask(self, prompt: Prompt, read: Callable[[Json], T], within: float) -> T:
        """What `read` makes of the answer.

        `read` raises ValueError for an answer that is not valid, and the model is asked once more, with the reason. All
        of it takes at most `within` seconds. Raises ProviderError when there is no valid answer, RefusedError when the
        call could exceed the quota: then nothing was sent.
        """
