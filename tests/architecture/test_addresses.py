"""Every verb has an address: CONTRIBUTING names the file of its use case, and the file is there."""

from __future__ import annotations

import re

import pytest

from memcli.cli.verb import find, names
from tests.conftest import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
TABLE = TEXT.partition("| verb | file |")[2].partition("\n\n")[0]
ROWS = [
    (re.findall(r"`([\w-]+)`", left), re.findall(r"`([\w/]+\.py)`", right))
    for left, right in (line.strip("| ").split(" | ", 1) for line in TABLE.splitlines() if line.startswith("| `"))
]


def test_every_verb_stands_once() -> None:
    assert sorted(verb for verbs, _ in ROWS for verb in verbs) == sorted(names())


@pytest.mark.parametrize(("verbs", "files"), ROWS, ids=[",".join(verbs) for verbs, _ in ROWS])
def test_its_file_is_there_and_leads_to_it(verbs: list[str], files: list[str]) -> None:
    assert files
    assert [file for file in files if not (ROOT / "memcli" / file).is_file()] == []
    for verb in verbs:
        assert find(verb) is not None


def test_where_a_verb_has_a_module_of_its_name_it_is_the_one() -> None:
    for verbs, files in ROWS:
        for verb in verbs:
            if verb != "check" and (ROOT / "memcli" / "app" / f"{verb}.py").is_file():  # that one is of `remember`
                assert f"app/{verb}.py" in files
