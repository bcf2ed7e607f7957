"""Summaries of prose, lists and documents."""

from __future__ import annotations

from memcli.summarize import SUMMARIZERS
from memcli.summarize.summaries import clip, weigh

README = """# tallow

[![CI](https://img.shields.io/ci.svg)](https://ci.example.com) ![version](v.svg)

**tallow** keeps feature flags in git and serves them from memory. It has no server of its own: every
process reads the flags from a checked-out file and watches it for changes.

## Why

Most flag services are a network call away, so that a flag lookup can fail. We wanted lookups that cannot
fail and a history of who changed what. Git already has both.

## Install

```sh
pip install tallow
tallow init flags/
tallow serve --watch flags/ --port 8080 --log-level debug --reload --and-many-more-options-than-fit
```

## Usage

Flags are TOML files, one for each team. A flag has an owner, an expiry date and rules.

| field | meaning |
|---|---|
| owner | who to ask |

- `tallow check` fails when a flag is past its expiry date.
- `tallow diff main` shows which users a change affects.

## License

MIT.
"""


def summaries(text: str, **fields: object) -> tuple[str, str, str]:
    found = SUMMARIZERS["local"]({"raw": text, **fields})
    return str(found["summary_micro"]), str(found["summary_short"]), str(found["summary_long"])


def test_a_document_is_told_by_its_sentences() -> None:
    micro, short, long = summaries(README)
    assert micro.startswith("tallow keeps feature flags in git and serves them from memory. ")
    assert short.startswith("- tallow keeps feature flags in git and serves them from memory.\n- ")
    assert short.count("\n") == 2
    for sentence in long.replace("; ", ". ").split(". "):
        assert sentence.rstrip(".") in README.replace("**", "").replace("\n", " ")
    assert "pip install" not in long
    assert "|" not in long
    assert "badge" not in long


def test_a_note_keeps_its_order() -> None:
    text = (
        "The retry logic uses exponential backoff with full jitter. Retries happen only for idempotent methods. "
        "The circuit breaker opens after five failures. Metrics are exported for every retry of the circuit breaker."
    )
    micro, short, long = summaries(text)
    assert micro.startswith("The retry logic uses exponential backoff with full jitter.")
    lines = [line.removeprefix("- ") for line in short.split("\n")]
    assert len(lines) == 3
    assert [text.index(line) for line in lines] == sorted(text.index(line) for line in lines)
    assert long == text


def test_the_sentence_that_makes_the_kind_is_the_micro_summary() -> None:
    text = (
        "Balances are computed from mutable rows today, and auditors have asked for a history of every change to them. "
        "Two incidents last year came from lost updates of rows. We decided to store every movement as an event. "
        "Backups grow by two gigabytes a month."
    )
    assert "We decided to store every movement as an event." in summaries(text)[0]


def test_a_question_is_a_worse_summary_than_a_statement() -> None:
    sets = [frozenset({"first"}), frozenset({"cache", "full"}), frozenset({"cache", "full"})]
    _, question, statement = weigh(["At first.", "Is the cache full?", "The cache is full."], sets)
    assert question < statement


def test_steps_are_told_from_the_first() -> None:
    text = "Rotate the signing keys:\n" + "".join(f"{n}. {step} the keys of every region.\n" for n, step in enumerate(
        ["Generate", "Publish", "Await", "Switch", "Revoke", "Announce"], 1))  # fmt: skip
    micro, short, _ = summaries(text)
    assert micro.startswith("Rotate the signing keys: Generate the keys of every region.")
    assert short.split("\n")[0] == "- Generate the keys of every region."


def test_lines_without_a_stop_are_kept_apart_and_marks_are_taken_off() -> None:
    assert summaries("To do\n- buy milk\n- feed the cat")[0] == "To do: buy milk; feed the cat"
    assert summaries("**Note:** see [the docs](https://x.y) for `x_y`.")[0] == "Note: see the docs for `x_y`."


def test_without_a_text_content_is_told_field_by_field_or_a_given_summary_stands_in() -> None:
    content = {"goal": "Ship it", "steps": ["parse", "write"], "budget": {"tokens": 5, "strict": True}, "none": None}
    found = SUMMARIZERS["local"]({"content": content})
    assert found["summary_micro"] == "goal: Ship it; steps: parse, write; budget.tokens: 5; budget.strict: true"
    assert found["kind"] == "goal"
    found = SUMMARIZERS["local"]({"summary_short": "We chose Redis over Memcached."})
    assert found["summary_micro"] == "We chose Redis over Memcached."
    assert found["kind"] == "decision"


def test_a_long_sentence_is_cut_at_a_word() -> None:
    cases = [
        ("short", "short"), ("one two three four", "one two…"), ("abcdefghijklmnop", "abcdefghi…"),
        ("run the `make all` thing", "run the…"), ("some, words here", "some…"),
    ]  # fmt: skip
    assert [(text, expected) for text, expected in cases if clip(text, 10) != expected] == []


def test_settings_are_told_line_by_line() -> None:
    assert summaries("A_KEY=1\nB_KEY=2")[0] == "A_KEY=1; B_KEY=2"
    text = "services:\n  db:\n    image: postgres:16\n  cache:\n    image: redis:7\n"
    micro, short, _ = summaries(text, metadata={"source": "compose.yaml"})
    assert micro == "compose.yaml: sets services, db, image and cache."
    assert short == text.strip()
