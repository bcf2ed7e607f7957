"""Protocols stay small: one that asks for much is one that few can implement."""

from __future__ import annotations

import ast
from pathlib import Path

from memcli import ports

MOST = 8
LARGE = {
    "SpaceView": "one class has it, over the tables of a file or a server, whose statements are all that differs",
    "Snapshot": "a file and a server read a space whole, one by one, as bytes and by place",
    "Shelf": "a file, a server and the draft over either look memories up in every way that a change needs",
}


def test_a_protocol_declares_at_most_eight_members() -> None:
    members = {
        kind.name: [one.name for one in kind.body if isinstance(one, ast.FunctionDef)]
        for file in Path(ports.__file__).parent.glob("*.py")
        for kind in ast.parse(file.read_text()).body
        if isinstance(kind, ast.ClassDef)
    }
    assert {name for name, declared in members.items() if len(declared) > MOST} == LARGE.keys()
