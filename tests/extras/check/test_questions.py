"""Files of recall tests: what they may say, and that an error names file and line, whatever is in the file."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.errors import UsageError
from memcli.extras.check.expectations import Case
from memcli.extras.check.questions import read_cases, read_questions
from tests.conftest import ROOT

CASE = '[[case]]\ntopic = "a"\n'


def refusal(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        read_cases(text, "db.toml")
    assert "\n" not in caught.value.message
    return f"{caught.value.message} ({caught.value.hint})"


def test_a_case_has_its_line_its_own_options_and_those_of_the_file() -> None:
    text = """
[defaults]
top = 3
kind = "decision"

[[case]]
topic = "which database?"
must_include = ["db/*", "/jsonb/"]
must_not_include = "db/old"

  [[ case ]]  # comment
top = 5
topic = "how do we deploy?"
answers = ["make release", "gradle"]
budget = 400
under = "ops"
space = "team"
at = 2026-01-01
"""
    assert read_cases(text, "db.toml") == [
        Case(
            file="db.toml", line=6, topic="which database?", must_include=("db/*", "/jsonb/"),
            must_not_include=("db/old",), top=3, kind=("decision",),
        ),
        Case(
            file="db.toml", line=11, topic="how do we deploy?", answers=("make release", "gradle"), top=5, budget=400,
            kind=("decision",), under="ops", space="team", at="2026-01-01T00:00:00Z",
        ),
    ]  # fmt: skip


def test_a_header_in_a_string_or_comment_counts_as_no_case() -> None:
    text = f'# [[case]]\n{CASE}empty = true\n[[case]]\ntopic = """\n[[case]]\n\\"""\n"""\nempty = true\n{CASE}empty = true\n'
    assert [case.line for case in read_cases(text, "f")] == [2, 5, 11]
    assert [case.line for case in read_cases('case = [{topic = "a", empty = true}]', "f")] == [1]


REFUSED = json.loads((ROOT / "tests/codec/refused.json").read_text("utf-8"))
LONG = (
        ("x = " + "[" * 200_000, "db.toml:1: nested too deeply"),
        (".".join(["a"] * 300_000) + " = 1", "db.toml:1: a key has too many parts"),
        ('x = """' + '\\"""' * 200_000, "db.toml:1: not TOML: "),
        ('x = "' + '\\"' * 400_000, "db.toml:1: not TOML: "),
)  # fmt: skip


def test_an_error_names_file_and_line() -> None:
    assert [text for text, message in (*REFUSED["cases"], *LONG) if not refusal(text).startswith(message)] == []


@given(st.text(alphabet="[]case=\"'\\\n#.{} topic", max_size=80))
def test_any_text_gives_cases_or_an_error_with_a_line(text: str) -> None:
    message = "f:"
    try:
        read_cases(text, "f")
    except UsageError as error:
        message = error.message
    assert message.startswith("f:")


def test_a_question_set() -> None:
    lines = [
        {"id": "1", "q": "how?", "type": "howto", "answers": ["a+"], "sources": [{"path": "x"}], "note": "n"},
        {"q": "who?", "type": "none", "answers": [], "sources": []},
    ]
    first, second = read_questions("\n\n".join(map(json.dumps, lines)) + "\n", "q.jsonl")
    assert (first.topic, first.answers, first.type, first.empty, first.line) == ("how?", ("a+",), "howto", False, 1)
    assert (second.topic, second.answers, second.empty, second.place) == ("who?", (), True, "q.jsonl:3")


def test_an_error_in_a_question_names_its_line() -> None:
    for line, message in [*REFUSED["questions"], ("[" * 200_000, "q.jsonl:2: nested too deeply")]:
        with pytest.raises(UsageError) as caught:
            read_questions(f"\n{line}\n", "q.jsonl")
        assert caught.value.message.startswith(message)
