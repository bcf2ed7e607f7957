"""What of a prompt is searched for: nothing where it asks for nothing, the errors of a log, what stands around code."""

from __future__ import annotations

from memcli.extras.agents.inject import wanted_of

LOG = """why does the nightly import die?

2026-03-01 02:00:01 INFO starting
2026-03-01 02:00:02 INFO read 4000 rows
2026-03-01 02:00:03 INFO read 8000 rows
2026-03-01 02:00:04 ERROR disk quota exceeded on /srv/import
2026-03-01 02:00:05 INFO stopping"""


def test_what_asks_for_nothing_is_not_searched_for() -> None:
    table = (
        "", "   ", "why?", "thanks!", "ok great, cheers", "go on", "undo that please", "commit it", "yes, the second one", "no, wait",
        "make it shorter", "shorter. and without the table, this is for a slide", "the last one then", "```\nx = 1\n```",
        "rename total to amount in this function", "please sort the imports", "add a trailing comma there",
        "is the loop that you changed still right?", "keep it like before",
    )  # fmt: skip
    assert [prompt for prompt in table if wanted_of(prompt)] == []


def test_what_may_be_answered_is_searched_for_as_it_stands() -> None:
    table = (
        "deploy?", "token lifetime?", "which database do we use?", "Now how do we cut a release?",
        "why did we drop Redis for the queue?", "bump the toolchain of the build image", "rename total in src/cart.py",
        "add a retry to the payment client and log what it does",
    )  # fmt: skip
    assert [prompt for prompt in table if wanted_of(prompt) != prompt] == []
    assert wanted_of("Perfect, thank you!\nNow how do we cut a release?") == "Now how do we cut a release?"


def test_of_a_log_the_question_and_the_errors_are_left() -> None:
    found = wanted_of(LOG).splitlines()
    assert found[0] == "why does the nightly import die?"
    assert [line for line in found[1:] if "ERROR" not in line] == []
    assert "disk quota exceeded" in found[-1]


def test_code_and_markup_are_not_searched_for() -> None:
    found = wanted_of(
        'how do we style buttons?\n```html\n<a class="zebra">quokka</a>\n```\n<img alt="walrus"> <!-- lynx -->'
    )
    assert "how do we style buttons?" in found
    assert not any(word in found for word in ("zebra", "quokka", "walrus", "lynx"))
