"""Every entry of every table can be made."""

from __future__ import annotations

from memcli.embed import DEFAULT_EMBEDDER, EMBEDDERS
from memcli.model.recall import DEFAULT_BACKEND
from memcli.ranking import RANKERS
from memcli.render import RENDERERS
from memcli.settings import DEFAULT_SUMMARIZER
from memcli.summarize import SUMMARIZERS


def test_every_entry_builds() -> None:
    for table in (RANKERS, RENDERERS):
        assert all(load() is not None for load in table.values())
    assert all(describe({"raw": "We chose Redis."}) for describe in SUMMARIZERS.values())
    assert {name for name, load in EMBEDDERS.items() if load() is None} == {"off"}


def test_the_defaults_are_there() -> None:
    assert DEFAULT_BACKEND in RANKERS
    assert DEFAULT_EMBEDDER in EMBEDDERS
    assert DEFAULT_SUMMARIZER in SUMMARIZERS
