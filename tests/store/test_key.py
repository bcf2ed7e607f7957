from __future__ import annotations

import multiprocessing
from pathlib import Path

from memcli.store.key import signer
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
