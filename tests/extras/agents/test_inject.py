"""What a prompt is shown: what of it is searched for, what it needs in five languages, and nothing else."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from memcli.app.recall import recall
from memcli.app.workspace import Workspace
from memcli.embed import DEFAULT_EMBEDDER
from memcli.extras.agents.inject import _confident, for_prompt, query_of
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
    for prompt in ("thanks!", "explain monads to me with a metaphor about kitchens", "translate this poem to French"):
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
        section("e", "main", 0.2), section("f", "main", 0.35),
    ]  # fmt: skip
    # Of what is far behind the best nothing is shown: otherwise it would come up once the best was shown before.
    table = {"abcde": "ac", "cdab": "cd", "ab": "a", "e": "", "cae": "ca", "af": "a", "f": "f"}
    of = {one.memory.id.removeprefix("mem_"): one for one in found}
    query = Query(topic="x", now=NOW)
    shown = {
        given: _confident(Bundle(space="main", query=query, sections=tuple(of[name] for name in given)))
        for given in table
    }
    assert {given: "".join(s.memory.id[-1] for s in bundle.sections) for given, bundle in shown.items()} == table


LOG = """why does the nightly import die?

2026-03-01 02:00:01 INFO starting
2026-03-01 02:00:02 INFO read 4000 rows
2026-03-01 02:00:03 INFO read 8000 rows
2026-03-01 02:00:04 ERROR disk quota exceeded on /srv/import
2026-03-01 02:00:05 INFO stopping"""


def test_what_asks_for_nothing_is_not_searched_for() -> None:
    table = (
        "", "   ", "why?", "thanks!", "ok great, cheers", "go on", "undo that please", "commit it", "yes, the second one", "no, wait",
        "make it shorter", "shorter. and without the table, this is for a slide", "the last one then", "```\nx = 1\n```",
        "rename total to amount in this function", "please sort the imports", "add a trailing comma there",
        "is the loop that you changed still right?", "keep it like before",
    )  # fmt: skip
    assert [prompt for prompt in table if query_of(prompt)] == []


def test_what_may_be_answered_is_searched_for_as_it_stands() -> None:
    table = (
        "deploy?", "token lifetime?", "which database do we use?", "Now how do we cut a release?",
        "why did we drop Redis for the queue?", "bump the toolchain of the build image", "rename total in src/cart.py",
        "add a retry to the payment client and log what it does",
    )  # fmt: skip
    assert [prompt for prompt in table if query_of(prompt) != prompt] == []
    assert query_of("Perfect, thank you!\nNow how do we cut a release?") == "Now how do we cut a release?"


def test_of_a_log_the_question_and_the_errors_are_left() -> None:
    found = query_of(LOG).splitlines()
    assert found[0] == "why does the nightly import die?"
    assert [line for line in found[1:] if "ERROR" not in line] == []
    assert "disk quota exceeded" in found[-1]


def test_code_and_markup_are_not_searched_for() -> None:
    found = query_of(
        'how do we style buttons?\n```html\n<a class="zebra">quokka</a>\n```\n<img alt="walrus"> <!-- lynx -->'
    )
    assert "how do we style buttons?" in found
    assert not any(word in found for word in ("zebra", "quokka", "walrus", "lynx"))


with open(os.path.join(os.path.dirname(__file__), "languages.json"), encoding="utf-8") as file:
    TABLE = json.load(file)
NEEDED = [(language, name, prompt) for language, of in TABLE.items() for name, _, _, prompt in of["notes"]]
NEAR = [(language, prompt) for language, of in TABLE.items() for prompt in of["near"]]
ENGLISH = ["Explain the difference between a mutex and a semaphore.", "What will the weather be like this weekend?"]


@pytest.fixture(scope="module", params=["off", "onnx"])
def stores(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Workspace]:
    """A store of the notes of each language: without a model, and with the one that comes with memcli, which reads English."""
    found = {}
    for language, of in TABLE.items():
        folder: Path = tmp_path_factory.mktemp(language)
        found[language] = open_at(folder, MEMCLI_EMBEDDER=request.param, MEMCLI_FREEZE_CLOCK=NOW)
        notes = [memory(name, kind=kind, raw=text, path=f"notes/{name}") for name, kind, text, _ in of["notes"]]
        rewrite(found[language].store, lambda space, notes=notes: space.put(notes, NOW))
    return found


def ask(workspace: Workspace, topic: str) -> Bundle:
    return next(iter(recall(workspace, [Query(topic=topic, now=NOW, limit=3)])))


@pytest.mark.parametrize(("language", "name", "prompt"), NEEDED)
def test_a_prompt_finds_the_note_that_it_needs(
    stores: dict[str, Workspace], language: str, name: str, prompt: str
) -> None:
    bundle = ask(stores[language], prompt)
    assert bundle.sections[0].memory.id == f"mem_{name}"
    assert not bundle.is_weak
    shown = for_prompt(stores[language], prompt, None).sections
    assert f"mem_{name}" in [section.memory.id for section in shown]


@pytest.mark.parametrize(
    ("language", "prompt"), [*NEAR, *((language, prompt) for language in TABLE for prompt in ENGLISH)]
)
def test_a_prompt_that_needs_none_is_shown_none(stores: dict[str, Workspace], language: str, prompt: str) -> None:
    assert not for_prompt(stores[language], prompt, None).sections
