"""The redactor: what the patterns of a policy may take out of what is written, and of what is shown."""

from __future__ import annotations

from typing import Any

import pytest

from memcli.app.redact import Redactor
from memcli.app.workspace import Workspace
from memcli.model.space import Change, Policy
from memcli.policy.fields import tightened
from memcli.record import replace
from tests.conftest import Run, memory

FALCON = {"name": "falcon", "regex": "blue-[a-z]+"}
TEXT = "Deploy on blue-falcon."


def redactor(workspace: Workspace, told: list[str], *, is_accepted: bool, **policy: Any) -> Redactor:
    header = Policy(pii_redaction=policy)
    workspace.store.update("main", lambda shelf: Change(header=replace(shelf.header, policy=header)))
    return Redactor(
        workspace.store,
        lambda _: "0" * 8,
        lambda stored: stored if is_accepted else tightened(stored),
        told.append,
        is_accepted=lambda: is_accepted,
    )


@pytest.mark.parametrize("is_accepted", [True, False])
def test_patterns_of_a_clone_take_nothing_out_of_what_is_written(workspace: Workspace, is_accepted: bool) -> None:
    found = redactor(workspace, [], is_accepted=is_accepted, patterns=[FALCON])
    kept = "[REDACTED:falcon]" if is_accepted else "blue-falcon"
    written = f"Deploy on {kept}."
    assert found.take_in("main", {"raw": TEXT}).fields["raw"] == written
    stored, policy = memory(raw=TEXT), workspace.store.policy("main")
    assert found.rewrite([stored], policy)[0].raw == written
    assert found.show([stored], policy)[0].raw == "Deploy on [REDACTED:falcon]."


def test_a_stored_pattern_that_takes_most_of_a_note_is_ignored_with_one_warning(workspace: Workspace) -> None:
    told: list[str] = []
    found = redactor(workspace, told, is_accepted=True, patterns=[{"name": "every", "regex": "."}])
    for _ in range(2):
        assert found.take_in("main", {"raw": "A plain note."}).fields["raw"] == "A plain note."
        assert found.show([memory(raw="A plain note.")], workspace.store.policy("main"))[0].raw == "A plain note."
    assert told == ["the redaction pattern 'every' would take more than half of an ordinary note; it is ignored"]


def test_a_wrong_field_of_a_policy_stops_no_list_and_every_write(run: Run, workspace: Workspace) -> None:
    assert run("remember", "A plain note.", "--path", "a/b").code == 0
    file = f"{workspace.root}/spaces/main.json"
    with open(file, "r+", encoding="utf-8") as stored:
        text = stored.read().replace('"policy": {}', '"policy": {"ttl_days": "soon"}')
        stored.seek(0)
        stored.write(text)
    for command in (("list",), ("recall", "note"), ("list", "--tree")):
        done = run(*command)
        assert (done.code, "a/b" in done.out or "A plain" in done.out) == (0, True)
        assert done.err.count("policy: ttl_days must be a number, not text") == 1
    assert run("remember", "Another note.").code == 6
    assert run("space", "policy", "main", "--set", "ttl_days=30").code == 0
    assert run("remember", "Another note.").code == 0
