"""The topic of a change: what its files, symbols and words say, within bounds."""

from __future__ import annotations

from memcli.code.change_topic import topic_of
from memcli.model.anchors import FileEdit


def test_the_topic_of_a_change_is_bounded_and_ends() -> None:
    assert topic_of([]) == ""
    huge = FileEdit("a/b/c.min.js", "", ((1, "x" * 5_000_000), (2, "word " * 1000)), symbols=("F" * 80,) * 20)
    many = [huge] * 50
    assert len(topic_of(many)) < 2_000
    assert topic_of(many) == topic_of(list(many))
    said = topic_of([FileEdit("src/auth/tokens.py", "", ((1, "return TokenError(HOUR)"),), symbols=("Token.refresh",))])
    assert said == "auth tokens token.refresh tokenError hour"
