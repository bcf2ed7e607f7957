"""The options that every command has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from memcli.cli.main import load_command
from memcli.cli.verb import names

COMMON = {"--space", "-s", "--root", "--json", "--quiet", "-q", "--offline", "--freeze-clock"}


def leaves(command: Any) -> Iterator[Any]:
    """The command itself, or the commands of a group."""
    children = getattr(command, "commands", {})
    if not children:
        yield command
    for child in children.values():
        yield from leaves(child)


@pytest.mark.parametrize("verb", names())
def test_every_command_has_the_common_options(verb: str) -> None:
    for command in leaves(load_command(verb)):
        names = {name for parameter in command.params for name in parameter.opts}
        assert names >= COMMON, command.name
