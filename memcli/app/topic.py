"""The topic of a recall: without secrets before anything is done with it, and harmless where an answer repeats it."""

from __future__ import annotations

from collections.abc import Callable

from memcli.model.recall import Query
from memcli.record import replace
from memcli.safety.injection import find_reasons

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.ingest.code import WorkTree

Redact = Callable[[str], str]

MAX_TOPIC = 2_000
MAX_READ = 20_000
NOT_REPEATED = "(not shown: it contains instructions)"
"""What stands in an answer for a topic that carries instructions."""
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
"""One of these, or a number, stands in every topic that names a period."""


def asked(query: Query, redact: Redact) -> Query:
    """`query` as a space is asked it: one line of bearable length, without what is secret in it."""
    topic = query.topic
    if query.edits is not None:
        from memcli.code.change_topic import topic_of

        topic = topic_of(query.edits, redact)
    return replace(query, topic=one_line(topic, redact), about=one_line(query.about, redact) if query.about else "")


def with_period(query: Query, load_code: Callable[[], WorkTree | None]) -> Query:
    """`query` with the period that its topic names, if it names one; versions and commits are those of the repository."""
    words = query.topic.lower().replace("'s", " ").split()
    if query.edits is not None or not any(
        word.strip("?.,!:;") in _TIME_WORDS or (not word.isalpha() and any(c.isdigit() for c in word)) for word in words
    ):
        return query
    from memcli.text.periods import find_period

    def resolve(name: str) -> tuple[str, str] | None:
        code = load_code()
        return code.time_of(name) if code else None

    return replace(query, period=find_period(query.topic, query.now, resolve))


def repeated(query: Query, redact: Redact) -> Query:
    """`query` as an answer repeats it: a change is named by its files, and instructions are left out."""
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
    """`text` on one line. Redacted before it is cut: half a key is none that a rule finds."""
    clean = redact(beginning(text, MAX_READ))
    return beginning(redact(" ".join(clean.replace("\0", " ").split())), MAX_TOPIC)


def beginning(text: str, most: int) -> str:
    """The whole words at the beginning of `text` that are at most so many characters; a longer word is cut."""
    if len(text) <= most:
        return text
    parts = text[:most].rsplit(None, 1)
    return parts[0] if parts else ""
