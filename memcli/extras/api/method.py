"""Commands as methods: the parameters of a method are the fields that its command declares."""

from __future__ import annotations

import inspect
import re
from contextlib import suppress
from keyword import iskeyword
from typing import Any

from memcli.cli.binding import parameters
from memcli.cli.options import ASSIGNMENT, FILE, JSON, PAIRS, REQUIRED, WEIGHTS, Field
from memcli.cli.verb import Verb, all_verbs, find_verb

_ON_STREAMS = re.compile(r"; (?:without it, or with )?`-`,? reads? standard input")


def method_name(verb: str) -> str:
    """The name of the method of a verb: `session_start` for `session start`, `import_` for `import`."""
    name = verb.replace(" ", "_").replace("-", "_")
    return f"{name}_" if iskeyword(name) else name


def find_method(name: str) -> Method | None:
    """The method of this name; None if no verb has it. Imports the module of the verb."""
    words = name.removesuffix("_").split("_")
    for count in range(1, len(words) + 1):
        verb = " ".join(filter(None, ["-".join(words[:count]), "-".join(words[count:])]))
        with suppress(LookupError):
            found = find_verb(verb)
            return Method(found) if found.example and method_name(found.name) == name else None
    return None


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
        parameters_ = [f"    {name}: {_help(field)}" for name, field in parameters(self.verb).items()]
        text = [summary, "", self.verb.example, "", "Parameters:", *parameters_]
        return "\n".join([*text, "    space: The space to use, for this call."])

    @property
    def __signature__(self) -> inspect.Signature:
        fields = parameters(self.verb)
        own = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        own += [_parameter(field) for field in sorted(fields.values(), key=lambda field: not field.is_argument)]
        space = inspect.Parameter("space", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="str | None")
        return inspect.Signature([*own, space], return_annotation=self.verb.about.returns)

    def __call__(self, memory: Any, /, *arguments: Any, **options: Any) -> Any:
        return memory.calls.run(self.verb, arguments, options)


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
    if field.kind == FILE:
        name = "str | PathLike[str]" if field.is_argument and field.many else "Input"
    elif field.kind == JSON:
        name = "str | Mapping[str, Any]"
    elif field.kind == WEIGHTS:
        name = "str | Mapping[str, float]"
    if field.many and not field.is_argument:
        name = "str | Sequence[str]" + (" | Mapping[str, Any]" if field.kind in (ASSIGNMENT, PAIRS) else "")
    return f"{name} | None" if field.default is None and not field.many else name


def _help(field: Field) -> str:
    text = _ON_STREAMS.sub("", field.help)
    return text if not field.metavar or field.is_argument else f"{text} ({field.metavar})"
