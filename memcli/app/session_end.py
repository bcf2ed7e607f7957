"""The end of a session: stores a summary, episodes and facts in the journal of its space, and proposes the surest facts for the
space itself.

A mark beside the session records that its end has begun, so that the next command finishes an end that a crash or a full disk
interrupted. When a session is continued and ends again, memories that somebody removed, forgot, rejected or rewrote since are
not made again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

from memcli.app import session as sessions
from memcli.app.candidate import Candidate
from memcli.app.check import check
from memcli.app.inbox import propose, rejected, waiting, withdraw
from memcli.app.remember import Outcome, prepare, remember
from memcli.app.session import made_from
from memcli.app.workspace import Workspace, load_space
from memcli.conversation import episodes
from memcli.conversation.episodes import Arc, arc
from memcli.conversation.facts import Fact, extract
from memcli.conversation.summary import of_session
from memcli.errors import CorruptError, LockedError, NotFoundError, RefusedError, UsageError
from memcli.model.conversation import ENDED, Message, Session
from memcli.model.findings import Resolution
from memcli.model.links import removal
from memcli.model.memory import Json, Memory
from memcli.model.names import short_digest, slug
from memcli.record import Record, field, replace
from memcli.safety.injection import find_reasons
from memcli.settings import journal_of
from memcli.summarize.paths import short_slug
from memcli.summarize.summaries import clip

Results = Mapping[str, int]
"""What earlier ends of a session made: the version of each memory by a digest of its text, and 0 by one of its path."""
# A text or path that somebody purges later must not stay here: the digest is enough to recognize it.
_LENGTH = 32
"""The number of hex digits of these digests."""


def store_results(
    over: Workspace, session: Session, candidates: Sequence[Candidate], earlier: Results, *, is_checked: bool = False
) -> tuple[list[Outcome | None], int]:
    """Stores the candidates that no earlier end of the session has made. Returns the outcome of each, None where its memory was
    removed since; and the number of memories that were deleted to make room."""
    objects = load_space(over.store, over.space).objects
    own = made_from(objects, session)
    forgotten = {memory.hash: memory for memory in objects if not memory.active}
    by_hash = forgotten | {memory.hash: memory for memory in own}
    by_path = {memory.path: memory for memory in own}

    def standing(candidate: Candidate) -> Memory | None:
        """The existing memory with the text of the candidate, or the one at its path that somebody has edited."""
        there = by_path.get(candidate.given.get("path", ""))
        is_edited = there is not None and _text(over, there.hash) not in earlier and there.version > 1
        return by_hash.get(candidate.hash) or (there if is_edited else None)

    found = [standing(candidate) for candidate in candidates]
    is_new = []
    for there, candidate in zip(found, candidates, strict=True):
        path = candidate.given.get("path")
        is_removed = path is not None and path not in by_path and _path(over, path) in earlier
        is_new.append(there is None and not is_removed and _text(over, candidate.hash) not in earlier)
    new = [candidate for candidate, wanted in zip(candidates, is_new, strict=True) if wanted]
    stored = remember(over, new, resolution=Resolution(check(over, new)) if is_checked and new else None)
    made = iter(stored.outcomes)
    outcomes: list[Outcome | None] = []
    for there, wanted in zip(found, is_new, strict=True):
        if wanted:
            outcomes.append(next(made))
        elif there is not None:
            outcomes.append(Outcome("deduplicated", there.id, there.path, over.space, there.version))
        else:
            outcomes.append(None)
    return outcomes, stored.compacted


def offer_facts(
    over: Workspace, session: Session, candidates: Sequence[Candidate], earlier: Results, *, at_once: bool
) -> list[Outcome]:
    """Stores facts in the space of the session `at_once`, or proposes them, without those that were offered or rejected before.
    Proposals of an earlier end that are no longer among the candidates are withdrawn."""
    hashes = {candidate.hash for candidate in candidates}
    own = made_from(waiting(over), session)
    withdraw(over, [memory for memory in own if memory.hash not in hashes and _text(over, memory.hash) in earlier])
    new = [candidate for candidate in candidates if _text(over, candidate.hash) not in earlier]
    if not at_once:
        return propose(over, new)
    refused = rejected(over)
    outcomes, _ = store_results(
        over, session, [candidate for candidate in new if candidate.hash not in refused], earlier, is_checked=True
    )
    return [outcome for outcome in outcomes if outcome is not None]


def drop_stale(over: Workspace, session: Session, current: set[str], earlier: Results) -> set[str]:
    """Deletes the memories that earlier ends of a session made and this end did not: `current` are the ids of those it made.
    Returns their digests, which no longer belong to the results."""
    old = [
        memory
        for memory in _stored(over, session)
        if memory.id not in current
        and memory.version == earlier.get(_text(over, memory.hash), 1)  # nobody has edited it
        and not memory.pinned
    ]
    if old:
        names, now = {memory.id for memory in old}, over.clock()
        over.store.update(over.space, lambda shelf: removal(shelf, names, now))
    return {mark for memory in old for mark in (_text(over, memory.hash), _path(over, memory.path))}


def results_of(over: Workspace, session: Session, candidates: Sequence[Candidate]) -> Results:
    """The results of an end that made these candidates."""
    versions = {memory.hash: memory.version for memory in _stored(over, session)}
    texts = {_text(over, candidate.hash): versions.get(candidate.hash, 0) for candidate in candidates}
    paths = {_path(over, path): 0 for candidate in candidates if (path := candidate.given.get("path"))}
    return {**texts, **paths}


def _stored(over: Workspace, session: Session) -> list[Memory]:
    """The memories of the space that were made at an end of the session."""
    return [one for one in made_from(load_space(over.store, over.space).objects, session) if not one.session]


def _text(over: Workspace, digest: str) -> str:
    return f"{over.space}:{short_digest(digest, _LENGTH)}"


def _path(over: Workspace, path: str) -> str:
    return f"{over.space}/{short_digest(path, _LENGTH)}"


_FOLDER = "sessions"
_TITLE = 80
"""The maximum length, in characters, of a title that is made of a message."""


class Ended(Record):
    """The memories that the end of a session made: a log, episodes and facts in the journal, and the `promoted` facts in the
    space of the session, or proposed in its inbox. `compacted` memories were deleted to make room."""

    session: Session
    log: Sequence[Outcome] = ()
    episodes: Sequence[Outcome] = ()
    facts: Sequence[Outcome] = ()
    promoted: Sequence[Outcome] = field(default_factory=list)
    compacted: int = 0
    model: str = ""
    """The language model that summed the session up, empty for the local layer."""

    def to_json(self) -> dict[str, Json]:
        parts = ("log", "episodes", "facts", "promoted")
        outcomes = {name: [outcome.to_json() for outcome in getattr(self, name)] for name in parts}
        by = {"model": self.model} if self.model else {}
        return {"id": self.session.id, "outcome": self.session.outcome, **outcomes, "compacted": self.compacted, **by}


def end(workspace: Workspace, session: Session, outcome: str = "", *, asks: bool = False) -> Ended:
    """Ends the session, and stores its summary, episodes and facts: with `asks`, those of a language model, or of the local
    layer if that fails.

    Raises UsageError when no model is configured, NotFoundError, LockedError, CorruptError, StoreError.
    """
    # Before the state changes and a lock is taken: an interrupt of a slow model changes nothing, and no command waits for it.
    found = (
        workspace.advice("session").by_model(workspace, session.title, _trusted(workspace, session)) if asks else None
    )
    with workspace.sessions.finishing(session.space):
        workspace.sessions.mark(session.space, "ending", session.id)
        ended, _ = sessions.change_state(workspace, session.id, ENDED, outcome)
        return _finish(workspace, ended, partial(_unless_changed, workspace, found))


def finish_all(workspace: Workspace) -> list[Ended]:
    """Finishes the ends of sessions that were interrupted, unless another process does it. Raises StoreError."""
    done: list[Ended] = []
    with suppress(LockedError), workspace.sessions.finishing(workspace.space, wait=False):
        for name in workspace.sessions.marked(workspace.space, "ending"):
            try:
                session = workspace.sessions.open(workspace.space, name)
                if session.state == ENDED:
                    done.append(
                        _finish(
                            workspace, session, partial(workspace.advice("session").already, workspace, session.title)
                        )
                    )
                else:  # killed before it was ended, or resumed since
                    workspace.sessions.unmark_ending(workspace.space, name)
            except NotFoundError:  # deleted since
                workspace.sessions.unmark_ending(workspace.space, name)
            # One session that cannot be read, or stored, must not hold up the ends of the others.
            except (CorruptError, RefusedError) as error:
                workspace.warn(f"what session {name} yields is not kept yet: {error.message}")
    return done


def read_facts(workspace: Workspace, session: Session, *, asks: bool = False) -> list[tuple[str, Fact]]:
    """The facts of a session, each with the name that `promote` takes: `ses_...#MESSAGE.N`; with `asks`, those that a language
    model finds, or the local layer if that fails. Raises UsageError when no model is configured.
    """
    return list(_named(session, _read(workspace, session, asks=asks, may_fall_back=True).facts))


def read_arc(workspace: Workspace, session: Session) -> Arc:
    """The episodes of a session, by thirds of its messages, and its key moments. Raises CorruptError."""
    messages = _trusted(workspace, session)
    policy = workspace.in_force(workspace.store.policy(session.space))
    return arc(episodes.find(messages, policy.max_episodes), len(messages))


def promote(workspace: Workspace, names: Sequence[str], *, asks: bool = False) -> list[Outcome]:
    """Stores facts of sessions, by their names; with `asks`, of those that a language model finds. A failing model is an error:
    in the facts of the local layer, the names would mean other facts.

    Raises UsageError, NotFoundError, ProviderError, and what `remember` raises.
    """
    chosen = []
    read: dict[str, Yield] = {}
    for name in names:
        ref, mark, _ = name.partition("#")
        if not mark:
            raise UsageError(f"not a fact: {name!r}", "use the name that `memcli session facts` prints")
        session = sessions.find(workspace, ref)
        if session.id not in read:
            read[session.id] = _read(workspace, session, asks=asks, may_fall_back=False)
        found, number = read[session.id], name.partition("#")[2]
        fact = dict(_named(session, found.facts)).get(f"{session.id}#{number}")
        if fact is None:
            raise NotFoundError(f"no fact {name!r}", f"`memcli session facts {session.id}` lists the facts")
        chosen.append(_of_fact(session, fact, found.messages))
    candidates = [prepare(workspace, fields) for fields in chosen]
    resolution = Resolution(check(workspace, candidates))
    outcomes = list(remember(workspace, candidates, resolution=resolution).outcomes)
    with workspace.behind_the_write("taking them out of the inbox"):
        hashes = {candidate.hash for candidate in candidates}
        withdraw(workspace, [memory for memory in waiting(workspace) if memory.hash in hashes])
    return outcomes


def _trusted(workspace: Workspace, session: Session) -> list[Message]:
    """The messages of a session, those with instructions to an agent without their text.

    What is made of a message has only a part of it, in which nothing need be left by which the instruction is found.
    """
    return [
        replace(message, text="") if find_reasons(message.text) else message
        for message in sessions.messages(workspace, session)
    ]


def _read(workspace: Workspace, session: Session, *, asks: bool, may_fall_back: bool) -> Yield:
    messages = _trusted(workspace, session)
    if not asks:
        return by_rules(messages)
    found: Yield = workspace.advice("session").by_model(workspace, session.title, messages, may_fall_back=may_fall_back)
    return found


def _unless_changed(workspace: Workspace, found: Yield | None, messages: Sequence[Message]) -> Yield:
    """The summary and facts of a model, if it read exactly these messages, or else those of the local layer."""
    if found is not None and found.messages == messages:
        return found
    if found is not None:
        workspace.warn("messages were added while the model was asked; the local layer stands in")
    return by_rules(messages)


def _finish(workspace: Workspace, session: Session, yields: Callable[[Sequence[Message]], Yield]) -> Ended:
    """Stores the summary, episodes and facts of an ended session; doing it again changes nothing."""
    stamp = workspace.sessions.stamp(session.space, session.id)
    earlier = workspace.sessions.results(session.space, session.id)
    messages = _trusted(workspace, session)
    yielded = yields(messages)
    policy = workspace.in_force(workspace.store.policy(session.space))
    journal = workspace.copy_with(space=journal_of(session.space), is_space_named=True)
    room = journal.in_force(journal.store.policy(journal.space)).max_objects
    found, best = _within(room, episodes.find(messages, policy.max_episodes), yielded.facts)
    log = [_of_session(session, messages, yielded.summary)] if messages else []
    fields = [
        *log,
        *(_of_episode(session, one, messages) for one in found),
        *(_of_fact(session, one, messages) for one in best),
    ]
    made = [prepare(journal, each) for each in fields]
    done, compacted = store_results(journal, session, made, earlier)
    stale = drop_stale(journal, session, {outcome.id for outcome in done if outcome}, earlier)
    sure = [one for one in yielded.facts if one.confidence >= policy.promote_confidence]
    wanted = [prepare(workspace, _of_fact(session, one, messages)) for one in sure]
    promoted = offer_facts(workspace, session, wanted, earlier, at_once=policy.promote == "auto")
    still = {mark: version for mark, version in earlier.items() if mark not in stale}
    now = {**still, **results_of(journal, session, made), **results_of(workspace, session, wanted)}
    if now != earlier:
        workspace.sessions.set_results(session.space, session.id, now)
    # A session that was continued meanwhile ends again.
    if workspace.sessions.stamp(session.space, session.id) == stamp:
        workspace.sessions.unmark_ending(session.space, session.id)
    cut = len(log), len(log) + len(found)
    parts = [[one for one in part if one] for part in (done[: cut[0]], done[cut[0] : cut[1]], done[cut[1] :])]
    return Ended(session, parts[0], parts[1], parts[2], promoted, compacted, yielded.model)


def _within(
    room: int | None, found: Sequence[episodes.Episode], stated: Sequence[Fact]
) -> tuple[list[episodes.Episode], list[Fact]]:
    """The most significant episodes and surest facts, as many as the journal has `room` for beside the log of the session: more
    would delete each other."""
    worth = [(-one.significance, 0, n) for n, one in enumerate(found)]
    worth += [(-one.confidence, 1, n) for n, one in enumerate(stated)]
    best = {(sort, n) for _, sort, n in (worth if room is None else sorted(worth)[: max(0, room - 1)])}
    return (
        [one for n, one in enumerate(found) if (0, n) in best],
        [one for n, one in enumerate(stated) if (1, n) in best],
    )


def _of_session(session: Session, messages: Sequence[Message], summary: str) -> dict[str, Json]:
    """The fields of the log of a session: a summary in a few sentences."""
    count = f"{len(messages)} message{'s' if len(messages) != 1 else ''}"
    heading = _title(session, messages) or f"Session of {session.started_at[:10]}"
    text = "\n".join(
        [f"{heading} ({count})", *([f"Outcome: {session.outcome}"] if session.outcome else []), *summary.splitlines()]
    )
    return {
        "raw": text,
        "kind": "log",
        "path": _folder(session, messages),
        "scope": "session",
        **_common(session, messages, (1, len(messages))),
    }


def _of_episode(session: Session, one: episodes.Episode, messages: Sequence[Message]) -> dict[str, Json]:
    text = "\n".join(one.parts)
    return {
        "raw": f"{one.kind.replace('_', ' ')}: {text}",
        "kind": "episode",
        "path": f"{_folder(session, messages)}/{one.turns[0]}-{slug(one.kind)}-{short_digest(one.title)}",
        "scope": "session",
        "episode": one.as_field(),
        "importance": one.significance,
        **_common(session, messages, one.turns),
    }


def _of_fact(session: Session, fact: Fact, messages: Sequence[Message]) -> dict[str, Json]:
    return {
        "raw": fact.text,
        "kind": fact.kind,
        "confidence": round(fact.confidence, 2),
        **_common(session, messages, (fact.message, fact.message)),
    }


def _common(session: Session, messages: Sequence[Message], turns: tuple[int, int]) -> dict[str, Json]:
    """The provenance and date of a memory of a session: the date of the last of its messages, or of the nearest one before that
    has a date, or of the start of the session."""
    # Dated by the end, a fact of an old conversation would rank as new, and replace what was decided since.
    at = next((messages[n - 1].at for n in range(turns[1], 0, -1) if messages[n - 1].at), session.started_at)
    dated = {"created_at": at} if at else {}
    return {"provenance": {"source": "extracted", "session": session.id, "messages": list(turns)}, **dated}


def _title(session: Session, messages: Sequence[Message]) -> str:
    """The title of a session, or else the beginning of the first message of a user."""
    first = next((message.text for message in messages if message.role == "user"), "")
    return session.title or clip(" ".join(first.split()), _TITLE)


def _folder(session: Session, messages: Sequence[Message]) -> str:
    """The path of the log of a session, which later messages do not change."""
    day = session.started_at[:10]
    name = short_slug(_title(session, messages))
    return "/".join([_FOLDER, "-".join(part for part in (day, name, session.id.rpartition("_")[2][-6:]) if part)])


def _named(session: Session, found: Sequence[Fact]) -> Iterator[tuple[str, Fact]]:
    """The facts with their names, which count the facts of each message from 1."""
    counts: dict[int, int] = {}
    for fact in found:
        counts[fact.message] = counts.get(fact.message, 0) + 1
        yield f"{session.id}#{fact.message}.{counts[fact.message]}", fact


class Yield(Record):
    """The summary and facts of messages, found by the language model `model`, or by the local layer where that is empty."""

    messages: Sequence[Message]
    summary: str
    facts: Sequence[Fact]
    model: str = ""


def by_rules(messages: Sequence[Message]) -> Yield:
    """The summary and facts of messages by the local layer."""
    return Yield(messages, of_session(messages), extract(messages))
