"""Secrets in the shapes that people give them: how many are found, how many look-alikes are hurt, in both halves of the set."""

from __future__ import annotations

import pytest

from memcli.policy.redaction import Detector
from tests.policy.secret_shapes import FAMILIES, LOOK_ALIKES, look_alikes

LEAST = {"vendors": 0.98, "context": 0.90, "chosen": 0.60, "wrapped": 0.70}
MOST_HURT = 0.02


def redacted(text: str) -> str:
    return Detector({}, lambda _: "00000000").redact(text)[0]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("held_out", [False, True], ids=["dev", "held-out"])
def test_most_are_found(family: str, held_out: bool) -> None:
    samples = FAMILIES[family](held_out=held_out)
    kept = [sample for sample in samples if sample.value in redacted(sample.text)]
    assert 1 - len(kept) / len(samples) >= LEAST[family], kept


@pytest.mark.parametrize("held_out", [False, True], ids=["dev", "held-out"])
def test_hardly_a_look_alike_is_hurt(held_out: bool) -> None:
    samples = look_alikes(held_out=held_out)
    hurt = [sample.text for sample in samples if redacted(sample.text) != sample.text]
    assert len(hurt) / len(samples) <= MOST_HURT, hurt


def test_the_set_is_large_enough() -> None:
    sizes = {name: sum(len(family(held_out=half)) for half in (False, True)) for name, family in FAMILIES.items()}
    assert all(size >= 150 for size in sizes.values()), sizes
    assert len(LOOK_ALIKES) >= 200


@pytest.mark.parametrize("family", FAMILIES)
def test_twice_is_once(family: str) -> None:
    for sample in FAMILIES[family](held_out=False):
        once = redacted(sample.text)
        assert redacted(once) == once
