"""`Memory` has a method for each command, with its parameters, and its documentation is true."""

from __future__ import annotations

import doctest
import inspect
import sys
from pathlib import Path

import pytest

from memcli import Memory
from memcli.cli.binding import EXIT_CODES_ONLY, PROCESS_ONLY
from memcli.cli.options import REQUIRED
from memcli.cli.verb import all_verbs
from memcli.extras.api import memory as module
from memcli.extras.api.memory import methods
from tests.conftest import ROOT

METHODS = {method.__name__: method for method in methods()}
WITHOUT_METHOD = {
    "browse": "it is a full-screen interface; `list` returns what it prints in a pipe",
    "completions": "its output is a shell script",
    "help": "it is for a person at a terminal",
    "demo": "it is a tour for a person at a terminal",
    "merge-driver": "git calls it",
    "hook run": "git and agents call it",
    **dict.fromkeys(
        ("agent check", "agent install", "agent list", "agent uninstall"),
        "they set up programs of the person at the machine",
    ),
    **dict.fromkeys(("off", "on"), "a person switches; a program need not call"),
    **dict.fromkeys(("mcp", "serve"), "it is a server"),
    "watch": "it runs until it is stopped, by signals",
}


def test_every_command_has_its_method() -> None:
    verbs = {method.verb.name for method in METHODS.values()}
    assert verbs | WITHOUT_METHOD.keys() == {verb.name for verb in all_verbs()}
    assert not verbs & WITHOUT_METHOD.keys()


def test_a_method_has_the_parameters_of_its_command() -> None:
    for name, method in METHODS.items():
        signature = inspect.signature(getattr(Memory(), name))
        fields = method.verb.options.FIELDS
        declared = {n: f for n, f in fields.items() if n not in EXIT_CODES_ONLY | PROCESS_ONLY}
        assert signature.parameters.keys() == {*declared, "space"}, name
        for own, field in declared.items():
            parameter = signature.parameters[own]
            assert (parameter.kind != inspect.Parameter.KEYWORD_ONLY) == field.is_argument, (name, own)
            if parameter.kind != inspect.Parameter.VAR_POSITIONAL:
                is_required = parameter.default is inspect.Parameter.empty
                assert is_required == (field.default is REQUIRED), (name, own)
                assert is_required or parameter.default == (() if field.many else field.default), (name, own)


@pytest.mark.parametrize("name", [*METHODS, "Memory"])
def test_the_example_of_a_method_is_true(name: str, project: Path) -> None:
    text = Memory.__doc__ if name == "Memory" else METHODS[name].verb.example
    test = doctest.DocTestParser().get_doctest(text or "", {"memory": Memory(), "Memory": Memory}, name, None, 0)
    assert test.examples
    told: list[str] = []
    doctest.DocTestRunner().run(test, out=told.append)
    assert not told, "".join(told)


def test_the_signatures_for_type_checkers_are_those_of_the_methods() -> None:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import api_stub
    finally:
        sys.path.pop(0)
    assert Path(module.__file__).with_suffix(".pyi") == api_stub.PATH
    assert api_stub.PATH.read_text(encoding="utf-8") == api_stub.stub(), "run `python tools/api_stub.py`"


def test_the_constructor_for_type_checkers_is_that_of_the_class() -> None:
    import ast

    (own,) = (
        node for node in ast.walk(ast.parse(Path(module.__file__).with_suffix(".pyi").read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name == "__init__"
    )  # fmt: skip
    told = {
        arg.arg: ast.unparse(arg.annotation) for arg in [*own.args.args[1:], *own.args.kwonlyargs] if arg.annotation
    }
    real = {name: p.annotation for name, p in inspect.signature(Memory.__init__).parameters.items() if name != "self"}
    assert told == real
