"""Commands as methods: the parameters of a method are the fields that its command declares."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cached_property
from types import MethodType
from typing import Any, Protocol

from memcli.cli.binding import parameters
from memcli.cli.calls import Calls, find_verb
from memcli.cli.options import REQUIRED, Field
from memcli.cli.verb import Verb

Object = dict[str, Any]
Objects = list[dict[str, Any]]

_ON_STREAMS = re.compile(r"; (?:without it, or with )?`-`,? reads? standard input")


class Caller(Protocol):
    """What a method belongs to."""

    calls: Calls


class Method:
    """A command as a method. Its parameters are the fields that the command declares, and `space`."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.function, self.name, self.text = function, name, inspect.getdoc(function) or ""
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self.__module__ = function.__module__

    @cached_property
    def verb(self) -> Verb:
        """The command. Its module is imported when it is first used."""
        return find_verb(self.name)

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        told = [f"    {name}: {_help(field)}" for name, field in parameters(self.verb).items()]
        return "\n".join([self.text, "", "Parameters:", *told, "    space: The space to use, for this call."])

    @property
    def __signature__(self) -> inspect.Signature:
        fields = parameters(self.verb)
        own = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        own += [_parameter(field) for field in sorted(fields.values(), key=lambda field: not field.is_argument)]
        space = inspect.Parameter("space", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="str | None")
        return inspect.Signature([*own, space], return_annotation=inspect.signature(self.function).return_annotation)

    def __get__(self, memory: Caller | None, owner: type) -> Any:
        return self if memory is None else MethodType(self, memory)

    def __call__(self, memory: Caller, /, *arguments: Any, **options: Any) -> Any:
        return memory.calls.run(self.verb, arguments, options)


def command(name: str) -> Callable[[Callable[..., Any]], Any]:
    return lambda function: Method(function, name)


def _parameter(field: Field) -> inspect.Parameter:
    kind: inspect._ParameterKind = inspect.Parameter.KEYWORD_ONLY
    if field.is_argument:
        kind = inspect.Parameter.VAR_POSITIONAL if field.many else inspect.Parameter.POSITIONAL_OR_KEYWORD
    default: Any = inspect.Parameter.empty
    if field.default is not REQUIRED and not (field.is_argument and field.many):
        default = () if field.many else field.default
    return inspect.Parameter(field.name, kind, default=default, annotation=_annotation(field))


def _annotation(field: Field) -> str:
    """The type of the values of a field, as `memory.pyi` writes it."""
    name = field.type.__name__
    if field.metavar == "FILE":
        name = "str | PathLike[str]" if field.is_argument and field.many else "Input"
    elif field.metavar == "JSON":
        name = "str | Mapping[str, Any]"
    elif field.metavar == "NAME=X":
        name = "str | Mapping[str, float]"
    if field.many and not field.is_argument:
        name = "str | Sequence[str]" + (" | Mapping[str, Any]" if "=" in field.metavar else "")
    return f"{name} | None" if field.default is None and not field.many else name


def _help(field: Field) -> str:
    text = _ON_STREAMS.sub("", field.help)
    return text if not field.metavar or field.is_argument else f"{text} ({field.metavar})"
