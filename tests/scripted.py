"""A language model that answers as a script says, as the protocol promises."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from memcli.app.workspace import Workspace
from memcli.errors import MemcliError, ProviderError
from memcli.model.conversation import Prompt
from memcli.model.memory import Json

T = TypeVar("T")


class Scripted:
    """Each question takes the next answer, the last one again and again; an error is raised, a function is called."""

    name = "openai:scripted"

    def __init__(self, *answers: Json) -> None:
        self.answers = list(answers)
        self.prompts: list[Prompt] = []
        self.within: list[float] = []
        self.loaded = 0

    def load(self) -> None:
        self.loaded += 1

    def ask(self, prompt: Prompt, read: Callable[[Json], T], within: float) -> T:
        self.prompts.append(prompt)
        self.within.append(within)
        wrong = ""
        for _ in range(2):
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            if isinstance(answer, MemcliError):
                raise answer
            try:
                return read(answer(prompt) if callable(answer) else answer)
            except ValueError as error:
                wrong = str(error)
        raise ProviderError(f"the answer of {self.name} is not valid, also when asked again: {wrong}")


def with_model(workspace: Workspace, model: Scripted) -> Workspace:
    """The workspace with a model that follows a script."""
    return workspace.copy_with(model=model.name, semantic="llm", language_model=lambda *_, **__: model)
