"""Assembles the window of a task from a system prompt, a session, recalled memories, and the context of a memory."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.app import session as sessions
from memcli.app.catalogue import find_in, reading
from memcli.app.recall import recall
from memcli.app.workspace import Workspace
from memcli.conversation.snapshot import by_words
from memcli.conversation.summary import Chunk, fold, skipped
from memcli.conversation.topic import compare
from memcli.errors import RefusedError, UsageError
from memcli.extras.window.allocation import (
    REPEATED,
    SYSTEM,
    UNTRUSTED,
    ContextWindow,
    Item,
    WindowLimits,
    allocate,
    insert,
    of_chunk,
    of_context,
    of_message,
    without,
)
from memcli.extras.window.rendering import layout, of_section
from memcli.model.conversation import ENDED, Message, Session
from memcli.model.memory import Memory
from memcli.model.recall import Bundle, Query
from memcli.record import Record, replace
from memcli.safety.injection import find_reasons
from memcli.safety.screening import inspect, is_accepted
from memcli.text.words import query_terms

# One memory is recalled for each such part of the window, so that small ones can fill it.
_TOKENS_OF_MEMORY = 100
"""The tokens of a small memory."""
_LEAST_RECALLED, _MOST_RECALLED = 20, 500
_ABOUT_MESSAGES, _ABOUT_CHARACTERS = 4, 400
"""The number of latest messages that influence the ranking of recalled memories, and the most characters of each."""
# A short follow-up names neither what it is about nor anything like it.
_FEW_WORDS = 3
"""A query of fewer words is recalled together with the query before it."""


class _Talk(Record):
    """The parts of a session that a window may show: summaries of chunks, and the recent messages; and the two latest messages
    of users. `session` is its id."""

    session: str = ""
    chunks: Sequence[Chunk] = ()
    recent: Sequence[Message] = ()
    queries: Sequence[Message] = ()


def assemble(
    workspace: Workspace,
    limits: WindowLimits,
    *,
    query: str = "",
    session: Session | None = None,
    system: str = "",
    inserted: str | None = None,
) -> tuple[ContextWindow, Bundle]:
    """The window of a task, and the bundle of its memories. The default `query` is the last message of a user. `inserted` names
    a memory whose context is inserted.

    Raises UsageError without any query, for a system prompt that exceeds the limits, and for a memory without context;
    NotFoundError, RefusedError, CorruptError, StoreError.
    """
    talk = _read(workspace, session) if session else _Talk()
    memory = _memory_to_insert(workspace, inserted) if inserted else None
    limit = min(_MOST_RECALLED, max(_LEAST_RECALLED, limits.total // _TOKENS_OF_MEMORY))
    # Memories of scope `session` are recalled in their own session alone, and until it ends.
    of_session = "" if session is None or session.state == ENDED else session.id
    topic, about = _query(query, talk)
    request = Query(topic=topic, about=about, now=workspace.clock(), limit=limit, session=of_session)
    (bundle,) = recall(workspace, [request])
    found = _memories(bundle, workspace.space)
    repeated = [item for item, one in found if _repeats(one, talk)]
    items = [
        *([Item(SYSTEM, "system", system, priority=1.0)] if system else []),
        *(item for item, _ in found if item not in repeated),
        *map(of_chunk, talk.chunks),
        *map(of_message, talk.recent),
    ]
    as_printed = layout(workspace.space)
    window = without(allocate(items, limits, as_printed), repeated, REPEATED, as_printed)
    if memory:
        pieces = of_context(memory.id, memory.context, talk.session)
        # Accepting a memory accepts its text; nobody has reviewed its context.
        bad = [piece for piece in pieces if find_reasons(piece.text)]
        similar = by_words(topic, [message.text for message in talk.recent])
        relevance = {message.number: value for message, value in zip(talk.recent, similar, strict=True)}
        window = insert(window, [piece for piece in pieces if piece not in bad], relevance, as_printed)
        window = without(window, bad, UNTRUSTED, as_printed)
    return window, bundle


def _read(workspace: Workspace, session: Session) -> _Talk:
    """The parts of a session that the window may show, without reading more of it. Raises CorruptError, StoreError."""
    policy = workspace.in_force(workspace.store.policy(session.space))
    size, most = policy.chunk_size, policy.max_chunks
    start = skipped(session.messages, policy.recent_messages, size, most)
    latest = sessions.tail(workspace, session, session.messages - start)
    before: list[Chunk] = []
    if start and latest:
        # A merged summary has the first sentence and the latest ones, so the first chunk stands for all skipped messages.
        before, _ = fold(list(sessions.messages(workspace, session, 1, size)), recent=0, size=size)
        before = [replace(chunk, turns=(1, latest[0].number - 1)) for chunk in before]
    chunks, recent = fold(latest, policy.recent_messages, size, most, before)
    users = [message for message in latest if message.role == "user" and message.text.strip()]
    return _Talk(session.id, chunks, recent, users[-2:])


def _query(query: str, talk: _Talk) -> tuple[str, str]:
    """The topic to recall, which is the query, after a short one with the query before it; and the text of the latest messages,
    which influences the ranking. Raises UsageError without any query."""
    earlier = list(talk.queries)
    topic = query or (earlier.pop().text if earlier else "")
    if not topic.strip():
        raise UsageError(
            "no query", 'give one: memcli session context "how do we deploy?", or a session in which a user asks'
        )
    if earlier and earlier[-1].text == topic:
        earlier.pop()
    latest = [message.text for message in reversed(talk.recent) if message.role != "tool" and message.text != topic]
    about = "\n".join(text[:_ABOUT_CHARACTERS] for text in latest[:_ABOUT_MESSAGES])
    if earlier and len(set(query_terms(topic))) < _FEW_WORDS and not compare(earlier[-1].text, topic).changed:
        topic = f"{topic} {earlier[-1].text}"
    return topic, about


def _memories(bundle: Bundle, space: str) -> list[tuple[Item, Memory]]:
    """The items of a bundle with their memories, pins first. Pins and leads have the highest priority."""
    found: dict[str, tuple[Item, Memory]] = {}
    for n, section in enumerate((*bundle.always, *bundle.sections)):
        item = of_section(section, space)
        if n < len(bundle.always) or section.is_lead:
            item = replace(item, priority=1.0)
        if item.id in found:  # memories of two spaces may have one id
            item = replace(item, id=f"{section.space}/{item.id}")
        found[item.id] = item, section.memory
    return list(found.values())


def _repeats(memory: Memory, talk: _Talk) -> bool:
    """Whether all messages of the session that the memory was made from are recent, so that the window has them already."""
    turns = memory.provenance.get("messages")
    return (
        bool(talk.recent)
        and memory.provenance.get("session") == talk.session
        and isinstance(turns, list | tuple)
        and all(isinstance(turn, int) and turn >= talk.recent[0].number for turn in turns)
        and bool(turns)
    )


def _memory_to_insert(workspace: Workspace, ref: str) -> Memory:
    """The redacted memory that `ref` names. Raises NotFoundError, UsageError for one without context, RefusedError for one with
    instructions that are not accepted."""
    with reading(workspace) as spaces:
        space, stored = find_in(spaces, ref)
        (memory,) = workspace.redactor.show([stored], space.policy)
    if not memory.context:
        raise UsageError(f"memory {memory.id} has no context", "`remember --context` stores one with a memory")
    finding = inspect(memory)
    if finding and not (workspace.trust.is_reviewed(space.name, memory.id) and is_accepted(memory, finding)):
        hint = f"review it; `memcli trust {memory.id}` accepts it"
        raise RefusedError(f"memory {memory.id} contains {', '.join(finding.reasons)} and is not inserted", hint)
    return memory
