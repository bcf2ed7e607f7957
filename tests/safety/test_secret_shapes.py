"""Secrets in the shapes that people give them: how many are found, how many look-alikes are hurt, in both halves of the set."""

from __future__ import annotations

import re

import pytest

from memcli.safety.secrets.detector import Detector
from tests.safety.secret_shapes import DATA, FAMILIES, LOOK_ALIKES, look_alikes
from tests.safety.secrets_corpus import SHAPES, parts

LEAST = {"vendors": 0.98, "context": 0.90, "chosen": 0.60, "wrapped": 0.70}
MOST_HURT = 0.02
BY_SURROUNDINGS = {
    "slack_webhook", "teams_webhook", "connection_string", "url_password", "curl_password", "netrc_password", "oracle_password",
}  # fmt: skip


def redacted(text: str) -> str:
    return Detector({}, lambda _: "00000000").redact(text)[0]


@pytest.mark.parametrize("family", FAMILIES)
def test_most_are_found_in_either_half_and_twice_is_once(family: str) -> None:
    halves = [FAMILIES[family](held_out=half) for half in (False, True)]
    assert sum(map(len, halves)) >= 150
    for samples in halves:
        once = [redacted(sample.text) for sample in samples]
        kept = [sample for sample, clean in zip(samples, once, strict=True) if sample.value in clean]
        assert 1 - len(kept) / len(samples) >= LEAST[family], kept
        if samples is halves[0]:
            assert [redacted(text) for text in once] == once


def test_hardly_a_look_alike_is_hurt() -> None:
    assert len(LOOK_ALIKES) >= 200
    for half in (False, True):
        samples = look_alikes(held_out=half)
        hurt = [sample.text for sample in samples if redacted(sample.text) != sample.text]
        assert len(hurt) / len(samples) <= MOST_HURT, hurt


def test_words_after_a_prefix_are_no_token() -> None:
    """A name in code that begins as a token does is left alone."""
    names = []
    for kind in sorted(set(SHAPES) - BY_SURROUNDINGS):
        before, shape, after = parts(kind)
        words = re.sub(r"<\w+:\d+>|\{uuid\}", "of_the_next_name", shape)
        names.append(f"see {before}{words}{after} there")
    assert [redacted(text) for text in names] == names


def test_what_stands_around_a_password_in_settings_code_tables_and_prose() -> None:
    rows = [(frame, first + second) for frame, first, second in DATA["structures"]]
    wrong = [frame for frame, value in rows if value in redacted(frame.format(value))]
    wrong += [frame for frame, _ in rows if redacted(frame.format("")) != frame.format("")]
    assert wrong == []


def test_documents_of_projects_that_hold_no_secret_stay_whole() -> None:
    assert [text for text in DATA["documents"] if redacted(text) != text] == []
