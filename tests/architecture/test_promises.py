"""Every promise in `tests/PROMISES.md` has a test, and every test named there exists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT

TEXT = (ROOT / "tests" / "PROMISES.md").read_text()
GROUPS = [
    "Durable", "Deterministic", "Private", "Honest recall", "Governance", "Git", "Agents and CI", "Interfaces",
]  # fmt: skip
TEST = r"`tests/[\w/]+\.py::\w+(?:::\w+)?`"
ROW = re.compile(rf"\| (?P<promise>[^|]*[^|\s]) \| (?P<tests>{TEST}(?:, {TEST})*) \|")
HEAD = ["| promise | tests |", "|---|---|"]


class Promise(NamedTuple):
    """A line of the table: what is promised, and the tests that hold it."""

    group: str
    text: str
    tests: tuple[str, ...]


def parse(text: str) -> list[Promise]:
    """The promises of the tables. Raises ValueError with the line that is none."""
    found = []
    for section in text.split("\n## ")[1:]:
        group, *lines = (line for line in section.splitlines() if line)
        if lines[:2] != HEAD:
            raise ValueError(group)
        for line in lines[2:]:
            row = ROW.fullmatch(line)
            if row is None:
                raise ValueError(line)
            found.append(Promise(group, row["promise"], tuple(row["tests"].strip("`").split("`, `"))))
    return found


def defined(code: str) -> set[str]:
    """The tests that the code defines, without those that are always skipped or may fail."""
    return set(_tests(ast.parse(code).body))


def _tests(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and _is_off(node):
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node.name
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from (f"{node.name}::{name}" for name in _tests(node.body))


def _is_off(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    marks = [ast.unparse(mark).partition("(")[0] for mark in node.decorator_list]
    return not {"pytest.mark.skip", "pytest.mark.xfail"}.isdisjoint(marks)


@cache
def found_in(file: Path) -> set[str]:
    return defined(file.read_text()) if file.is_file() else set()


PROMISES = parse(TEXT)


def test_every_test_that_a_promise_names_exists() -> None:
    named = [test.partition("::") for promise in PROMISES for test in promise.tests]
    assert [f"{file}::{name}" for file, _, name in named if name not in found_in(ROOT / file)] == []


def test_every_group_has_promises() -> None:
    assert list(dict.fromkeys(promise.group for promise in PROMISES)) == GROUPS


def test_each_promise_is_one_plain_sentence_and_stands_once() -> None:
    texts = [promise.text for promise in PROMISES]
    assert len(set(texts)) == len(texts)
    for text in texts:
        assert re.fullmatch(r"[A-Z`].*\.", text), text
        assert "_" not in text, f"an internal name: {text}"
    for promise in PROMISES:
        assert len(set(promise.tests)) == len(promise.tests), promise.text


def test_a_promise_without_a_test_is_refused() -> None:
    table = "\n".join(["# Promises", "## Durable", *HEAD, "| One. | `tests/x.py::test_a` |"])
    assert parse(table) == [Promise("Durable", "One.", ("tests/x.py::test_a",))]
    for line in (
        "| A promise. |  |", "| A promise. | none yet |", "| A promise. | tests/x.py::test_a |", "| A promise. | `tests/x.py` |",
        "| A promise. | `tests/x.py::test_a`, |", "|  | `tests/x.py::test_a` |", "| A promise. | `tests/x.py::test_a` | more |",
        "A promise without a table.",
    ):  # fmt: skip
        with pytest.raises(ValueError, match=re.escape(line)):
            parse(f"{table}\n{line}\n")


def test_only_tests_that_run_are_found() -> None:
    code = """
def test_plain(): ...
async def test_later(): ...
def helper():
    def test_within(): ...
@pytest.mark.parametrize("x", [1])
def test_many(x): ...
@pytest.mark.skip
def test_never(): ...
@pytest.mark.xfail(reason="not yet")
def test_hoped(): ...
class TestThings:
    def test_one(self): ...
    def other(self): ...
class Things:
    def test_two(self): ...
"""
    assert defined(code) == {"test_plain", "test_later", "test_many", "TestThings::test_one"}
