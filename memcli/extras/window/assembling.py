"""The window of a task, made of a system prompt, a session, what is recalled, and what a memory keeps of a context."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memcli.app import session as sessions
from memcli.app.catalogue import find_in, reading_asked
from memcli.app.recall import recall
from memcli.app.workspace import Workspace
from memcli.conversation.snapshot import by_words
from memcli.conversation.summary import Chunk, fold, skipped
from memcli.conversation.topic import compare
from memcli.errors import RefusedError, UsageError
from memcli.extras.window.allocation import (
    REPEATED,
    UNTRUSTED,
    ContextWindow,
    Item,
    WindowLayout,
    WindowLimits,
    allocate,
    insert,
    of_chunk,
    of_context,
    of_message,
    of_system,
    without,
)
from memcli.model.conversation import ENDED, Message, Session
from memcli.model.memory import Memory
from memcli.model.recall import Bundle, Query, Section
from memcli.record import Record, replace
from memcli.safety.injection import find_reasons, inspect, is_accepted
from memcli.text.words import query_terms

_TOKENS_OF_MEMORY = 100
"""Few memories take less: so many are recalled that they can fill the window."""
_LEAST_RECALLED, _MOST_RECALLED = 20, 500
_ABOUT_MESSAGES, _ABOUT_CHARACTERS = 4, 400
"""How many of the latest messages lean the order of what is recalled, and how much of each."""
_FEW_WORDS = 3
"""A query of fewer words may only be understood by the one before it."""


class WindowRequest(Record, kw_only=True):
    """What a window is asked for. Without a `query`, the last message of a user is one; `inserted` names a memory."""

    query: str = ""
    session: Session | None = None
    system: str = ""
    limits: WindowLimits
    inserted: str | None = None


class Assembled(Record):
    """The window, and the bundle that its memories are from, which has the query."""

    window: ContextWindow
    bundle: Bundle


class _Talk(Record):
    """What is known of a session: chunks, the recent messages, and the latest that users said."""

    session: str = ""
    chunks: Sequence[Chunk] = ()
    recent: Sequence[Message] = ()
    asked: Sequence[Message] = ()


def assemble(
    workspace: Workspace, asked: WindowRequest, layout: WindowLayout, of_section: Callable[[Section], Item]
) -> Assembled:
    """The window of a task. `layout` and `of_section` say what is printed.

    Raises UsageError without a query, for limits that the system prompt exceeds, and for a memory without context;
    NotFoundError, RefusedError, CorruptError, StoreError.
    """
    talk = _read(workspace, asked.session) if asked.session else _Talk()
    inserted = _memory_to_insert(workspace, asked.inserted) if asked.inserted else None
    query = _query(asked, talk, workspace.clock())
    (bundle,) = recall(workspace, [query])
    found = _memories(bundle, of_section)
    repeated = [item for item, memory in found if _repeats(memory, talk)]
    items = [
        *([of_system(asked.system)] if asked.system else []),
        *(item for item, _ in found if item not in repeated),
        *map(of_chunk, talk.chunks),
        *map(of_message, talk.recent),
    ]
    window = allocate(items, asked.limits, layout)
    window = without(window, repeated, REPEATED, layout)
    if inserted:
        window = _with_context(window, inserted, talk, query.topic, layout)
    return Assembled(window, bundle)


def _read(workspace: Workspace, session: Session) -> _Talk:
    """Reads no more of a long session than the window may show."""
    policy = workspace.in_force(workspace.store.policy(session.space))
    size, most = policy.chunk_size, policy.max_chunks
    start = skipped(session.messages, policy.recent_messages, size, most)
    said = sessions.tail(workspace, session, session.messages - start)
    before: list[Chunk] = []
    if start and said:
        before, _ = fold(list(sessions.messages(workspace, session, 1, size)), recent=0, size=size)
        before = [replace(chunk, turns=(1, said[0].number - 1)) for chunk in before]
    chunks, recent = fold(said, policy.recent_messages, size, most, before)
    users = [message for message in said if message.role == "user" and message.text.strip()]
    return _Talk(session.id, chunks, recent, users[-2:])


def _query(asked: WindowRequest, talk: _Talk, now: str) -> Query:
    """What to recall: the query, with the one before it where it cannot be understood alone; the latest messages lean the
    order. Raises UsageError."""
    earlier = list(talk.asked)
    topic = asked.query or (earlier.pop().text if earlier else "")
    if not topic.strip():
        raise UsageError(
            "no query", 'give one: memcli session context "how do we deploy?", or a session in which a user asks'
        )
    if earlier and earlier[-1].text == topic:
        earlier.pop()
    said = [message.text for message in reversed(talk.recent) if message.role != "tool" and message.text != topic]
    about = "\n".join(text[:_ABOUT_CHARACTERS] for text in said[:_ABOUT_MESSAGES])
    if earlier and _is_follow_up(earlier[-1].text, topic):
        topic = f"{topic} {earlier[-1].text}"
    limit = min(_MOST_RECALLED, max(_LEAST_RECALLED, asked.limits.total // _TOKENS_OF_MEMORY))
    session = "" if asked.session is None or asked.session.state == ENDED else asked.session.id
    return Query(topic=topic, about=about, now=now, limit=limit, session=session)


def _is_follow_up(previous: str, current: str) -> bool:
    return len(set(query_terms(current))) < _FEW_WORDS and not compare(previous, current).changed


def _memories(bundle: Bundle, of_section: Callable[[Section], Item]) -> list[tuple[Item, Memory]]:
    """What was recalled, pins first. These and leads come first whatever their score; of memories of several spaces that
    have the same id, those behind the first are named with their space."""
    found: dict[str, tuple[Item, Memory]] = {}
    for n, section in enumerate((*bundle.always, *bundle.sections)):
        item = of_section(section)
        if n < len(bundle.always) or section.is_lead:
            item = replace(item, priority=1.0)
        if item.id in found:
            item = replace(item, id=f"{section.space}/{item.id}")
        found[item.id] = item, section.memory
    return list(found.values())


def _repeats(memory: Memory, talk: _Talk) -> bool:
    """Whether the memory was made from messages of the session that are all recent, and so in the window themselves."""
    turns = memory.provenance.get("messages")
    return (
        bool(talk.recent)
        and memory.provenance.get("session") == talk.session
        and isinstance(turns, list | tuple)
        and all(isinstance(turn, int) and turn >= talk.recent[0].number for turn in turns)
        and bool(turns)
    )


def _memory_to_insert(workspace: Workspace, ref: str) -> Memory:
    """The memory whose context is wanted. Raises NotFoundError, UsageError; RefusedError for one that is not recalled."""
    with reading_asked(workspace) as spaces:
        space, stored = find_in(spaces, ref)
        (memory,) = workspace.redactor.show([stored], space.policy)
    if not memory.context:
        raise UsageError(f"memory {memory.id} has no context", "`remember --context` stores one with a memory")
    finding = inspect(memory)
    if finding and not (workspace.trust.is_reviewed(space.name, memory.id) and is_accepted(memory, finding)):
        hint = f"review it; `memcli trust {memory.id}` accepts it"
        raise RefusedError(f"memory {memory.id} contains {', '.join(finding.reasons)} and is not inserted", hint)
    return memory


def _with_context(
    window: ContextWindow, memory: Memory, talk: _Talk, topic: str, layout: WindowLayout
) -> ContextWindow:
    """The window with what the memory keeps of its context, without what contains instructions: nobody has reviewed that."""
    pieces = of_context(memory.id, memory.context, talk.session)
    bad = [piece for piece in pieces if find_reasons(piece.text)]
    similar = by_words(topic, [message.text for message in talk.recent])
    relevance = {message.number: value for message, value in zip(talk.recent, similar, strict=True)}
    window = insert(window, [piece for piece in pieces if piece not in bad], relevance, layout)
    return without(window, bad, UNTRUSTED, layout)
