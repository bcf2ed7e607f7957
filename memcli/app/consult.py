"""Consult: ask the language model of a workspace once for each question, and never show it or keep what is secret."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from memcli.app.workspace import Workspace
from memcli.codec.canonical import encode_line
from memcli.digests import sha256
from memcli.errors import UsageError
from memcli.model.memory import Json
from memcli.model.prompt import Prompt, model_name

TEXT, QUESTION, VERDICT = "text", "question", "verdict"
"""What an answer is that is kept: one that repeats memories, or questions without an answer, or one that repeats nothing."""

T = TypeVar("T")


def consult(
    workspace: Workspace,
    prompt: Prompt,
    read: Callable[[Json], T],
    *,
    within: float | Callable[[], float],
    keep: str = "",
    may_wait: bool = False,
) -> tuple[T, bool]:
    """What `read` makes of the model's answer, without secrets, and whether it is one that was kept before, as it is where
    `keep` is TEXT, QUESTION or VERDICT. A function `within` is called only when the model is to be asked.

    Raises UsageError when no model is configured, and what `LanguageModel.ask` and `Workspace.language_model` raise.
    """
    if keep and (found := kept(workspace, prompt, read)):
        return found[0], True
    model = workspace.language_model(may_wait=may_wait)
    seconds = within() if callable(within) else within
    since = workspace.answers.erasures() if keep else 0
    answer, value = model.ask(prompt, lambda data: _understood(workspace, data, read), seconds)
    if keep and workspace.model:
        workspace.answers.keep(_key(prompt, workspace.model), answer, kind=keep, since=since)
    return value, False


def kept(workspace: Workspace, prompt: Prompt, read: Callable[[Json], T]) -> list[T]:
    """What `read` makes of the answer that was kept before; empty where there is none. Asks nobody."""
    if not workspace.model:
        return []
    with suppress(ValueError, UsageError):
        if (answer := workspace.answers.get(_key(prompt, workspace.model))) is not None:
            return [_understood(workspace, answer, read)[1]]
    return []


def _understood(workspace: Workspace, data: Json, read: Callable[[Json], T]) -> tuple[Json, T]:
    """An answer without secrets, and what `read` makes of it. Raises ValueError."""
    if not isinstance(data, dict):
        raise ValueError("the answer must be an object")  # noqa: TRY004 - as `LanguageModel.ask` wants it
    clean = workspace.redactor.values(workspace.space, data)
    return clean, read(clean)


def _key(prompt: Prompt, model: str) -> str:
    """A digest of all that decides the answer. Raises UsageError when `model` names none."""
    asked = [
        str(model_name(model)), prompt.task, prompt.system, prompt.text, dict(prompt.schema), prompt.max_tokens,
        None if prompt.temperature is None else float(prompt.temperature),
    ]  # fmt: skip
    return sha256(encode_line(asked)).hexdigest()
