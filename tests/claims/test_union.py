"""Whether a text says what others said."""

from __future__ import annotations

from memcli.claims.claim import lacking

PAGES, IMAGES = "The cache of pages holds 64 MB.", "The cache of images holds 128 MB."
NEVER, FLYWAY = "Never run migrations by hand.", "Run migrations with flyway."


def test_what_says_all() -> None:
    cases = [
        ("The caches hold 64 MB of pages and 128 MB of images.", (PAGES, IMAGES)),
        ("Run migrations with flyway, never by hand.", (NEVER, FLYWAY)),
        (NEVER, (NEVER, "Never run a migration by hand.")),
        ("Der Cache hält 64 MB Seiten und 128 MB Bilder.", ("Der Cache hält 64 MB Seiten.", "128 MB Bilder im Cache.")),
    ]
    assert [(text, said) for text, said in cases if lacking(text, said) != ""] == []


def test_what_does_not() -> None:
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
