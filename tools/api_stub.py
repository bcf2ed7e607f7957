"""Writes memcli/extras/api/memory.pyi, the signatures of `Memory` for type checkers: `python tools/api_stub.py`."""

from __future__ import annotations

import inspect
from pathlib import Path

from memcli.extras.api.memory import Method, methods

PATH = Path(__file__).parent.parent / "memcli" / "extras" / "api" / "memory.pyi"
HEAD = '''\
"""Written by tools/api_stub.py."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from types import TracebackType
from typing import IO, Any, Self

Object = dict[str, Any]
Objects = list[dict[str, Any]]
Input = str | PathLike[str] | bytes | IO[str] | IO[bytes] | Iterable[str] | Iterable[Mapping[str, Any]]

class Memory:
    def __init__(
        self,
        root: str | PathLike[str] | None = None,
        space: str | None = None,
        *,
        freeze_clock: str | None = None,
        embedder: str | None = None,
        backend: str | None = None,
        note: Callable[[str], None] | None = None,
    ) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
'''


def stub() -> str:
    """The text of the file."""
    return HEAD + "".join(map(_method, methods()))


def _method(method: Method) -> str:
    signature = method.__signature__
    parameters = [f"        {_parameter(parameter)},\n" for parameter in signature.parameters.values()]
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL not in kinds:
        parameters.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "        *,\n")
    text = method.__doc__.replace("\\", "\\\\").replace("\n", "\n        ")
    text = "\n".join(line.rstrip() for line in text.splitlines())
    return (
        f"    def {method.__name__}(\n{''.join(parameters)}    ) -> {signature.return_annotation}:\n"
        f'        """{text}\n        """\n'
    )


def _parameter(parameter: inspect.Parameter) -> str:
    star = "*" if parameter.kind == inspect.Parameter.VAR_POSITIONAL else ""
    if parameter.name == "self":
        return "self"
    default = "" if parameter.default is inspect.Parameter.empty else f" = {parameter.default!r}"
    return f"{star}{parameter.name}: {parameter.annotation}{default}"


if __name__ == "__main__":
    PATH.write_text(stub(), encoding="utf-8")
