"""`Memory`: a store, opened by a program."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from os import PathLike
from types import MethodType, TracebackType
from typing import Any, Self

from memcli.cli.calls import Calls
from memcli.extras.api.method import Method, find_method, methods


class _Bound:
    """The method of a verb as an attribute of the class: bound to the memory that it is taken from."""

    def __init__(self, method: Method) -> None:
        self._method = method

    def __get__(self, memory: Memory | None, owner: type) -> Any:
        return self._method if memory is None else MethodType(self._method, memory)


class _WithMethods(type):
    """A class with a method for each verb. The module of a verb is imported when its method is first used."""

    def __getattr__(cls, name: str) -> Any:
        method = None if name.startswith("_") else find_method(name)
        if method is None:
            raise AttributeError(f"{cls.__name__} has no method {name!r}")
        setattr(cls, name, _Bound(method))
        return method

    def __dir__(cls) -> list[str]:
        return sorted({*super().__dir__(), *(method.__name__ for method in methods())})


class Memory(metaclass=_WithMethods):
    """The memory of a project: the store in `root`, by default the one that the working directory is in.

    Keep one for many calls: models, indexes and vectors are loaded once, and reread when the store changes, whoever
    changes it. One `Memory` can be used from several threads; its calls run one after the other. Use one for each
    thread to run them at once. After a fork, make a new one.

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
        """What is not given comes from the environment and the configuration, as for the command line.

        `root` is the store, or the folder that contains it. `note` is called with each message that a command prints on
        standard error; by default they go to the logger `memcli`.
        """
        named = {"space": space, "freeze_clock": freeze_clock, "embedder": embedder, "backend": backend}
        log = logging.getLogger("memcli").info if note is None else note
        self.calls = Calls({"root": None if root is None else os.fspath(root), **named}, log)

    def __getattr__(self, name: str) -> Any:
        getattr(type(self), name)  # which adds the method to the class
        return object.__getattribute__(self, name)

    def __dir__(self) -> list[str]:
        return dir(type(self))

    def close(self) -> None:
        """Close the indexes that are kept open. The memory can still be used."""
        self.calls.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
