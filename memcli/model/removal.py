"""The run: what one command took out of a space, so that it can be brought back."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memcli.model.ids import short_digest
from memcli.model.memory import Memory
from memcli.model.space import Space

_NAME = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{8}(-\d+)?\Z")


@dataclass(frozen=True, slots=True)
class Run:
    """What a command removed at `removed_at`. `space` is the space's header with the removed memories alone."""

    name: str
    removed_at: str
    command: str
    space: Space


@dataclass(frozen=True, slots=True)
class Going:
    """What a write takes out of a space: `kept`, the header as it was with the memories that go into the trash, and
    `erased`, the memories that go for good. `run` is where the trash keeps them.
    """

    kept: Space
    erased: tuple[Memory, ...] = ()
    run: str = ""


def run_name(removed_at: str, content: str) -> str:
    """In order of time; the same removal under the same clock has the same name."""
    return f"{removed_at.replace('-', '').replace(':', '')}-{short_digest(content, 8)}"


def is_run_name(name: str) -> bool:
    """Whether `name` can be the name of a run."""
    return bool(_NAME.match(name))
