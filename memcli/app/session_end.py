"""The end of a session: stores a summary, episodes and facts in the journal of its space, and proposes the surest facts for the
space itself.

A mark beside the session records that its end was begun, so that the next command finishes what a crash or a full disk
interrupted. When a session goes on and ends again, memories that somebody removed, forgot, rejected or rewrote since are not
made again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

from memcli.app import session as sessions
from memcli.app.candidate import Candidate
from memcli.app.check import check
from memcli.app.inbox import propose, rejected, settle, waiting, withdraw
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
from memcli.record import Record, field
from memcli.settings import journal_of
from memcli.summarize.paths import short_slug
from memcli.summarize.summaries import clip

Kept = Mapping[str, int]
"""What earlier ends of a session made: for each text and each path, as digests, the version of the memory then."""
_LENGTH = 32


def keep(
    over: Workspace, session: Session, candidates: Sequence[Candidate], kept: Kept, *, is_checked: bool = False
) -> tuple[list[Outcome | None], int]:
    """Remembers the candidates, but for those that an earlier end of the session has made. What became of each, None where
    it has been removed since; and how many memories had to make room."""
    objects = load_space(over.store, over.space).objects
    own = made_from(objects, session)
    forgotten = {memory.hash: memory for memory in objects if not memory.active}
    by_hash = forgotten | {memory.hash: memory for memory in own}
    by_path = {memory.path: memory for memory in own}

    def standing(candidate: Candidate) -> Memory | None:
        """What is there instead of the candidate: its text, or what somebody has made of it."""
        there = by_path.get(candidate.given.get("path", ""))
        is_edited = there is not None and _text(over, there.hash) not in kept and there.version > 1
        return by_hash.get(candidate.hash) or (there if is_edited else None)

    found = [standing(candidate) for candidate in candidates]
    is_new = [
        there is None and not is_removed(over, candidate, kept, by_path)
        for there, candidate in zip(found, candidates, strict=True)
    ]
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


def is_removed(over: Workspace, candidate: Candidate, kept: Kept, there: Mapping[str, Memory]) -> bool:
    """Whether an earlier end made the candidate, or what was at its path, and it is not `there` any more."""
    path = candidate.given.get("path")
    return _text(over, candidate.hash) in kept or (path is not None and path not in there and _path(over, path) in kept)


def offer_facts(
    over: Workspace, session: Session, candidates: Sequence[Candidate], kept: Kept, *, at_once: bool
) -> list[Outcome]:
    """Remembers facts in the space of the session `at_once`, or proposes them, but for those that were offered before or
    were rejected. What was proposed and no longer holds is withdrawn."""
    hashes = {candidate.hash for candidate in candidates}
    own = made_from(waiting(over), session)
    withdraw(over, [memory for memory in own if memory.hash not in hashes and _text(over, memory.hash) in kept])
    new = [candidate for candidate in candidates if _text(over, candidate.hash) not in kept]
    if not at_once:
        return propose(over, new)
    refused = rejected(over)
    outcomes, _ = keep(
        over, session, [candidate for candidate in new if candidate.hash not in refused], kept, is_checked=True
    )
    return [outcome for outcome in outcomes if outcome is not None]


def drop_stale(over: Workspace, session: Session, told: set[str], kept: Kept) -> set[str]:
    """Drops what an earlier end of a session made, which went on since, and this one did not; which marks that takes out."""
    old = [
        memory
        for memory in _stored(over, session)
        if memory.id not in told
        and memory.version == kept.get(_text(over, memory.hash), 1)  # nobody has edited it
        and not memory.pinned
    ]
    if old:
        names, now = {memory.id for memory in old}, over.clock()
        over.store.update(over.space, lambda shelf: removal(shelf, names, now))
    return {mark for memory in old for mark in (_text(over, memory.hash), _path(over, memory.path))}


def marks(over: Workspace, session: Session, candidates: Sequence[Candidate]) -> Kept:
    """What is to be known of an end that has made the candidates."""
    versions = {memory.hash: memory.version for memory in _stored(over, session)}
    texts = {_text(over, candidate.hash): versions.get(candidate.hash, 0) for candidate in candidates}
    paths = {_path(over, path): 0 for candidate in candidates if (path := candidate.given.get("path"))}
    return {**texts, **paths}


def _stored(over: Workspace, session: Session) -> list[Memory]:
    """The memories of the space that were made from the session."""
    return [one for one in made_from(load_space(over.store, over.space).objects, session) if not one.session]


def _text(over: Workspace, digest: str) -> str:
    return f"{over.space}:{short_digest(digest, _LENGTH)}"


def _path(over: Workspace, path: str) -> str:
    return f"{over.space}/{short_digest(path, _LENGTH)}"


_FOLDER = "sessions"
_TITLE = 80


class Ended(Record):
    """What the end of a session made: the memory of it, its episodes and facts in the journal, and the facts that went to the
    space of the session, or wait for it in the inbox."""

    session: Session
    log: Sequence[Outcome] = ()
    episodes: Sequence[Outcome] = ()
    facts: Sequence[Outcome] = ()
    promoted: Sequence[Outcome] = field(default_factory=list)
    compacted: int = 0
    model: str = ""
    """The language model that summed it up, empty for the local layer."""

    def to_json(self) -> dict[str, Json]:
        parts = ("log", "episodes", "facts", "promoted")
        told = {name: [outcome.to_json() for outcome in getattr(self, name)] for name in parts}
        by = {"model": self.model} if self.model else {}
        return {"id": self.session.id, "outcome": self.session.outcome, **told, "compacted": self.compacted, **by}


def end(workspace: Workspace, session: Session, outcome: str = "", *, asks: bool = False) -> Ended:
    """Ends the session and keeps what it yields; with `asks`, by a language model, and locally if that fails. The session
    goes on until it has answered, so that nothing waits for it, and an interrupt leaves all as it was.

    Raises UsageError when no model is configured, NotFoundError, LockedError, CorruptError, StoreError.
    """
    told = (
        workspace.advice("session").by_model(workspace, session.title, list(sessions.messages(workspace, session)))
        if asks
        else None
    )
    with workspace.sessions.finishing(session.space):
        workspace.sessions.mark(session.space, "ending", session.id)
        ended, _ = sessions.change_state(workspace, session.id, ENDED, outcome)
        return _finish(workspace, ended, partial(_still, workspace, told))


def finish_all(workspace: Workspace) -> list[Ended]:
    """Does what is left undone of the ends that were begun, unless another process does. Raises StoreError."""
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
            except (CorruptError, RefusedError) as error:
                workspace.warn(f"what session {name} yields is not kept yet: {error.message}")
    return done


def read_facts(workspace: Workspace, session: Session, *, asks: bool = False) -> list[tuple[str, Fact]]:
    """The facts that the session states, each with the name that `promote` takes: `ses_...#MESSAGE.N`. With `asks`, by a
    language model, and locally if that fails. Raises UsageError when no model is configured.
    """
    told = _told(workspace, session, asks=asks, may_fall_back=True)
    return list(_named(session, told.facts))


def read_arc(workspace: Workspace, session: Session) -> Arc:
    """The course of a session. Raises CorruptError."""
    said = list(sessions.messages(workspace, session))
    policy = workspace.in_force(workspace.store.policy(session.space))
    return arc(episodes.find(said, policy.max_episodes), len(said))


def promote(workspace: Workspace, names: Sequence[str], *, asks: bool = False) -> list[Outcome]:
    """Remembers facts of sessions, by their names; with `asks`, of those that a language model found. The local layer does
    not stand in for it: the names would mean other facts.

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
            read[session.id] = _told(workspace, session, asks=asks, may_fall_back=False)
        told, number = read[session.id], name.partition("#")[2]
        fact = dict(_named(session, told.facts)).get(f"{session.id}#{number}")
        if fact is None:
            raise NotFoundError(f"no fact {name!r}", f"`memcli session facts {session.id}` lists the facts")
        chosen.append(_of_fact(session, fact, told.said))
    candidates = [prepare(workspace, fields) for fields in chosen]
    resolution = Resolution(check(workspace, candidates))
    outcomes = list(remember(workspace, candidates, resolution=resolution).outcomes)
    with workspace.behind_the_write("taking them out of the inbox"):
        settle(workspace, {candidate.hash for candidate in candidates})
    return outcomes


def _told(workspace: Workspace, session: Session, *, asks: bool, may_fall_back: bool) -> Yield:
    said = list(sessions.messages(workspace, session))
    if not asks:
        return by_rules(said)
    told: Yield = workspace.advice("session").by_model(workspace, session.title, said, may_fall_back=may_fall_back)
    return told


def _still(workspace: Workspace, told: Yield | None, said: Sequence[Message]) -> Yield:
    """What a model has said, if that is of these messages; else what the local layer says."""
    if told is not None and told.said == said:
        return told
    if told is not None:
        workspace.warn("messages were added while the model was asked; the local layer stands in")
    return by_rules(said)


def _finish(workspace: Workspace, session: Session, yields: Callable[[Sequence[Message]], Yield]) -> Ended:
    """Keeps what an ended session yields; the same again changes nothing."""
    stamp = workspace.sessions.stamp(session.space, session.id)
    kept = workspace.sessions.results(session.space, session.id)
    said = list(sessions.messages(workspace, session))
    told = yields(said)
    policy = workspace.in_force(workspace.store.policy(session.space))
    journal = workspace.copy_with(space=journal_of(session.space), is_space_named=True)
    room = journal.in_force(journal.store.policy(journal.space)).max_objects
    found, best = _within(room, episodes.find(said, policy.max_episodes), told.facts)
    log = [_of_session(session, said, told.summary)] if said else []
    fields = [
        *log,
        *(_of_episode(session, one, said) for one in found),
        *(_of_fact(session, one, said) for one in best),
    ]
    made = [prepare(journal, each) for each in fields]
    done, compacted = keep(journal, session, made, kept)
    stale = drop_stale(journal, session, {outcome.id for outcome in done if outcome}, kept)
    sure = [one for one in told.facts if one.confidence >= policy.promote_confidence]
    wanted = [prepare(workspace, _of_fact(session, one, said)) for one in sure]
    promoted = offer_facts(workspace, session, wanted, kept, at_once=policy.promote == "auto")
    still = {mark: version for mark, version in kept.items() if mark not in stale}
    now = {**still, **marks(journal, session, made), **marks(workspace, session, wanted)}
    if now != kept:
        workspace.sessions.set_results(session.space, session.id, now)
    if workspace.sessions.stamp(session.space, session.id) == stamp:  # else another end of it is to come
        workspace.sessions.unmark_ending(session.space, session.id)
    cut = len(log), len(log) + len(found)
    parts = [[one for one in part if one] for part in (done[: cut[0]], done[cut[0] : cut[1]], done[cut[1] :])]
    return Ended(session, parts[0], parts[1], parts[2], promoted, compacted, told.model)


def _within(
    room: int | None, found: Sequence[episodes.Episode], stated: Sequence[Fact]
) -> tuple[list[episodes.Episode], list[Fact]]:
    """Of the episodes and facts the most significant and surest, as many as there is room for beside the memory of the
    session: one end must not hold more than the journal may."""
    worth = [(-one.significance, 0, n) for n, one in enumerate(found)]
    worth += [(-one.confidence, 1, n) for n, one in enumerate(stated)]
    best = {(sort, n) for _, sort, n in (worth if room is None else sorted(worth)[: max(0, room - 1)])}
    return (
        [one for n, one in enumerate(found) if (0, n) in best],
        [one for n, one in enumerate(stated) if (1, n) in best],
    )


def _of_session(session: Session, said: Sequence[Message], summary: str) -> dict[str, Json]:
    """The memory of a session: what happened, in a few sentences."""
    count = f"{len(said)} message{'s' if len(said) != 1 else ''}"
    heading = _title(session, said) or f"Session of {session.started_at[:10]}"
    text = "\n".join(
        [f"{heading} ({count})", *([f"Outcome: {session.outcome}"] if session.outcome else []), *summary.splitlines()]
    )
    return {
        "raw": text,
        "kind": "log",
        "path": _folder(session, said),
        "scope": "session",
        **_common(session, said, (1, len(said))),
    }


def _of_episode(session: Session, one: episodes.Episode, said: Sequence[Message]) -> dict[str, Json]:
    text = "\n".join(one.parts)
    return {
        "raw": f"{one.kind.replace('_', ' ')}: {text}",
        "kind": "episode",
        "path": f"{_folder(session, said)}/{one.turns[0]}-{slug(one.kind)}-{short_digest(one.title)}",
        "scope": "session",
        "episode": one.as_field(),
        "importance": one.significance,
        **_common(session, said, one.turns),
    }


def _of_fact(session: Session, fact: Fact, said: Sequence[Message]) -> dict[str, Json]:
    return {
        "raw": fact.text,
        "kind": fact.kind,
        "confidence": round(fact.confidence, 2),
        **_common(session, said, (fact.message, fact.message)),
    }


def _common(session: Session, said: Sequence[Message], turns: tuple[int, int]) -> dict[str, Json]:
    """Where it comes from. A memory of a session has the date of the last of its messages, or of the one before that has a
    date, or of the session."""
    at = next((said[n - 1].at for n in range(turns[1], 0, -1) if said[n - 1].at), session.started_at)
    dated = {"created_at": at} if at else {}
    return {"provenance": {"source": "extracted", "session": session.id, "messages": list(turns)}, **dated}


def _title(session: Session, said: Sequence[Message]) -> str:
    """The title of a session, or else what a user said first."""
    first = next((message.text for message in said if message.role == "user"), "")
    return session.title or clip(" ".join(first.split()), _TITLE)


def _folder(session: Session, said: Sequence[Message]) -> str:
    """The path of the memory of a session: it stays as it is while the session goes on."""
    day = session.started_at[:10]
    name = short_slug(_title(session, said))
    return "/".join([_FOLDER, "-".join(part for part in (day, name, session.id.rpartition("_")[2][-6:]) if part)])


def _named(session: Session, found: Sequence[Fact]) -> Iterator[tuple[str, Fact]]:
    counts: dict[int, int] = {}
    for fact in found:
        counts[fact.message] = counts.get(fact.message, 0) + 1
        yield f"{session.id}#{fact.message}.{counts[fact.message]}", fact


class Yield(Record):
    """What the messages `said` yield; `model` has said so, or the local layer where that is empty."""

    said: Sequence[Message]
    summary: str
    facts: Sequence[Fact]
    model: str = ""


def by_rules(said: Sequence[Message]) -> Yield:
    """What a session yields by the local layer."""
    return Yield(said, of_session(said), extract(said))
