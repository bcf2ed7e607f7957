from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memcli.text.passages import CHUNK_CHARACTERS, split
from memcli.text.words import (
    _CHAIN,
    _PLAIN_CHAIN,
    exact_terms,
    query_terms,
    simple_terms,
    terms,
    without_absent,
    without_terms,
)


def test_a_text_falls_into_terms() -> None:
    table: dict[str, list[str]] = {
        "The databases were chosen by us": ["databas", "chosen", "us"],
        "loadSSLContext": ["loadsslcontext", "load", "ssl", "context"],
        "verify_locations": ["verify_loc", "verifi", "locat"],
        "exclude-newer since 0.28.1": ["exclud", "newer", "exclude-newer", "sinc", "0", "28", "1", "0.28.1"],
        "see setup.cfg.": ["see", "setup", "cfg", "setup.cfg"],
        "End.": ["end"],
        "a-very-long-chain-of-words": ["long", "chain", "word"],
        "Überraschung база данных": ["uberraschung", "база", "данных"],
        "pass --short=3": ["pass", "short", "--short", "3"],
        "--all": ["--all"],
        "数据库使用PostgreSQL。": ["数据", "据库", "库使", "使用", "postgresql", "postgr", "sql"],
        "ログは・字": ["ログ", "字"],
        "한국어 base": ["한국", "국어", "base"],
        "Maria's car": ["maria", "car"],
        "Don't say they'll, we've or it isn’t": ["say"],
    }
    assert {text: terms(text) for text in table} == table
    assert {"httpx", "client", "py"} <= set(terms("httpx/_client.py"))
    assert "--short" not in terms("a -- short, b--short, --- short, ---short")
    assert len(terms("数" * 500)) == 499
    assert query_terms("token tokens TOKEN") == ["token"]


def test_names_are_told_from_language() -> None:
    asked = "Why does loadJSON in a_b.py fail with --min-score since 8.1, HTTP aside?"
    assert exact_terms(asked) == ["loadjson", "a_b.py", "min-score", "8.1"]
    assert exact_terms("what do --short and --no-verify do") == ["--short", "no-verify"]
    absent = {"min-score": 0, "min": 1, "score": 1, "8.1": 0}
    assert without_absent(absent) == {"min": 1, "score": 1, "8.1": 0}, "a version is more than its numbers"
    assert simple_terms("min-score 8.1") == ["min", "score", "8", "1"]


def test_common_words_leave_a_question() -> None:
    assert without_terms("What did Maria donate?", frozenset(["maria"])) == "What did donate?"
    assert without_terms("Maria", frozenset(["maria"])) == "Maria"


@given(st.text() | st.text("ab1_.-'’ é"))
def test_no_text_breaks_the_analysis(text: str) -> None:
    assert all(term and " " not in term for term in terms(text))
    assert "--" in text or _PLAIN_CHAIN.findall(text) == _CHAIN.findall(text)


@given(st.text(max_size=3000), st.integers(20, 400))
def test_chunks_hold_the_text(text: str, size: int) -> None:
    pieces = split(text, size)
    assert all(0 < len(piece) <= size for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


def test_chunks_end_where_paragraphs_end() -> None:
    first, second = "a" * 500, "b" * 500
    assert split(f"{first}\n\n{second}", CHUNK_CHARACTERS) == [first, second]
