"""`memcli link`: what is printed, and how the command ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import wrong
from tests.conftest import Run


@pytest.fixture
def store(run: Run) -> Run:
    """Memories in `main` and in another space."""
    for space, name in (("main", "a"), ("main", "b"), ("notes", "n")):
        assert run("remember", f"The text of {name}.", "--path", f"x/{name}", "-s", space).code == 0
    return run


def test_links_are_told_with_their_ends(store: Run) -> None:
    done = store("link", "x/a", "x/b", "--relation", "depends_on", "--json").json
    assert (done["status"], done["relation"], done["weight"], done["end"]["path"]) == (
        "linked", "depends_on", 1.0, "x/b",
    )  # fmt: skip
    assert store("link", "x/a", "x/b", "-r", "depends_on").out == "already linked: x/a depends_on x/b\n"
    assert store("link", "x/a", "notes:x/n").out == "linked: main:x/a relates_to notes:x/n\n"
    assert store("link", "x/a", "x/b", "--json", "--remove").json["relations"] == ["depends_on"]
    assert store("link", "x/a", "x/b", "--json", "--remove").json["status"] == "unchanged"
    assert store("link", "x/a", "x/b", "-r", "supersedes").code == 0
    assert "x/b" not in store("list").out


def test_bad_input_changes_nothing(store: Run, tmp_path: Path) -> None:
    before = (tmp_path / ".memory/spaces/main.json").read_bytes()
    table = [
        ("x/a x/a", 2, "cannot be linked to itself"), ("x/a x/none", 3, "no memory 'x/none'"),
        ("x/none x/a", 3, "no memory 'x/none'"), ("x/a x/b --relation likes", 2, "no relation 'likes'"),
        ("x/a x/b --weight 2", 2, "--weight must be between 0 and 1"), (["x/a", ""], 3, "no memory ''"),
        ("x/a mem_", 2, "matches"), ("x/a ../../etc:x", 3, "no memory"),
    ]  # fmt: skip
    assert wrong(store, table, "link") == ""
    assert (tmp_path / ".memory/spaces/main.json").read_bytes() == before


def test_fsck_finds_and_drops_what_leads_nowhere(store: Run, tmp_path: Path) -> None:
    assert store("link", "x/a", "notes:x/n").code == 0
    file = tmp_path / ".memory/spaces/main.json"
    text = file.read_text()
    n = store("get", "x/n", "-s", "notes", "--json").json["id"]
    file.write_text(text.replace(f"notes:{n}", "notes:mem_gone"))
    found = store("check", "store")
    assert (found.code, "links to notes:mem_gone" in found.out) == (6, True)
    assert store("check", "store", "--repair").code == 0
    assert "links" not in store("get", "x/a", "--json").json
    file.write_text(text.replace(f"notes:{n}", "elsewhere:mem_gone"))
    assert store("check", "store").code == 0  # no clone has every space
