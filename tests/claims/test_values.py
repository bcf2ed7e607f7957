"""Which values a text has, and that nothing which differs in one repeats another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memcli.claims.claim import claim_of
from memcli.claims.comparison import Relation, compare
from memcli.claims.values import differ, missing, values_of
from memcli.model.findings import CONTRADICTS, DUPLICATES, RELATED
from tests.strategies import texts

VALUES = {
    "model": "gpt-4o-mini gpt-7 gpt-4o claude-3-opus 4o 5o llama3.1:8b text-embedding-3-small text-embedding-3-large sonnet-large",
    "version": "1.2.3 1.2.4 v2 v3 3.1 3.10 3.11 2024.1 1.0.0-rc1 1.0.0-rc2",
    "region": "eu-west-1 us-east-1 eu-west-2 ap-northeast-2 europe-west4",
    "path": "src/auth.py src/token.py /srv/a /srv/b docs/api.md api/docs.md ~/.config .env",
    "number": "5 6 7 12 1,200 1,300 8080 9090 0.5 0.7",
    "time": "30s 60s 5m 30ms 12h 2d",
    "size": "10MB 20MB 10Gi 20Gi 1TB",
    "schedule": "02:00 03:00 2pm 4am hourly daily weekly Monday Tuesday */5 */10",
    "identifier": "svc-alpha svc-beta 9f3ab2c 1c3ab2c MAX_RETRIES MIN_RETRIES maxRetries minRetries --force --dry-run #12 #13",
    "address": "10.0.0.1 10.0.0.2 https://a.example.com https://b.example.com db-1.internal:5432 db-2.internal:5432",
    "name": "Redis PostgreSQL Mara Quinn GraphQL gRPC",
}
FRAMES = [
    "The default model is {}.", "The gateway is pinned to {} in production.", "Keep {} for the export of invoices.",
    "{} is what the importer uses.", "importer: {}",
    "The backup of the billing database uses {}, since the incident in March.", "Never change {} by hand.",
]  # fmt: skip
REWORDED = ["We set the default model to {}.", "In production the gateway stays pinned to {}.", "The importer uses {}."]
COSINES = (None, 0.5, 0.7, 0.85, 1.0)

_two = st.sampled_from(sorted(VALUES)).flatmap(
    lambda kind: st.lists(st.sampled_from(VALUES[kind].split()), min_size=2, max_size=2, unique=True)
)
_frame = st.sampled_from([*FRAMES, *REWORDED])
_note = st.builds(str.format, _frame, st.sampled_from(sorted(v for values in VALUES.values() for v in values.split())))
_notes = st.lists(_note | texts, min_size=1, max_size=3).map(" ".join)


def found(new: str, old: str, cosine: float | None) -> Relation | None:
    return compare(claim_of(new), claim_of(old), cosine)


@given(_frame, _frame, _two, st.sampled_from(COSINES), st.just("") | _notes)
def test_a_differing_value_is_never_a_duplicate(
    frame: str, other: str, values: list[str], cosine: float | None, more: str
) -> None:
    new, old = f"{frame.format(values[0])} {more}", f"{other.format(values[1])} {more}"
    finding = found(new, old, cosine)
    if finding is not None and finding.kind == DUPLICATES:  # what both go on with may hold either value
        assert values[0] in more or values[1] in more


@given(_notes, _notes)
def test_what_contradicts_by_one_look_is_no_duplicate_by_another(one: str, other: str) -> None:
    findings = [found(*pair, cosine) for pair in ((one, other), (other, one)) for cosine in COSINES]
    assert len({finding.kind for finding in findings if finding is not None} - {RELATED}) <= 1


@given(_frame, _two, st.sampled_from(COSINES))
def test_a_duplicate_names_the_value_that_it_alone_has(frame: str, values: list[str], cosine: float | None) -> None:
    old = frame.format(values[0])
    new = f"{old[:-1]} and {values[1]}."
    finding = found(new, old, cosine)
    assert finding is None or finding.kind != DUPLICATES or finding.adds
    again = found(old, new, cosine)
    assert again is None or not again.adds


def test_a_plain_difference_is_a_contradiction() -> None:
    cases = [
        ("The default model is gpt-7.", "The default model is gpt-4o-mini.", "gpt-7 here, gpt-4o-mini there"),
        ("The default model is gpt-7.", "The default model is claude-3-opus.", "gpt-7 here, claude-3-opus there"),
        ("The API runs in ap-northeast-2.", "The API runs in eu-west-1.", "ap-northeast-2 here, eu-west-1 there"),
        ("The API version is v3.", "The API version is v2.", "v3 here, v2 there"),
        ("The backup starts at 3am.", "The backup starts at 2 a.m.", "03:00 here, 02:00 there"),
        ("We pin numpy 2.0.1.", "We pin numpy 1.26.4.", "2.0.1 here, 1.26.4 there"),
    ]
    for new, old, reason in cases:
        for cosine in COSINES:
            if cosine != 0.5:
                finding = found(new, old, cosine)
                assert finding is not None
                assert (finding.kind, finding.reason) == (CONTRADICTS, reason)


def test_what_has_another_number_is_another_thing() -> None:
    cases = [
        ("Rack 7 listens on port 8107.", "Rack 8 listens on port 8108."),
        ("Rack 7 is in Oslo.", "Rack 8 is in Oslo."),
        ("rack-07 is in Oslo.", "rack-08 is in Oslo."),
        ("Server-1 runs the importer.", "Server-2 runs the importer."),
    ]
    findings = [found(new, old, cosine) for new, old in cases for cosine in COSINES]
    assert {finding.kind for finding in findings if finding is not None} <= {RELATED}


def test_one_value_may_be_written_in_two_ways() -> None:
    cases = [
        ("it waits 60 s", "waits for 1 minute"), ("at 2pm", "14:00"), ("twice", "x2"), ("1e-3", "0.001"),
        ("0.2 MB", "200 kB"), ("Postgres", "PostgreSQL"), ("nightly", "every 24 h"), ("GPT-7", "`gpt-7`."),
        ("force-push", "force push"), ("1. build\n2. ship", "- build\n- ship"),
    ]  # fmt: skip
    for one, other in cases:
        mine, theirs = values_of(one), values_of(other)
        assert (missing(mine, theirs), missing(theirs, mine), differ(mine, theirs)) == ("", "", False)


def test_numbers_that_change_places_differ() -> None:
    assert differ(values_of("A takes 5 s, B takes 9 s."), values_of("A takes 9 s, B takes 5 s."))
    assert differ(values_of("Alpha calls Beta."), values_of("Beta calls Alpha."))


@given(texts, texts)
def test_any_text_has_its_own_values(one: str, other: str) -> None:
    mine, theirs = values_of(one), values_of(other)
    assert not missing(mine, mine)
    assert not differ(mine, mine)
    assert differ(mine, theirs) == differ(theirs, mine)


def test_a_text_that_is_too_long_to_read_repeats_nothing() -> None:
    long = "The cache of pages holds 64 MB. " * 200
    finding = found(f"{long} The default model is gpt-7.", f"{long} The default model is gpt-4o-mini.", 1.0)
    assert finding is None or finding.kind != DUPLICATES


def test_what_changes_places_is_no_duplicate() -> None:
    cases = [
        ("Deploy to staging before production.", "Deploy to production before staging."),
        ("We prefer tabs over spaces in Go.", "We prefer spaces over tabs in Go."),
        ("Bug fixes go to branch stable, features to branch main.", "Bug fixes go to branch main, features to branch stable."),
    ]  # fmt: skip
    for one, other in cases:
        for cosine in COSINES:
            finding = found(one, other, cosine)
            assert finding is None or finding.kind != DUPLICATES


def test_a_clause_that_moves_changes_nothing() -> None:
    cases = [
        ("Deploy to staging before production.", "Before production, deploy to staging."),
        ("In Go files we use tabs for indents.", "We use tabs for indents in Go files."),
        ("The cache is cleared at noon.", "The cache is cleared at noon!"),
    ]
    for one, other in cases:
        finding = found(one, other, None)
        assert finding is not None
        assert finding.kind == DUPLICATES
