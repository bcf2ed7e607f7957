from __future__ import annotations

import multiprocessing
from pathlib import Path

from memcli.store.key import VARIABLE, signer
from memcli.store.layout import Layout, make_root


def test_a_key_is_made_once_however_many_ask(tmp_path: Path) -> None:
    root = str(tmp_path / ".memory")
    make_root(root)
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        marks = pool.map(_mark, [root] * 8)
    assert len(set(marks)) == 1


def test_another_store_has_other_marks(tmp_path: Path) -> None:
    marks = set()
    for name in "ab":
        make_root(str(tmp_path / name / ".memory"))
        marks.add(_mark(str(tmp_path / name / ".memory")))
    assert len(marks) == 2


def _mark(root: str) -> str:
    return signer(Layout(root), {})(b"secret")


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
