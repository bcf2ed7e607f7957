"""Prefilters: they leave out only what a pattern would not have found, with RE2 and without."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memcli.safety import patterns
from memcli.safety.injection import RULES as INJECTION_RULES
from memcli.safety.injection import find_reasons
from memcli.safety.patterns import BytesPattern, Literals, looser, worth_trying
from memcli.safety.secrets import views
from memcli.safety.secrets.detector import RULES as SECRET_RULES
from memcli.safety.secrets.detector import Detector
from memcli.safety.secrets.redact_memory import Redacted, redact_fields
from tests.conftest import ROOT, examples
from tests.safety.hostile import HOSTILE
from tests.safety.injection_corpus import benign, hostile
from tests.safety.secrets_corpus import look_alikes, positives

PATTERNS = sorted({rule.pattern for rule in INJECTION_RULES} | {rule.probe for rule in SECRET_RULES if rule.probe})
LITERALS = sorted({word for rule in INJECTION_RULES for group in (rule.first, *rule.others) for word in group})
BENIGN = (ROOT / "tests" / "safety" / "benign.txt").read_text().splitlines()
ODD = st.text("aZ0_é٣ſ \v\x1c\xa0\u2003\n\t.-;\udc80", max_size=6)


@pytest.fixture
def re2_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "_PLENTY", 0)


@pytest.mark.usefixtures("re2_from_the_start")
@given(st.lists(st.sampled_from(LITERALS) | ODD, max_size=40).map("".join))
def test_literals_are_those_that_occur(text: str) -> None:
    found = {word for word in LITERALS if word in text}
    assert Literals(LITERALS).within(text) == found
    assert Literals(LITERALS).at_once(text) in (None, found)


@given(st.lists(st.sampled_from(LITERALS) | ODD, min_size=1, max_size=40).map("".join))
def test_literals_of_a_long_text_are_those_that_occur(text: str) -> None:
    long = f"{text}{' filling' * 600}"
    assert Literals(LITERALS).within(long) == {word for word in LITERALS if word in long}


@pytest.mark.usefixtures("re2_from_the_start")
@settings(examples(8), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_a_pattern_finds_is_found(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(PATTERNS))
    example = data.draw(ODD) + data.draw(st.from_regex(text)) + data.draw(ODD)
    exact = [match.span() for match in re.finditer(text, example)]
    assert [match.span() for match in patterns.pattern(text).finditer(example)] == exact
    assert patterns.pattern(text).occurs(example) == bool(exact)


TRACES = tuple(pattern for pattern in vars(views).values() if isinstance(pattern, BytesPattern))


@settings(examples(4), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_pattern_that_matches_is_worth_trying(data: st.DataObject) -> None:
    trace = data.draw(st.sampled_from(TRACES))
    exact = re.compile(trace.text.encode())
    text = (
        data.draw(st.binary(max_size=9)) + data.draw(st.from_regex(exact)) + b"00 " + data.draw(st.binary(max_size=9))
    )
    for plenty in (0, 1 << 40):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(patterns, "_PLENTY", plenty)
            assert [match.span() for match in trace.finditer(text)] == [m.span() for m in exact.finditer(text)]
            assert trace in worth_trying(TRACES, text) or not exact.search(text)


@pytest.mark.usefixtures("re2_from_the_start")
def test_a_set_that_runs_out_of_memory_leaves_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a set finds not even the end of a text."""
    assert not worth_trying(TRACES, b"word " * 9)
    monkeypatch.setattr(patterns, "_bytes_set", lambda _: SimpleNamespace(Match=lambda _: []))
    assert worth_trying(TRACES, b"word " * 9) == {
        trace for trace in TRACES if not trace.signs or any(sign in b"word " for sign in trace.signs)
    }


@pytest.mark.usefixtures("re2_from_the_start")
def test_prose_leaves_no_trace_to_follow() -> None:
    tried = sum(len(worth_trying(TRACES, text.encode())) for text in BENIGN)
    assert tried < 0.1 * len(BENIGN)


def test_what_a_pattern_does_not_find_is_mostly_not_tried() -> None:
    """Else the prefilter would be right, and of no use."""
    import re2

    made = [re2.compile(looser(pattern)) for pattern in PATTERNS]
    tried = sum(pattern.search(text.lower()) is not None for pattern in made for text in BENIGN)
    assert tried < 0.02 * len(made) * len(BENIGN)


def test_a_process_that_sees_much_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [text for text, _ in HOSTILE] + [str(fields.get("raw", "")) for fields in hostile() + benign()]
    texts += BENIGN + [text for *_, text in positives(1)] + list(look_alikes(1))
    found = []
    for plenty in (False, True):
        monkeypatch.setattr(patterns, "_PLENTY", 0 if plenty else 1 << 40)
        detector = Detector({}, lambda secret: "0" * 8)
        found.append([(find_reasons(text), detector.find(text), in_memory(detector, text)) for text in texts])
    assert found[0] == found[1]


def in_memory(detector: Detector, text: str) -> Redacted:
    """A memory without secrets that has `text` in fields of every kind, at their beginnings and ends."""
    named = {"token": text, "note": f"{text}\nthe end", "was": text[:80], "list": [text, f"see {text}"], text[:80]: "x"}
    return redact_fields(detector, {"path": text[:80], "raw": text, "tags": [text[:40]], "metadata": named})


@pytest.mark.usefixtures("re2_from_the_start")
@settings(examples(4), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_detector_for_parts_has_each_rule_that_matches_one(data: st.DataObject) -> None:
    rule = data.draw(st.sampled_from([rule for rule in SECRET_RULES if not rule.is_table]))
    part = data.draw(st.from_regex(re.compile(rule.pattern))).encode("utf-8", "surrogatepass")
    loose = patterns.re2_pattern(patterns.without_assertions(rule.pattern))
    if patterns.re2_pattern(rule.pattern).search(part):
        whole = data.draw(ODD).encode("utf-8", "surrogatepass") + part + data.draw(ODD).encode("utf-8", "surrogatepass")
        assert loose.search(whole)


def test_only_assertions_are_left_out() -> None:
    assert patterns.without_assertions(r"(?m)^a\b[^$\]^b]\$\^(?:x|$)\\b\B[]^]") == (
        r"(?m)(?:)a(?:)[^$\]^b]\$\^(?:x|(?:))\\b(?:)[]^]"
    )
    for rule in SECRET_RULES:
        assert not re.search(r"\[\[:|\\[CQ]", rule.pattern)  # forms of RE2 that `without_assertions` does not read
