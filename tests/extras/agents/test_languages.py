"""Notes and prompts in German, Spanish, Japanese and Chinese: `languages.json` has for each a dozen notes with the prompt that
needs it, and prompts that need none of them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from memcli.app.recall import recall
from memcli.app.workspace import Workspace
from memcli.extras.agents.inject import for_prompt
from memcli.model.recall import Bundle, Query
from tests.conftest import NOW, memory, open_at, rewrite

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
