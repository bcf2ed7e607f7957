"""What a prompt is shown: what it needs, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.app.workspace import Workspace
from memcli.embed import DEFAULT_EMBEDDER
from memcli.extras.agents.inject import _needed, for_prompt
from memcli.model.recall import Bundle, Query, Section
from memcli.model.space import Space
from tests.conftest import NOW, memory, open_at, rewrite

NOTES = {
    "db": ("decision", "We chose PostgreSQL over MySQL because we need JSONB."),
    "sleep": ("negative", "Never call time.sleep in a request handler: it blocks the worker."),
    "release": ("procedure", "To release, tag the commit and let the build server publish it."),
    "lunch": ("fact", "Lunch is at noon in the blue room."),
}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    opened = open_at(tmp_path, MEMCLI_EMBEDDER=DEFAULT_EMBEDDER)
    notes = [memory(name, raw=raw, summary_micro=raw, kind=kind) for name, (kind, raw) in NOTES.items()]
    anchored = memory(
        "rule", raw="Amounts are integers of cents.", kind="constraint", anchors=({"file": "src/cart.py"},)
    )
    rewrite(opened.store, lambda _: Space("main").put([*notes, anchored], NOW))
    return opened


def shown(workspace: Workspace, prompt: str) -> list[str]:
    return [section.memory.id.removeprefix("mem_") for section in for_prompt(workspace, prompt, None).sections]


def test_a_prompt_is_shown_what_it_needs(workspace: Workspace) -> None:
    assert shown(workspace, "which database do we use for the orders?") == ["db"]
    assert shown(workspace, "thanks! how do we release this now?") == ["release"]
    assert "sleep" in shown(workspace, "wait half a second in the request handler with time.sleep")


def test_a_prompt_that_needs_nothing_is_shown_nothing(workspace: Workspace) -> None:
    for prompt in (
        "thanks!",
        "go on",
        "explain monads to me with a metaphor about kitchens",
        "translate this poem to French",
    ):
        assert shown(workspace, prompt) == [], prompt


def test_a_rule_comes_for_the_file_that_is_named_and_for_no_other_with_its_letters(workspace: Workspace) -> None:
    assert "rule" in shown(workspace, "why is src/cart.py so slow to import?")
    assert "rule" not in shown(workspace, "why is src/mycart.pyx so slow to import?")


def test_a_secret_is_taken_out_before_lines_are_left_out(workspace: Workspace) -> None:
    key = "\n".join(
        ["-----BEGIN RSA PRIVATE KEY-----", *["MIIEowIBAAKCAQEA7bq98Zkq" * 2] * 8, "-----END RSA PRIVATE KEY-----"]
    )
    topic = for_prompt(workspace, f"error: who broke the release of this?\n{key}\nerror: denied", None).query.topic
    assert "MIIEow" not in topic
    assert "release" in topic


def test_of_documents_at_most_one_is_shown_and_none_pushes_a_note_out() -> None:
    def section(name: str, space: str, confidence: float) -> Section:
        return Section(memory(name), 1.0, {}, space, confidence=confidence)

    found = [
        section("a", "repo", 0.9), section("b", "repo", 0.8), section("c", "main", 0.7), section("d", "main", 0.6),
        section("e", "main", 0.2),
    ]  # fmt: skip
    table = {"abcde": "ac", "cdab": "cd", "ab": "a", "e": "", "cae": "ca"}
    of = {one.memory.id.removeprefix("mem_"): one for one in found}
    query = Query(topic="x", now=NOW)
    shown = {
        given: _needed(Bundle(space="main", query=query, sections=tuple(of[name] for name in given))) for given in table
    }
    assert {given: "".join(s.memory.id[-1] for s in bundle.sections) for given, bundle in shown.items()} == table
