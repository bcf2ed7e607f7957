"""Tables and declarations: every entry can be made, every command has the common options, protocols stay small, and a class
name is defined in one module."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import memcli
from memcli import ports
from memcli.cli.main import load_command
from memcli.cli.verb import names
from memcli.embed import DEFAULT_EMBEDDER, EMBEDDERS
from memcli.model.recall import DEFAULT_BACKEND
from memcli.ranking import RANKERS, open_ranker
from memcli.render import RENDERERS
from memcli.settings import DEFAULT_SUMMARIZER
from memcli.summarize import SUMMARIZERS


def test_every_entry_builds_and_the_defaults_are_there() -> None:
    assert all(open_ranker(name) is not None for name in RANKERS)
    assert all(load() is not None for load in RENDERERS.values())
    assert all(describe({"raw": "We chose Redis."}) for describe in SUMMARIZERS.values())
    assert {name for name, load in EMBEDDERS.items() if load() is None} == {"off"}
    assert (DEFAULT_BACKEND in RANKERS, DEFAULT_EMBEDDER in EMBEDDERS, DEFAULT_SUMMARIZER in SUMMARIZERS) == (True,) * 3


def test_every_command_has_the_common_options() -> None:
    common = {"--space", "-s", "--root", "--json", "--quiet", "-q", "--offline", "--freeze-clock"}
    for verb in names():
        command = load_command(verb)
        for one in getattr(command, "commands", {"": command}).values():
            assert {name for parameter in one.params for name in parameter.opts} >= common, (verb, one.name)


LARGE = {
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
    assert {name for name, declared in members.items() if len(declared) > 8} == LARGE.keys()


REASONS = {"Memory": "the object of the Python API, and the value that is stored"}
"""Names that two modules define, and why."""


def test_a_class_name_is_defined_in_one_module() -> None:
    modules: dict[str, set[str]] = defaultdict(set)
    for file in Path(memcli.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                modules[node.name].add(str(file))
    twice = {name: sorted(found) for name, found in modules.items() if len(found) > 1}
    assert sorted(twice) == sorted(REASONS), twice
