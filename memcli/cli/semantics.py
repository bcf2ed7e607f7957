"""The options that choose how missing fields are filled."""

from __future__ import annotations

from typing import Protocol

from memcli.app.workspace import Workspace
from memcli.errors import UsageError
from memcli.ports import Summarizer
from memcli.summarize import LLM


class SemanticOptions(Protocol):
    """Those of `remember`."""

    model: str | None
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
    from memcli.model.prompt import model_name

    if workspace.model:
        model_name(workspace.model)
    return AskingSummarizer(
        workspace,
        Tuning(
            temperature=options.temperature,
            max_tokens=options.max_tokens,
            may_fall_back=options.fallback is not None,
        ),
    )


def _check_unused(options: SemanticOptions) -> None:
    for name in ("model", "temperature", "max_tokens", "fallback"):
        if getattr(options, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')} needs --semantic llm", "add it, or leave the option out")
