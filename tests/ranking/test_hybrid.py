"""What makes `hybrid`: rare entities, pinned ones, and one step over what is shared."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.ranking.points import RARE, Entities, identifiers
from tests.conftest import memory
from tests.ranking.asking import noise, ranked


def test_rare_entities_beat_common_ones(tmp_path: Path) -> None:
    pair = [
        memory("rare", path="x/one", raw="First.", tags=("seldom",)),
        memory("often", path="x/two", raw="Second.", tags=("common",)),
    ]
    found = ranked(tmp_path, "hybrid", "seldom common", [*pair, *noise()])
    assert found["rare"].why["entities"] > 2 * found["often"].why["entities"] > 0
    assert next(iter(found)) == "rare"


def test_a_tie_to_an_answer_is_found_in_one_step_and_no_further(tmp_path: Path) -> None:
    chain = [
        memory("answer", path="a/alpha", raw="The quokka sleeps.", tags=("tied",)),
        memory("tied", path="b/beta", raw="Unrelated.", tags=("tied", "further")),
        memory("further", path="c/gamma", raw="Words.", tags=("further",)),
    ]
    found = ranked(tmp_path, "hybrid", "quokka", [*chain, *noise()])
    assert list(found) == ["answer", "tied"]
    assert found["tied"].why["spread"] > 0
    assert "spread" not in found["answer"].why


@pytest.mark.parametrize("metadata", [{"group": "g1"}, {"speaker": "Zoe"}, {"source": "src/auth.py"}])
def test_metadata_ties(tmp_path: Path, metadata: dict[str, str]) -> None:
    pair = [
        memory("answer", path="a/alpha", raw="The quokka sleeps.", metadata=metadata),
        memory("tied", path="b/beta", raw="Unrelated.", metadata=metadata),
    ]
    assert set(ranked(tmp_path, "hybrid", "quokka", [*pair, *noise()])) == {"answer", "tied"}


def test_identifiers_in_summaries_tie(tmp_path: Path) -> None:
    pair = [
        memory("answer", path="a/alpha", raw="A quokka. More.", summary_micro="Calls refreshTokens on a quokka."),
        memory("tied", path="b/beta", raw="Some words.", summary_micro="Defines refreshTokens here."),
    ]
    assert set(ranked(tmp_path, "hybrid", "quokka", [*pair, *noise()])) == {"answer", "tied"}


def test_what_pinned_memories_name_counts_and_makes_nothing_match(tmp_path: Path) -> None:
    notes = [
        memory("pin", path="rules/zebra", raw="Keep.", pinned=True),
        memory("shares", path="a/zebra", raw="The quokka sleeps."),
        memory("plain", path="a/giraffe", raw="The quokka sleeps."),
    ]
    found = ranked(tmp_path, "hybrid", "quokka", [*notes, *noise()])
    assert found["shares"].why["pinned_entities"] > found["plain"].why.get("pinned_entities", 0.0)
    assert not ranked(tmp_path, "hybrid", "unheard", [])


def test_what_everybody_shares_ties_nobody() -> None:
    graph = Entities({row: ("everywhere", f"own{row}") for row in range(RARE + 1)})
    assert graph.spread({0: 1.0}) == {}
    assert graph.rarity("own1") == 1.0 > graph.rarity("everywhere") > 0


def test_identifiers() -> None:
    text = ["call", "refresh_token", "refresh", "token", "refreshtoken", "refresh", "token", "sha256", "2024", "plain"]
    assert list(identifiers(text)) == ["refresh_token", "refreshtoken", "sha256"]
