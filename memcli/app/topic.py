"""The topic of a recall: redacted before it is used, without instructions where a bundle prints it, and the period that it names."""

from __future__ import annotations

from collections.abc import Callable

from memcli.model.recall import Query
from memcli.record import replace
from memcli.safety.injection import find_reasons

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.ingest.code import WorkTree
    from memcli.text.periods import Period

Redact = Callable[[str], str]

MAX_TOPIC = 2_000
MAX_READ = 20_000
NOT_REPEATED = "(not shown: it contains instructions)"
"""Printed instead of a topic that contains instructions to a model."""
_FILES = 3
_TIME_WORDS = frozenset(
    (
        "yesterday",
        "today",
        "last",
        "past",
        "previous",
        "this",
        "ago",
        "since",
        "until",
        "before",
        "after",
        "between",
        "as",
    )
)
"""Every topic that names a period contains one of these, or a number."""


def clean_query(query: Query, redact: Redact) -> Query:
    """The query for searching: its topic on one line, redacted and cut; the topic of `edits` is made from their lines."""
    topic = query.topic
    if query.edits is not None:
        from memcli.code.change_topic import topic_of

        topic = topic_of(query.edits, redact)
    return replace(query, topic=one_line(topic, redact), about=one_line(query.about, redact) if query.about else "")


def period_of(query: Query, load_code: Callable[[], WorkTree | None]) -> Period | None:
    """The period that the topic names, None without one. Versions and commits are looked up in the work tree, by running git."""
    words = query.topic.lower().replace("'s", " ").split()
    if query.edits is not None or not any(
        word.strip("?.,!:;") in _TIME_WORDS or (not word.isalpha() and any(c.isdigit() for c in word)) for word in words
    ):
        return None
    # A module of many patterns: it is imported only for a topic with a word that every period has.
    from memcli.text.periods import find_period

    def resolve(name: str) -> tuple[str, str] | None:
        code = load_code()
        return code.time_of(name) if code else None

    return find_period(query.topic, query.now, resolve)


def repeated(query: Query, redact: Redact) -> Query:
    """The query for printing in a bundle: redacted, a change as the names of its files, and without instructions."""
    topic = query.topic
    if query.edits is not None:
        files = list(dict.fromkeys(edit.file for edit in query.edits))
        named, more = ", ".join(files[:_FILES]), len(files) - _FILES
        others = f" and {more} more" if more > 0 else ""
        topic = f"a change of {named}{others}" if named else ""
    topic = one_line(topic, redact)
    kinds = tuple(redact(kind) for kind in query.kinds)
    return replace(
        query,
        topic=NOT_REPEATED if find_reasons(topic) else topic,
        kinds=() if find_reasons(" ".join(kinds)) else kinds,
    )


def one_line(text: str, redact: Redact) -> str:
    """`text` redacted, on one line, and cut to MAX_TOPIC characters."""
    # Redacted before it is cut, since no rule finds half a key; and again, since a key may have been split over two lines.
    clean = redact(beginning(text, MAX_READ))
    return beginning(redact(" ".join(clean.replace("\0", " ").split())), MAX_TOPIC)


def beginning(text: str, most: int) -> str:
    """The beginning of `text`, at most `most` characters, cut at a blank; without its last word, which may be cut."""
    if len(text) <= most:
        return text
    parts = text[:most].rsplit(None, 1)
    return parts[0] if parts else ""
