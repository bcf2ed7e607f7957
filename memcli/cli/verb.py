"""Verbs: a function, its options, and how to run it."""

from __future__ import annotations

from collections.abc import Callable

from memcli.cli.options import CommonOptions, Options
from memcli.cli.session import Session


class Verb:
    """A command: `function(session, options)`, which returns the exit code, or None for 0.

    Without options of its own, it is `function(session)`.
    """

    __slots__ = ("function", "name", "options")

    def __init__(self, function: Callable[..., int | None], name: str, options: type[Options]) -> None:
        self.function, self.name, self.options = function, name, options

    def run(self, common: CommonOptions, options: Options) -> int:
        """Runs the command once and returns its exit code. Raises what the function raises."""
        with Session(self.name, common) as session:
            given = (options,) if self.options.FIELDS else ()
            return self.function(session, *given) or 0


class Group:
    """A group of commands, in order of declaration."""

    __slots__ = ("help", "name", "verbs")

    def __init__(self, name: str, help: str) -> None:  # noqa: A002
        self.name, self.help = name, help
        self.verbs: dict[str, Verb] = {}

    def verb(self, options: type[Options] = Options) -> Callable[[Callable[..., int | None]], Verb]:
        """Adds a function to this group as a command."""

        def add(function: Callable[..., int | None]) -> Verb:
            name = function.__name__.rstrip("_")
            self.verbs[name] = Verb(function, f"{self.name} {name}", options)
            return self.verbs[name]

        return add


def verb(options: type[Options] = Options) -> Callable[[Callable[..., int | None]], Verb]:
    """Turns the function `command` of a module into the command named after the module."""

    def make(function: Callable[..., int | None]) -> Verb:
        name = function.__module__.rpartition(".")[2].rstrip("_").replace("_", "-")
        return Verb(function, name, options)

    return make
