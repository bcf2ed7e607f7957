"""What two notes have to do with each other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memcli.claims.claim import MOST_CHARACTERS, MOST_STATEMENTS, claim_of, lacking, neighbours, terms_of
from memcli.claims.comparison import Relation, compare
from memcli.model.findings import CONTRADICTS, DUPLICATES, RELATED
from tests.strategies import texts


def found(new: str, old: str, cosine: float | None = None) -> Relation | None:
    return compare(claim_of(new), claim_of(old), cosine)


OF_OTHERS = [
    ("Backend deploys take 12 minutes.", "Frontend deploys take 5 minutes."),
    ("Retry failed e-mails five times.", "Retry failed webhooks three times with exponential backoff."),
]


def test_two_things_may_have_two_numbers() -> None:
    for new, old in OF_OTHERS:
        assert found(new, old) is None
        assert found(old, new) is None


def test_what_is_said_of_another_thing_in_the_same_words_is_no_duplicate() -> None:
    for cosine in (None, 0.8):
        for number in (30, 60):
            one, other = (
                "The API gateway times out calls after 30 s.",
                f"The API proxy times out calls after {number} s.",
            )
            finding = found(one, other, cosine)
            assert finding is None or finding.kind == RELATED


CONTRADICTIONS = [
    ("The API gateway times out after 60 s.", "The API gateway times out after 30 s.", "60 s here, 30 s there"),
    ("Sessions are kept in Redis.", "We keep sessions in PostgreSQL.", "redis here, postgresql there"),
    ("Never run migrations at night.", "Run migrations at night.", "denied here"),
    ("Telemetry is disabled by default.", "Telemetry is enabled by default.", "denied here"),
    ("Inventory uses optimistic locking.", "Inventory uses pessimistic locking.", "optimistic here, pessimistic there"),
    ("The minimum supported Python version is 3.11.", "Python version 3.9 is the minimum.", "3.11 here, 3.9 there"),
    ("The nightly backup starts at 03:00.", "The nightly backup starts at 01:30.", "03:00 here, 01:30 there"),
    ("Code freeze starts on June 20.", "Code freeze starts on June 12.", "June 20 here, June 12 there"),
    ("We lint with ruff instead of flake8.", "We lint with flake8.", "flake8 there, no longer here"),
    ("The maintainer of click is Alice.", "The maintainer of click is Bob.", "Alice here, Bob there"),
    ("We use pip, not uv.", "We chose uv instead of pip.", "pip here, uv there"),
    ("We use spaces, not tabs.", "We use tabs, not spaces.", "spaces here, tabs there"),
    ("Prefer inheritance over composition.", "Prefer composition over inheritance.", "inheritance here, composition there"),
    ("We chose Memcached over Redis for sessions.", "We chose Redis over Memcached for sessions.", "Memcached here, Redis there"),
    ("We deploy with the web console, not with make ship.", "We deploy with make ship, not with the web console.", "web console here, ship there"),
    ("TypeScript compiles to ES2020.", "TypeScript compiles to ES2017.", "ES2020 here, ES2017 there"),
    ("The scheduler reads cron lines. It runs every 5 minutes.", "The scheduler runs every 15 minutes.",
     "every 5 minutes here, every 15 minutes there"),
    ("Default log level: INFO", "The default log level is WARN.", "info here, warn there"),
    ("The cache holds pages for half an hour.", "The cache holds pages for 10 minutes.", "half an hour here, 10 minutes there"),
]  # fmt: skip


def test_a_contradiction_says_in_what() -> None:
    for new, old, reason in CONTRADICTIONS:
        for cosine in (None, 0.8):
            finding = found(new, old, cosine)
            assert finding is not None
            expected = (CONTRADICTS, reason, "instead of" in new)
            assert (finding.kind, finding.reason, finding.newer_holds) == expected


COMPATIBLE = [
    ("In staging the gateway times out after 60 s.", "In production the gateway times out after 30 s."),
    ("The gateway times out after 0.5 s.", "The gateway times out after 500 ms."),
    ("The US cluster has 12 nodes.", "The European cluster has 6 nodes."),
    ("Access tokens expire after 15 minutes.", "Refresh tokens expire after 30 days."),
    ("Use pytest for unit tests in the backend.", "Use Vitest for unit tests in the web app."),
    ("Migrations may lock tables.", "Migrations must not lock tables, except during the maintenance window."),
    ("We considered MySQL for billing.", "Billing runs on PostgreSQL."),
    ("Should billing run on MySQL?", "Billing runs on PostgreSQL."),
    ("Version 1.9 fixed the deadlock in the pool.", "Version 1.8 fixed the memory leak in the pool."),
    ("With 1024 MB the lambda starts in 2 s.", "With 512 MB the lambda starts in 4 s."),
    ("The map crashes when a route has no points.", "Crash: the map opens a route without points."),
    ("Rule 1: jobs are retried 3 times.", "Rule 2: jobs are retried 5 times."),
    ("Avatars are resized to 256 pixels.", "Avatars larger than 2 MB are rejected."),
]


def test_what_goes_together_does_not_contradict() -> None:
    assert [
        (new, old)
        for new, old in COMPATIBLE
        if not (all(one is None or one.kind != CONTRADICTS for one in (found(new, old, 0.8), found(new, old))))
    ] == []


def test_the_same_claim_in_other_words_is_a_duplicate() -> None:
    cases = [
        ("User sessions are kept in Redis.", "We store user sessions in Redis."),
        ("Uploads may be at most 20 MB.", "Uploads over 20 MB are rejected."),
        ("Do not force-push to main.", "Never force-push to the main branch."),
        ("Access tokens are valid for one hour.", "Access tokens expire after 60 minutes."),
    ]
    for new, old in cases:
        finding = found(new, old, 0.85)
        assert finding is not None
        assert finding.kind == DUPLICATES


def test_markers_make_the_newer_one_hold() -> None:
    cases = [
        ("Sessions now live in Redis.", True),
        ("We switched from yarn to pnpm.", True),
        ("Node 16 is no longer supported.", True),
        ("Sessions live in Redis.", False),
    ]
    assert [(text, is_newer) for text, is_newer in cases if claim_of(text).is_newer != is_newer] == []


def test_what_speaks_of_the_same_matter_is_related() -> None:
    old = "The gateway sleeps for 15 minutes between uploads to save the battery."
    near = found("Between two uploads the gateway goes to sleep and is woken by its timer.", old, 0.75)
    assert near is not None
    assert near.kind == RELATED
    assert near.score > 0.5
    assert found("The licence of the fonts ends in March.", old, 0.1) is None
    assert found("The licence of the fonts ends in March.", old) is None


def test_odd_texts_are_read() -> None:
    cases = [
        "", "?", "```\nretries = 5\n```", "| a | b |\n|---|---|\n| 1 | 2 |",
        "\u0663 \u00b2 \u2167 9e99 1e-99 1:99 v1.2.3.4.5.6", "\u6570\u636e\u5e93\u4e0d\u662f MySQL", "not " * 500,
        "1" * 5000, "a" * 5000,
    ]  # fmt: skip
    assert [
        text for text in cases if not (found(text, text, 1.0) is None or found(text, text, 1.0).kind == DUPLICATES)
    ] == []


_NOTES = (
    [new for new, *_ in CONTRADICTIONS] + [old for _, old, _ in CONTRADICTIONS] + [t for two in COMPATIBLE for t in two]
)
_texts = texts | st.lists(st.sampled_from(_NOTES), min_size=1, max_size=3).map(" ".join)


@given(_texts)
def test_nothing_contradicts_itself(text: str) -> None:
    claim = claim_of(text)
    for cosine in (None, 1.0):
        finding = compare(claim, claim, cosine)
        assert finding is None or finding.kind == DUPLICATES


@given(_texts, _texts, st.none() | st.floats(0, 1))
def test_the_kind_does_not_depend_on_the_order(one: str, other: str, cosine: float | None) -> None:
    kinds = [finding and finding.kind for finding in (found(one, other, cosine), found(other, one, cosine))]
    assert kinds[0] == kinds[1]


def test_a_long_text_is_read_as_far_as_it_matters() -> None:
    claim = claim_of("Sessions are kept in Redis for 5 minutes. " * 10_000)
    assert len(claim.statements) <= MOST_STATEMENTS
    assert len(claim.text) == MOST_CHARACTERS


def test_one_rare_term_is_enough_for_a_short_claim_alone() -> None:
    long = terms_of(" ".join(f"The alpha{n} serves the beta{n}." for n in range(12)))
    short, other = terms_of("Alpha1 exports."), terms_of("Alpha2 imports.")
    assert list(neighbours([long, short, other])) == [(1, 0), (2, 0)]
    assert list(neighbours([long, terms_of("alpha1 " + " ".join(f"The gamma{n} calls." for n in range(12)))])) == []


def test_neighbours_share_their_rarest_terms() -> None:
    claims = [
        terms_of(text)
        for text in ("Sessions are kept in Redis.", "The linter is ruff.", "Redis keeps sessions for a day.")
    ]
    assert list(neighbours(claims)) == [(2, 0)]
    assert list(neighbours(claims, [1])) == []


PAGES, IMAGES = "The cache of pages holds 64 MB.", "The cache of images holds 128 MB."
NEVER, FLYWAY = "Never run migrations by hand.", "Run migrations with flyway."


def test_what_says_all_that_others_said() -> None:
    cases = [
        ("The caches hold 64 MB of pages and 128 MB of images.", (PAGES, IMAGES)),
        ("Run migrations with flyway, never by hand.", (NEVER, FLYWAY)),
        (NEVER, (NEVER, "Never run a migration by hand.")),
        ("Der Cache hält 64 MB Seiten und 128 MB Bilder.", ("Der Cache hält 64 MB Seiten.", "128 MB Bilder im Cache.")),
    ]
    assert [(text, said) for text, said in cases if lacking(text, said) != ""] == []


def test_what_does_not_say_all_that_others_said() -> None:
    cases = [
        ("The caches hold 64 MB of pages and of images.", (PAGES, IMAGES), "lacks the number 128"),
        ("The caches of pages and images hold 64 and 128 to 256 MB.", (PAGES, IMAGES), "has the number 256"),
        (
            "Keys and tokens are made in src/keys.py.",
            ("Keys are made in src/keys.py.", "Tokens are made in src/token.py."),
            "lacks src/token.py",
        ),
        ("Run migrations by hand with flyway.", (NEVER, FLYWAY), "does not deny"),
        ("Never run migrations with flyway.", (FLYWAY, "Run migrations at night."), "denies what neither"),
        ("Never peel bananas.", (NEVER, FLYWAY), "lacks most words of a text"),
        (f"{FLYWAY} Bananas grow in warm, humid, tropical regions of Asia.", (FLYWAY, FLYWAY), "in neither text"),
    ]
    assert [(text, said, told) for text, said, told in cases if told not in lacking(text, said)] == []


def test_preferences_about_different_things_do_not_contradict() -> None:
    for one, other in (
        ("Logs go to stdout, not to files.", "Audit records go to files, not to stdout."),
        ("Use ruff instead of flake8.", "Use uv instead of pip."),
        ("We use ints, not strings, for ids.", "We use strings, not ints, for cents."),
        ("We write docs in Markdown, not in reStructuredText.", "The README is written in Markdown."),
    ):
        assert (found(one, other), found(other, one)) == (None, None)
