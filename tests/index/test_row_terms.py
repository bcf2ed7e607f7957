"""The terms of a row are found as by splitting its fields, and what is kept changes no answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.app.workspace import Workspace, opened
from memcli.index.words import RowTerms, Terms, read_terms
from memcli.model.recall import FIELDS
from tests.conftest import NOW, memory, rewrite

WORDS = ("a", "aa", "a.a", "b", "a-b", "ab")
FIELD = st.lists(st.sampled_from(WORDS), max_size=8)
ROW = st.lists(FIELD, min_size=len(FIELDS), max_size=len(FIELDS))


def made(row: list[list[str]]) -> Terms:
    return read_terms([" ".join(field) for field in row])


@given(ROW)
def test_a_term_is_counted_as_by_splitting(row: list[list[str]]) -> None:
    terms = made(row)
    assert terms.lengths == tuple(map(len, row))
    for word in WORDS:
        assert terms.by_field(word) == tuple(field.count(word) for field in row)


@given(ROW)
def test_a_term_is_at_its_place_in_the_field(row: list[list[str]]) -> None:
    terms = made(row)
    for n, field in enumerate(row):
        for word in WORDS:
            assert terms.ordinals(word, n) == [place for place, one in enumerate(field) if one == word]


def test_what_does_not_fit_is_read_again(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"# Part {n}\n\nThe zebra saw {n} tapirs." for n in range(9)]
    rewrite(workspace.store, lambda space: space.put([memory(f"m{n}", raw=t) for n, t in enumerate(texts)], NOW))
    with opened(workspace) as (_, view):
        rows = sorted(view.entries())
        before = view.lexical(["zebra", "tapir"], 20), view.passages(["zebra"], rows)
    monkeypatch.setattr("memcli.index.words._MOST_CACHED", 200)
    with opened(workspace) as (_, view):
        for _ in range(2):
            assert (view.lexical(["zebra", "tapir"], 20), view.passages(["zebra"], rows)) == before


def test_no_more_is_kept_than_fits(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.index.words._MOST_CACHED", 200)
    rewrite(workspace.store, lambda space: space.put([memory(f"m{n}", raw=f"Zebra {n}.") for n in range(99)], NOW))
    with opened(workspace) as (_, view):
        rows = sorted(view.entries())
        kept = RowTerms(view._tables)  # type: ignore[attr-defined]
        for row in rows:
            kept.passages(kept.terms([row]))
        assert 0 < sum(len(one.text) for one in kept._terms.values()) <= 200
        assert kept._passages.keys() <= kept._terms.keys()
