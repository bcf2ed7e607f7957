"""`Memory`: a store that a program uses, with a method for each verb. Parameters are the fields that the verb declares."""

from __future__ import annotations

import inspect
import logging
import os
import re
from collections.abc import Callable
from contextlib import suppress
from keyword import iskeyword
from os import PathLike
from types import MethodType, TracebackType
from typing import Any, Self

from memcli.cli.binding import parameters
from memcli.cli.calls import Calls
from memcli.cli.options import ASSIGNMENT, FILE, JSON, PAIRS, REQUIRED, WEIGHTS, Field
from memcli.cli.verb import Verb, all_verbs, find_verb

# A method reads no standard input: its documentation leaves out what `-` does on the command line.
_ON_STREAMS = re.compile(r"; (?:without it, or with )?`-`,? reads? standard input")


class _WithMethods(type):
    """A class with a method for each verb. The module of a verb is imported when its method is first used."""

    def __getattr__(cls, name: str) -> Any:
        words = [] if name.startswith("_") else name.removesuffix("_").split("_")
        # `session_start` may be the verb `session-start`, or `start` of the group `session`.
        for count in range(1, len(words) + 1):
            verb = " ".join(filter(None, ["-".join(words[:count]), "-".join(words[count:])]))
            with suppress(LookupError):
                found = find_verb(verb)
                if not found.example or method_name(found.name) != name:
                    break
                method = Method(found)
                setattr(cls, name, method)
                return method
        raise AttributeError(f"{cls.__name__} has no method {name!r}")

    def __dir__(cls) -> list[str]:
        return sorted({*super().__dir__(), *(method.__name__ for method in methods())})


class Memory(metaclass=_WithMethods):
    """The memory of a project: the store in `root`, by default the one of the working directory.

    Use one `Memory` for many calls: it loads models, indexes and vectors once, and reads them again when any process has
    changed the store. Several threads can share one; its calls run one after the other. Use one for each thread to run
    them in parallel. After a fork, make a new one.

    >>> with Memory() as memory:
    ...     memory.recall("which database?")["sections"][0]["path"]
    'decisions/database'
    """

    def __init__(
        self,
        root: str | PathLike[str] | None = None,
        space: str | None = None,
        *,
        freeze_clock: str | None = None,
        embedder: str | None = None,
        backend: str | None = None,
        note: Callable[[str], None] | None = None,
    ) -> None:
        """Other settings come from the environment and the configuration, as for the command line.

        `root` is the store, or the folder that contains it. `note` is called with each message that a command prints on
        standard error; by default the logger `memcli` gets them.
        """
        named = {"space": space, "freeze_clock": freeze_clock, "embedder": embedder, "backend": backend}
        log = logging.getLogger("memcli").info if note is None else note
        self.calls = Calls({"root": None if root is None else os.fspath(root), **named}, log)

    def __getattr__(self, name: str) -> Any:
        getattr(type(self), name)  # the metaclass adds the method to the class
        return object.__getattribute__(self, name)

    def __dir__(self) -> list[str]:
        return dir(type(self))

    def close(self) -> None:
        """Close the cached indexes. The memory can still be used: the next call opens them again."""
        self.calls.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def method_name(verb: str) -> str:
    """The name of the method of a verb: `session_start` for `session start`, `import_` for `import`."""
    name = verb.replace(" ", "_").replace("-", "_")
    return f"{name}_" if iskeyword(name) else name


def methods() -> list[Method]:
    """The methods of all verbs that have one, in alphabetical order."""
    return sorted((Method(verb) for verb in all_verbs() if verb.example), key=lambda method: method.__name__)


class Method:
    """A verb as a method. Its parameters are the fields that the verb declares, and `space`."""

    def __init__(self, verb: Verb) -> None:
        self.verb = verb
        self.__name__ = method_name(verb.name)
        self.__qualname__ = f"Memory.{self.__name__}"
        self.__module__ = "memcli.extras.api.memory"

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        summary = self.verb.text.partition("\n\n")[0]
        lines = [summary, "", self.verb.example, "", "Parameters:"]
        for name, field in parameters(self.verb).items():
            text = _ON_STREAMS.sub("", field.help)
            lines.append(
                f"    {name}: {text if not field.metavar or field.is_argument else f'{text} ({field.metavar})'}"
            )
        return "\n".join([*lines, "    space: The space to use, for this call."])

    @property
    def __signature__(self) -> inspect.Signature:
        fields = parameters(self.verb)
        own = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        own += [_parameter(field) for field in sorted(fields.values(), key=lambda field: not field.is_argument)]
        space = inspect.Parameter("space", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="str | None")
        return inspect.Signature([*own, space], return_annotation=self.verb.returns)

    def __get__(self, memory: Memory | None, owner: type) -> Any:
        """Binds the method to a memory, as Python binds functions."""
        return self if memory is None else MethodType(self, memory)

    def __call__(self, memory: Any, /, *arguments: Any, **options: Any) -> Any:
        return memory.calls.run(self.verb, arguments, options)


def _parameter(field: Field) -> inspect.Parameter:
    """The parameter for a field, annotated as `memory.pyi` writes it."""
    kind: inspect._ParameterKind = inspect.Parameter.KEYWORD_ONLY
    if field.is_argument:
        kind = inspect.Parameter.VAR_POSITIONAL if field.many else inspect.Parameter.POSITIONAL_OR_KEYWORD
    default: Any = inspect.Parameter.empty
    if field.default is not REQUIRED and not (field.is_argument and field.many):
        default = () if field.many else field.default
    annotation = field.type.__name__
    if field.kind == FILE:
        annotation = "str | PathLike[str]" if field.is_argument and field.many else "Input"
    elif field.kind == JSON:
        annotation = "str | Mapping[str, Any]"
    elif field.kind == WEIGHTS:
        annotation = "str | Mapping[str, float]"
    if field.many and not field.is_argument:
        annotation = "str | Sequence[str]" + (" | Mapping[str, Any]" if field.kind in (ASSIGNMENT, PAIRS) else "")
    if field.default is None and not field.many:
        annotation += " | None"
    return inspect.Parameter(field.name, kind, default=default, annotation=annotation)
