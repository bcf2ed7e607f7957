"""The options that choose how missing fields are filled."""

from __future__ import annotations

from typing import Protocol

from memcli.app.workspace import Workspace
from memcli.errors import UsageError
from memcli.ports import Summarizer
from memcli.summarize import LLM


class LayerOptions(Protocol):
    """Those of the commands that read sessions."""

    given: frozenset[str]
    model: str | None


class SemanticOptions(LayerOptions, Protocol):
    """Those of `remember`."""

    temperature: float | None
    max_tokens: int | None
    fallback: str | None


def asked_summarizer(workspace: Workspace, options: SemanticOptions) -> Summarizer | None:
    """The semantic layer by a language model; None where the workspace has another. Raises UsageError."""
    if options.fallback not in (None, "local"):
        raise UsageError(f"no fallback {options.fallback[:40]!r}", "use --fallback local")
    if workspace.semantic != LLM:
        _check_unused(options)
        return None
    from memcli.app.describe import AskingSummarizer, Tuning

    _check_model(workspace)
    return AskingSummarizer(
        workspace,
        Tuning(
            temperature=options.temperature,
            max_tokens=options.max_tokens,
            may_fall_back=options.fallback is not None,
        ),
    )


def asks_model(workspace: Workspace, options: LayerOptions) -> bool:
    """Whether a language model reads a session. Raises UsageError."""
    if workspace.semantic != LLM:
        _check_unused(options)
        return False
    _check_model(workspace)
    return True


def _check_model(workspace: Workspace) -> None:
    if workspace.model:
        from memcli.model.prompt import model_name

        model_name(workspace.model)


def _check_unused(options: LayerOptions) -> None:
    for name in ("model", "temperature", "max_tokens", "fallback"):
        if name in options.given:
            raise UsageError(f"--{name.replace('_', '-')} needs --semantic llm", "add it, or leave the option out")
