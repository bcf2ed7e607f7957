"""What a session yields belongs to the space that it was held in: only who names that space finds it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Run

READERS = (
    ("recall", "which payments?"),
    ("recall", "payments"),
    ("session", "context", "which payments do we use?"),
    ("list",),
    ("list", "--tree"),
    ("list", "--kind", "decision", "--json"),
)


def held(run: Run, space: str, word: str) -> str:
    """A session in the space, ended; what it yields names the word."""
    name = run("session", "start", "-s", space).out.strip()
    run("session", "add", name, f"We decided to use {word} for payments because cards are slow.", "-s", space)
    result = run("session", "end", name, "-s", space)
    assert result.code == 0, result.err
    return name


def decision(run: Run, space: str) -> str:
    return str(run("list", "-s", space, "--kind", "decision", "--json").json[0]["id"])


@pytest.mark.parametrize("reader", READERS, ids=lambda one: "-".join(one[:2]))
def test_a_space_finds_what_its_own_sessions_yielded(run: Run, reader: tuple[str, ...]) -> None:
    for space, word in (("main", "Mollie"), ("shop", "Shopify"), ("bank", "Bankit")):
        held(run, space, word)
    found = {
        name: run(*reader, *option).out
        for name, option in (("", ()), ("shop", ("-s", "shop")), ("bank", ("-s", "bank")))
    }
    words = {
        name: {word for word in ("Mollie", "Shopify", "Bankit") if word.lower() in out.lower()}
        for name, out in found.items()
    }
    assert words == {"": {"Mollie"}, "shop": {"Shopify"}, "bank": {"Bankit"}}


def test_the_space_of_the_configuration_is_asked_with_its_own_journal(run: Run) -> None:
    run("init")
    Path(".memory/config.toml").write_text('space = "shop"\n')
    name = run("session", "start").out.strip()
    run("session", "add", name, "We decided to use Shopify for payments because cards are slow.")
    run("session", "end", name)
    assert "Shopify" in run("recall", "which payments?").out
    assert "Shopify" not in run("recall", "which payments?", "-s", "main").out


def test_all_spaces_leave_out_private_ones(run: Run) -> None:
    run("remember", "Payments are settled daily.")
    held(run, "shop", "Shopify")
    assert "Shopify" not in run("recall", "which payments?", "--all-spaces").out


def test_nothing_of_it_is_tracked_until_it_is_promoted(run: Run) -> None:
    Path(".git").rmdir()
    subprocess.run(["git", "init", "-q"], check=True)
    held(run, "shop", "Shopify")

    def staged() -> str:
        subprocess.run(["git", "add", "-A"], check=True)
        return subprocess.run(["git", "diff", "--cached"], check=True, capture_output=True, text=True).stdout

    assert "shop" not in staged().lower()
    assert run("inbox", "accept", "--all", "-s", "shop").code == 0
    assert "Shopify" in staged()
    assert "Shopify" in json.loads(Path(".memory/spaces/shop.json").read_text())["objects"][0]["raw"]
    assert not Path(".memory/spaces/main.json").exists()


def test_its_memories_are_changed_where_they_are(run: Run) -> None:
    held(run, "shop", "Shopify")
    name = decision(run, "shop")
    for command in (("edit", name, "--tag", "later"), ("pin", name), ("edit", name, "--set", "importance=0.9")):
        assert run(*command, "-s", "shop").code == 0
        assert run(*command).code == 3
    memory = run("get", name, "-s", "shop", "--json").json
    assert ("later" in memory["tags"], memory["pinned"], memory["importance"]) == (True, True, 0.9)
    assert run("forget", name, "-s", "shop").code == 0
    assert "Shopify" not in run("list", "--kind", "decision", "-s", "shop").out
    assert not Path(".memory/spaces/shop.json").exists()


def test_a_purge_leaves_no_byte_and_a_trashed_one_comes_back(run: Run) -> None:
    held(run, "shop", "Shopify")
    name = decision(run, "shop")
    assert run("forget", name, "--purge", "--yes", "-s", "shop").code == 0
    assert run("restore", name, "-s", "shop").code == 0
    assert decision(run, "shop") == name
    assert run("forget", name, "--purge", "--yes", "-s", "shop").code == 0
    assert run("forget", name, "--purge", "--now", "--yes", "-s", "shop").code == 0
    assert run("restore", name, "-s", "shop").code == 3


def test_deleting_the_session_takes_all_that_it_yielded(run: Run) -> None:
    other = held(run, "main", "Mollie")
    name = held(run, "shop", "Shopify")
    run("inbox", "accept", "--all", "-s", "shop")
    assert run("session", "delete", name, "-s", "shop", "--yes").code == 0
    assert run("list", "-s", "shop").out.strip() == ""
    assert "Mollie" in run("list").out
    assert run("session", "show", other).code == 0


def test_the_space_is_deleted_with_its_journal(run: Run) -> None:
    held(run, "shop", "Shopify")
    assert run("space", "delete", "shop").code == 5
    assert "Shopify" in run("list", "-s", "shop").out
    run("space", "policy", "shop", "--set", "allow_delete=true")
    assert run("space", "delete", "shop").code == 0
    assert "shop" not in run("space", "list").out
    assert run("space", "delete", "shop").code == 3


@pytest.mark.parametrize(
    "name", ["a@b", "@shop", "journal@", "journal@main", "journal@repo", "journal@journal", "journal@a@b"]
)
def test_no_other_space_can_have_its_name(run: Run, name: str) -> None:
    assert run("remember", "Hello there.", "-s", name).code == 2
    assert run("space", "create", name).code == 2


def test_it_can_be_named_and_is_private_from_the_beginning(run: Run) -> None:
    assert run("space", "create", "journal@shop").code == 0
    assert run("space", "show", "journal@shop", "--json").json["policy"] == {"visibility": "private"}
    held(run, "shop", "Shopify")
    for command in (("status", "--stats", "-s", "shop"), ("space", "list"), ("doctor",)):
        assert "journal@shop" in run(*command).out
    assert run("export", "-s", "journal@shop", "--out", "x.json").code == 5
    for command in (
        ("check", "store"),
        ("gc", "journal@shop"),
        ("store", "audit", "-s", "journal@shop"),
        ("store", "maintain", "-s", "shop"),
    ):
        assert run(*command).code == 0
    assert run("space", "policy", "journal@shop", "--set", "ttl_days=1", "--set", "allow_delete=true").code == 0
    assert run("gc", "journal@shop", "--freeze-clock", "2026-03-31T09:30:00Z").code == 0
    assert "Shopify" not in run("list", "-s", "shop").out


def test_what_was_said_stays_in_its_space(run: Run) -> None:
    held(run, "main", "Mollie")
    held(run, "shop", "Shopify")
    found = run("recall", "which payments?", "--scope", "session", "-s", "shop").out
    assert "Shopify" in found
    assert "Mollie" not in found
    assert "Shopify" not in run("recall", "which payments?", "--scope", "session").out
