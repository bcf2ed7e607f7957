"""What counts as evidence that a memory answers: all that speaks for it, whatever stands beside it."""

from __future__ import annotations

from collections.abc import Mapping

from memcli.model.recall import Entry, Evidence, TermStats
from memcli.ranking.floor import judge, strongest
from tests.conftest import NOW

NO_LENGTHS = (0, 0, 0, 5, 0)


def entry(row: int = 0, kind: str = "fact", group: str = "", *, is_read: bool = False) -> Entry:
    return Entry(
        row, f"mem_{row}", "a", kind, (), "medium", False, NOW, NOW, 0.5, 1.0, group, "ann" if group else "", is_read=is_read
    )  # fmt: skip


def stats(
    frequencies: Mapping[str, int], rows: Mapping[int, Mapping[str, tuple[int, ...]]], size: int = 9
) -> TermStats:
    return TermStats(size, frequencies, rows, dict.fromkeys(rows, NO_LENGTHS))


def judged(cosine: float | None, *words: str, one: Entry | None = None, topic: str = "token lifetime") -> Evidence:
    known = stats({"token": 1, "lifetim": 1}, {0: dict.fromkeys(words, (0, 0, 0, 1, 0))})
    return judge(topic, known, {0: one or entry()}, {} if cosine is None else {0: cosine})[0]


def test_words_and_meaning_add_up() -> None:
    assert judged(0.5).is_enough
    assert judged(0.1, "token").is_enough
    assert judged(0.0, "token", "lifetim").is_enough
    assert not judged(0.1).is_enough
    assert not judged(0.0).is_enough


def test_a_word_counts_in_whichever_field_it_stands() -> None:
    for field in range(5):
        at = tuple(int(n == field) for n in range(5))
        known = stats({"token": 1, "lifetim": 1}, {0: {"token": at, "lifetim": at}})
        found = judge("token lifetime", known, {0: entry()}, {0: 0.0})[0]
        assert found == judged(0.0, "token", "lifetim"), field


def test_without_a_vector_words_alone_decide() -> None:
    assert judged(None, "token").is_enough
    assert judged(None, "token").cosine is None
    assert not judged(None).is_enough


def test_more_is_asked_of_talk_and_of_what_was_read() -> None:
    told, talk = entry(), entry(kind="log", group="session")
    floors = [judged(0.3, one=one).floor for one in (told, talk, entry(is_read=True))]
    assert floors == sorted(set(floors))


def test_what_was_read_and_has_all_words_answers_if_it_means_something_like_it() -> None:
    # With the measured floors all words fall just short: documents share the words of much that they do not answer.
    assert not judged(0.0, "token", "lifetim", one=entry(is_read=True)).is_enough
    assert judged(0.03, "token", "lifetim", one=entry(is_read=True)).is_enough
    assert judged(None, "token", "lifetim", one=entry(is_read=True)).is_enough


def test_more_is_asked_where_the_question_names_a_stranger() -> None:
    assert judged(0.35).is_enough
    assert not judged(0.35, topic="what did Zerlina say of the token lifetime").is_enough


def test_neither_how_many_memories_there_are_nor_what_they_are_changes_the_evidence_of_one() -> None:
    alone = judged(0.3, "token")
    others = {n: entry(n, kind, is_read=kind == "diff") for n, kind in enumerate(["diff", "guide"] * 500, 1)}
    known = stats({"token": 1, "lifetim": 1}, {0: {"token": (0, 0, 0, 1, 0)}}, size=1001)
    found = judge("token lifetime", known, {0: entry(), **others}, {0: 0.3, **dict.fromkeys(others, 0.05)})
    assert found[0] == strongest(found) == alone
