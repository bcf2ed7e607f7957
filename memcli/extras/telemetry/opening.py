"""The switch of traces: which commands and which requests to language models are traced."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from memcli.settings import is_on

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

    from memcli.app.workspace import Observer
    from memcli.model.conversation import ModelName
    from memcli.model.usage import TokenUsage

# A variable and no setting, since a store that was cloned must not be able to switch traces on.
VARIABLE = "MEMCLI_OTEL"
# Hooks must neither wait for a collector nor fail.
_UNTRACED = frozenset(("hook run",))


@contextmanager
def traced(
    name: str, environ: Mapping[str, str], *, is_offline: bool, is_background: bool
) -> Iterator[Observer | None]:
    """Yields the observer of a command, None if it is not traced. Raises UsageError if the extra is not installed."""
    if name in _UNTRACED or is_offline or is_on(environ, "MEMCLI_OFFLINE") or not is_on(environ, VARIABLE):
        yield None
        return
    from memcli.errors import UsageError

    try:
        from memcli.extras.telemetry.exporting import open_tracer

        tracer: Tracer = open_tracer(environ)
    except (ImportError, ValueError) as error:  # ValueError: a variable of OpenTelemetry has no meaning
        if is_background:
            yield None  # nobody would see the error, and the work would be left undone
            return
        if isinstance(error, ImportError):
            message, hint = f"{VARIABLE} needs the extra `otel`", "run `pip install 'memcli[otel]'`"
        else:
            message, hint = f"traces cannot be set up: {error}", "correct the variable"
        raise UsageError(message, f"{hint}, or unset {VARIABLE}") from None
    from memcli.extras.telemetry import tracing

    with tracing.running(name, tracer, environ) as command:
        yield command


def asking(environ: Mapping[str, str], model: ModelName, task: str) -> AbstractContextManager[None]:
    """Traces one request to a language model, which its body makes."""
    if not is_on(environ, VARIABLE):
        return nullcontext()
    from memcli.extras.telemetry import tracing

    return tracing.asking(model.provider, model.model, task)


def note_cost(environ: Mapping[str, str]) -> Callable[[TokenUsage], None]:
    """A function that receives the cost of each call of a language model."""
    if not is_on(environ, VARIABLE):
        return lambda _: None
    from memcli.extras.telemetry import tracing

    return tracing.note_cost
