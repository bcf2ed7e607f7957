"""Texts, each with a word of its own that no other text has, and paths that meet often."""

from __future__ import annotations

from random import Random  # noqa: TID251 - drawn from a seed

_CONSONANTS, _VOWELS = "bdfgklmnprtvz", "aiou"
_SYLLABLES = 6
_PART = slice(2, 10)
_AREAS = ("auth", "storage", "deploy", "docs/guide")
_LEAVES = ("tokens", "sessions", "cache", "limits", "setup", "retries")
KINDS = ("decision", "fact", "preference", "negative", "procedure", "log")
TAGS = ("auth", "db", "ops", "draft", "security")
_TEXTS = (
    "The {} service listens on port seven.",
    "We decided to keep {} sessions in the database because the cache loses them.",
    "Never run {} without a backup of the ledger.",
    "{} is slow on Mondays.\n\nThe reason is the weekly report.\n",
    "I prefer {} over the older layout.",
    "To deploy: build {}, then copy it to the host, then restart.",
    "Über {} – naïve café, 日本語.",
    "- {}\n- second item\n- third item",
)
_SENTENCE = "Part {} of {} explains how the queue is drained when the worker number {} stops."


def token(rng: Random) -> str:
    """A word of twelve letters."""
    return "".join(rng.choice(_CONSONANTS) + rng.choice(_VOWELS) for _ in range(_SYLLABLES))


def part(word: str) -> bytes:
    """The letters of a word that an index keeps which cuts off its ending, or a beginning that two words share."""
    return word[_PART].encode()


def text(rng: Random, word: str) -> str:
    """A text with `word` in it; one in twelve is long."""
    if rng.random() < 1 / 12:
        return " ".join(_SENTENCE.format(n, word, n + 1) for n in range(rng.randint(9, 25)))
    return rng.choice(_TEXTS).format(word)


def path(rng: Random) -> str:
    """One of the few paths that everything is put at."""
    return f"{rng.choice(_AREAS)}/{rng.choice(_LEAVES)}"
