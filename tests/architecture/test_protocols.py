"""Protocols stay small: one that asks for much is one that few can implement."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from memcli import ports
from memcli.ports import sessions, views

MOST = 8
LARGE = {"SpaceView": "one class has it, over the tables of a file or a server, whose statements are all that differs"}


def _protocols() -> list[type[Any]]:
    found = [one for module in (ports, sessions, views) for name, one in vars(module).items() if name not in LARGE]
    return [one for one in found if inspect.isclass(one) and getattr(one, "_is_protocol", False)]


@pytest.mark.parametrize("protocol", _protocols())
def test_a_protocol_declares_at_most_eight_members(protocol: type[Any]) -> None:
    members = [name for name in vars(protocol) if not name.startswith("_")]
    assert len(members) <= MOST, members
