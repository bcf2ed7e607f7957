"""The key that a team sets for all of its machines."""

from __future__ import annotations

from pathlib import Path

from memcli.store.key import VARIABLE, signer
from memcli.store.layout import Layout, make_root


def mark(root: Path, key: str) -> str:
    if not root.exists():
        make_root(str(root))
    return signer(Layout(str(root)), {VARIABLE: key})(b"secret")


def test_one_key_gives_the_same_marks_in_every_store(tmp_path: Path) -> None:
    here, there = (tmp_path / name / ".memory" for name in ("here", "there"))
    ours, theirs = "a key that a team has in common", "a key of somebody else"
    assert mark(here, ours) == mark(there, ours) == "961df4b9"
    assert mark(here, ours) != mark(here, theirs)
    assert not list(tmp_path.rglob("redaction.key"))
