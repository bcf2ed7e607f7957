"""The topic of a change, as a query: words of its file names, its functions and classes, and of the changed lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain

from memcli.model.anchors import FileEdit
from memcli.regex import regex
from memcli.text.words import STOP_WORDS

_MAX_FILES = 6
_MAX_SYMBOLS = 8
# With twelve words, and without a preference for those that came or went, measurably fewer memories were found.
_MAX_WORDS = 20
_REACH = 100_000  # the most characters of added, and of removed lines that are read
_WORD = regex(r"[^\W\d]\w{2,39}")
_MARK = regex(r"\[REDACTED:\w+\]")
_SUFFIX = regex(r"\.\w{1,5}\Z")
_KEYWORDS = frozenset(
    """
    async await bool break case catch char class const continue def default del elif else enum except export extends
    extern false final finally float fn func function global impl import include instanceof int interface lambda let
    long match mut namespace new nil none null package pass print private protected pub public raise require return
    self static str string struct super switch throw true try type typedef typename undefined use using val var void
    with yield assert args kwargs list dict set tuple len object
    """.split()
)
_STOP_WORDS = _KEYWORDS | STOP_WORDS


def topic_of(edits: Sequence[FileEdit], redact: Callable[[str], str] = str) -> str:
    """The query for memories about a change: a bounded line of words, the same for the same change; empty for no words.

    `redact` removes secrets from the changed lines.
    """
    # The folder and the name of a file: `src/auth/tokens.py` is about auth and tokens.
    names = [_SUFFIX.sub("", part) for edit in edits[:_MAX_FILES] for part in edit.file.split("/")[-2:]]
    symbols = [symbol for edit in edits for symbol in edit.symbols]
    sides = ([edit.added for edit in edits], [edit.removed for edit in edits])
    counts = []
    for side in sides:
        lines, left = list[str](), _REACH
        for _, line in chain.from_iterable(side):
            text = line[:left]
            left -= len(text)
            if "\ufffd" not in text:  # a replacement character is the sign of a binary file
                lines.append(text)
            if left <= 0:
                break
        words = _WORD.findall(_MARK.sub(" ", redact("\n".join(lines))))
        counts.append(Counter(word for word in words if word.lower() not in _STOP_WORDS))
    came, went = counts
    # First words that were added or removed and not only moved, then the most frequent ones, ties in order.
    salient = sorted(came | went, key=lambda word: (came[word] == went[word], -came[word] - went[word]))
    chosen = [*names, *symbols[:_MAX_SYMBOLS], *salient[:_MAX_WORDS]]
    # Initial capitals become small, because a query takes a capitalized word for a name, and in code it is any class.
    return " ".join(dict.fromkeys(w.lower() if w.isupper() else w[:1].lower() + w[1:] for w in chosen))
