"""Feedback: judges memories. A judgement is noted on this machine; `maintain` changes confidence and strength by it.

Relevance: a language model looks through the best candidates of a recall. When it fails, the ranking stands.

Of private spaces only that is sent which the user has named, or asked for by the scope of sessions.

Gaps: questions that nothing answered are kept where the policy says so, until something answers them.

What the questions that nothing answered are about: similar ones together, under a name by their words or by a model.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from itertools import count
from threading import Thread

from memcli.app.catalogue import find_elsewhere, find_in, reading, reading_asked
from memcli.app.consult import QUESTION, VERDICT, consult
from memcli.app.homes import joined
from memcli.app.recall import recall
from memcli.app.talk import NAME as TALK
from memcli.app.topic import NOT_REPEATED
from memcli.app.usage import ELSEWHERE
from memcli.app.workspace import Workspace
from memcli.errors import MemcliError, NotFoundError, ProviderError, RefusedError, UsageError
from memcli.graph.elements import names
from memcli.model.memory import Json, Memory
from memcli.model.recall import ALL_REJECTED, Bundle, ModelVerdict, Query, Section
from memcli.model.usage import REJECTED, Gap, GapTopic, Use
from memcli.prompts import describe
from memcli.prompts import session as prompts
from memcli.record import Record, as_dict, replace
from memcli.safety.injection.reasons import find_reasons
from memcli.text.words import query_terms

_LONGEST_REASON = 300
_DIGITS = 4


class Judged(Record):
    """A memory that was judged, the space that it is of, and the workspace of that."""

    memory: Memory
    space: str
    home: Workspace

    def to_json(self) -> dict[str, Json]:
        return {"id": self.memory.id, "path": self.memory.path, "space": self.space}


def feedback(
    workspace: Workspace, refs: Sequence[str], act: str, reason: str = ""
) -> tuple[list[Judged], MemcliError | None]:
    """Notes that memories were helpful, unhelpful or rejected. `refs` are ids, paths, or numbers in the last bundle. Also
    returns the error for those that are not there.

    Raises that if none is there; StoreError, LockedError.
    """
    places = _places(workspace) if any(map(_is_number, refs)) else {}
    judged: dict[tuple[str, str, str], Judged] = {}
    errors: list[MemcliError] = []
    for ref in refs:
        try:
            one = _numbered(workspace, int(ref), places) if _is_number(ref) else _named(workspace, ref)
        except (NotFoundError, UsageError) as error:
            errors.append(error)
        else:
            judged.setdefault((one.home.root, one.space, one.memory.id), one)
    missing = joined(errors)
    if missing is not None and not judged:
        raise missing
    said, _ = workspace.redactor.detector(workspace.space).redact(reason)
    text = " ".join(said.split())[:_LONGEST_REASON]
    for home in {one.home.root: one.home for one in judged.values()}.values():
        ids = [(one.space, one.memory.id) for one in judged.values() if one.home is home]
        home.usage.judge([Use(workspace.clock(), act, space, (name,), reason=text) for space, name in ids])
    return list(judged.values()), missing


def _is_number(ref: str) -> bool:
    return ref.isascii() and ref.isdigit() and len(ref) < _DIGITS


def _places(workspace: Workspace) -> dict[int, tuple[str, str]]:
    """The spaces and ids of what was shown last, by number. Raises NotFoundError."""
    found = {
        n: (use.space, name) for use in workspace.usage.last() for n, name in zip(use.places, use.ids, strict=True)
    }
    if not found:
        raise NotFoundError("no answer of recall that a number could refer to", "name the memory by its id or path")
    return found


def _numbered(workspace: Workspace, number: int, places: dict[int, tuple[str, str]]) -> Judged:
    if number not in places:
        raise NotFoundError(
            f"no memory {number} in the last answer of recall", f"it has numbers up to {max(places)}; or use an id"
        )
    space, name = places[number]
    home = workspace.elsewhere if space.startswith(ELSEWHERE) else workspace
    space = space.removeprefix(ELSEWHERE)
    if home is not None:
        with reading(home, [space]) as (reader,):
            if (memory := reader.find(name)) is not None:
                return Judged(memory, space, home)
    raise NotFoundError(f"memory {number} of the last answer, {name}, is gone", "`memcli list` lists the memories")


def _named(workspace: Workspace, ref: str) -> Judged:
    with reading_asked(workspace) as spaces:
        try:
            reader, memory = find_in(spaces, ref)
        except NotFoundError:
            found = find_elsewhere(workspace, ref)
            if found is None or workspace.elsewhere is None:
                raise
            return Judged(found[1], found[0], workspace.elsewhere)
        return Judged(memory, reader.name, workspace)


DEFAULT_MOST = 8
DEFAULT_SECONDS = 1.0
_REASON = "not relevant, says {model}"
_LOADING_SECONDS = 60.0


class Verifier:
    """Leaves out of bundles what a model rejects among the first `most` candidates. It has `within` seconds for each, once it
    is loaded, which goes on while the candidates are searched; and all must be over at `ends`, by the monotonic clock.

    What a trigger or an anchor brings up, and what is pinned, is never asked about.
    """

    def __init__(
        self,
        workspace: Workspace,
        most: int = DEFAULT_MOST,
        within: float = DEFAULT_SECONDS,
        ends: float = math.inf,
    ) -> None:
        self._workspace, self._most, self._within, self._ends = workspace, most, within, ends
        self._loader: Thread | None = None

    def __call__(self, query: Query, answer: Callable[[Query], Bundle]) -> Bundle:
        """The answer to the query, verified. Raises UsageError when no model is configured, and what `answer` raises."""
        if query.edits is not None or not query.topic.strip():
            return answer(query)
        self._load()
        wide = answer(replace(query, limit=max(query.limit, self._most)))
        told = [s for s in wide.sections if not s.is_lead and not s.memory.pinned]
        asked = [section for section in told[: self._most] if self._may_leave(section.space)]
        if not asked:
            return _within_limit(wide, query, wide.sections)
        try:
            rejected = self._rejected(wide.query.topic, asked)
        except (ProviderError, RefusedError) as error:
            stands = wide if wide.query.limit == query.limit else answer(query)
            # A prompt and a log get this: what a server says may hold instructions, or repeat what it was asked.
            failure = error.brief if isinstance(error, ProviderError) else error.message
            return replace(stands, verdict=ModelVerdict(asked=len(asked), failure=failure))
        gone = {id(section) for section in rejected}
        left = tuple(section for section in wide.sections if id(section) not in gone)
        verdict = ModelVerdict(asked=len(asked), rejected=len(rejected), model=self._workspace.model)
        bundle = replace(_within_limit(wide, query, left), verdict=verdict)
        return bundle if left else replace(bundle, reason=ALL_REJECTED)

    def _load(self) -> None:
        """Begins to load the model, once. Why it cannot be asked is said when it is."""
        if self._loader is None:
            with suppress(MemcliError):
                self._loader = Thread(target=self._workspace.language_model().load, name="model", daemon=True)
                self._loader.start()

    def _left(self) -> float:
        """How many seconds the model has, once it is loaded. Raises ProviderError when there are none."""
        if self._loader is not None:
            self._loader.join(min(_LOADING_SECONDS, max(0.0, self._ends - time.monotonic())))
        left = min(self._within, self._ends - time.monotonic())
        if left <= 0:
            raise ProviderError("no time was left to ask the language model", "ask again, or without it")
        return left

    def _may_leave(self, name: str) -> bool:
        """Whether memories of the space that a bundle calls so may be sent."""
        workspace = self._workspace
        if name == TALK or (workspace.is_space_named and name == workspace.space):
            return True
        home = workspace.elsewhere if name.startswith(ELSEWHERE) else workspace
        return home is not None and not home.store.policy(name.removeprefix(ELSEWHERE)).is_private

    def _rejected(self, topic: str, asked: Sequence[Section]) -> list[Section]:
        """The candidates that are not relevant. Raises ProviderError, RefusedError, UsageError."""
        if topic == NOT_REPEATED:
            raise RefusedError("the topic contains instructions and is not sent")
        prompt = describe.make_verify(topic, [_told(section) for section in asked])
        relevant, is_kept = consult(
            self._workspace, prompt, describe.reader_verify(len(asked)), within=self._left, keep=VERDICT
        )
        rejected = [section for n, section in enumerate(asked, 1) if n not in relevant]
        if rejected and not is_kept:
            self._note(rejected)
        return rejected

    def _note(self, rejected: Sequence[Section]) -> None:
        """Notes what was rejected, once for each verdict: of the user-wide store there."""
        at, reason = self._workspace.clock(), _REASON.format(model=self._workspace.model)
        for is_other in (False, True):
            home = self._workspace.elsewhere if is_other else self._workspace
            own = [s for s in rejected if s.space.startswith(ELSEWHERE) == is_other and s.space != TALK]
            if home is None or not own:
                continue
            uses = [
                Use(at, REJECTED, s.space.removeprefix(ELSEWHERE), (s.memory.id,), reason=reason) for s in own
            ]  # fmt: skip
            try:
                home.usage.judge(uses)
            except MemcliError as error:
                self._workspace.warn(f"what was rejected is not noted: {error.message}")


def _told(section: Section) -> dict[str, str]:
    memory = section.memory
    text = section.passage or memory.summary_short or memory.raw
    return {"path": memory.path, "kind": memory.kind, "date": memory.created_at[:10], "text": text}


def _within_limit(wide: Bundle, query: Query, sections: Sequence[Section]) -> Bundle:
    return replace(wide, query=replace(wide.query, limit=query.limit), sections=tuple(sections)[: query.limit])


class Reviewed(Record):
    """Gaps that were asked again: those that something answers now, which are closed, and those that nothing does."""

    filled: tuple[Gap, ...] = ()
    open: tuple[Gap, ...] = ()

    def to_json(self) -> dict[str, Json]:
        return {"filled": [as_dict(gap) for gap in self.filled], "open": [as_dict(gap) for gap in self.open]}


def list_gaps(workspace: Workspace) -> list[Gap]:
    """The gaps of the space that the user named, or of all that keep them; what others have kept before is removed.

    Raises StoreError, LockedError.
    """
    gaps = workspace.gaps.read()
    kept = {space for space in dict.fromkeys(gap.space for gap in gaps) if is_kept(workspace, space)}
    drop(workspace, [gap for gap in gaps if gap.space not in kept])
    asked = {workspace.space} if workspace.is_space_named else kept
    return [gap for gap in gaps if gap.space in kept & asked]


def is_kept(workspace: Workspace, space: str) -> bool:
    """Whether the policy of the space keeps gaps here."""
    return workspace.in_force(workspace.store.policy(space)).gaps


def close(workspace: Workspace, refs: Sequence[str]) -> list[Gap]:
    """Removes the gaps that `refs` name, by number in the list or by topic. Raises NotFoundError, StoreError, LockedError."""
    gaps = list_gaps(workspace)
    chosen = [_find(gaps, ref) for ref in refs]
    drop(workspace, chosen)
    return chosen


def drop(workspace: Workspace, gaps: Collection[Gap]) -> None:
    """Removes gaps, and what a model said of them. Raises StoreError, LockedError."""
    if gaps:
        workspace.gaps.drop(gaps)
        workspace.answers.erase_questions()


def _find(gaps: Sequence[Gap], ref: str) -> Gap:
    if ref.isascii() and ref.isdigit() and 0 < int(ref) <= len(gaps):
        return gaps[int(ref) - 1]
    key = Gap(ref, "", 0, "", "").key[1]
    for gap in gaps:
        if gap.key[1] == key:
            return gap
    raise NotFoundError(f"no gap {ref[:80]!r}", "`memcli feedback gaps` lists them with their numbers")


def review(workspace: Workspace, since: str = "") -> Reviewed:
    """Asks again what nothing answered since a time, and closes what something answers now. Raises what recall raises."""
    gaps = [gap for gap in list_gaps(workspace) if since <= gap.last_at]
    if not gaps:
        return Reviewed()
    queries = [Query(topic=gap.topic, now=workspace.clock(), limit=1) for gap in gaps]
    answered = [bool(bundle.sections) for bundle in recall(workspace.copy_with(is_noted=False), queries)]
    filled = [gap for gap, is_answered in zip(gaps, answered, strict=True) if is_answered]
    drop(workspace, filled)
    return Reviewed(tuple(filled), tuple(gap for gap in gaps if gap not in filled))


WITHIN_SECONDS = 30.0
_LEAST_ALIKE = 0.3
"""The share of the words of two questions that they have in common when they are about the same."""
_LONGEST = 40


def topics_of(workspace: Workspace, gaps: Sequence[Gap], *, asks: bool = False) -> list[GapTopic]:
    """The topics of the gaps, in order of their first gap; by the language model of the workspace if it `asks`. When that
    fails, they are named locally, with a note."""
    sent = [gap for gap in gaps if not find_reasons(gap.topic)][: prompts.MOST_QUESTIONS] if asks else []
    found = _asked(workspace, sent) if sent else []
    named = {gap.key for topic in found for gap in topic.gaps}
    rest = named_locally([gap for gap in gaps if gap.key not in named], {topic.name for topic in found})
    place = {gap.key: n for n, gap in enumerate(gaps)}
    return sorted([*found, *rest], key=lambda topic: place[topic.gaps[0].key])


def named_locally(gaps: Sequence[Gap], taken: Collection[str] = ()) -> list[GapTopic]:
    """The gaps together with those that share words with them, named after these words; no name is one of those `taken`."""
    groups = _alike(gaps)
    used = {name.casefold() for name in taken}
    topics = []
    for name, group in zip(names([[_as_memory(gap) for gap in group] for group in groups]), groups, strict=True):
        told = name if _is_said(name, group) else _shared(group)[:_LONGEST]
        free = next(each for each in _number_groups(told) if each.casefold() not in used)
        used.add(free.casefold())
        topics.append(GapTopic(free, tuple(group)))
    return topics


def _alike(gaps: Sequence[Gap]) -> list[list[Gap]]:
    """The gaps, each with the first one before that it is most like, if any is like it enough."""
    groups: list[tuple[frozenset[str], list[Gap]]] = []
    for gap in gaps:
        words = frozenset(query_terms(gap.topic))
        shares = [len(words & first) / len(words | first) if words and first else 0.0 for first, _ in groups]
        best = max(range(len(groups)), key=lambda n: (shares[n], -n), default=None)
        if best is not None and shares[best] >= _LEAST_ALIKE:
            groups[best][1].append(gap)
        else:
            groups.append((words, [gap]))
    return [group for _, group in groups]


def _asked(workspace: Workspace, gaps: Sequence[Gap]) -> list[GapTopic]:
    """What a model makes of the gaps; nothing where it fails."""
    prompt = prompts.make_gaps([gap.topic for gap in gaps])
    try:
        found, _ = consult(workspace, prompt, prompts.reader(len(gaps)), within=WITHIN_SECONDS, keep=QUESTION)
    except (ProviderError, RefusedError, UsageError) as error:
        workspace.warn(f"{error.message}; named locally")
        return []
    return [GapTopic(one.name, tuple(gaps[number - 1] for number in sorted(one.numbers))) for one in found]


def _as_memory(gap: Gap) -> Memory:
    return Memory(id=gap.topic, path="", kind="", raw=gap.topic, created_at=gap.first_at, updated_at=gap.last_at)


def _is_said(name: str, group: Sequence[Gap]) -> bool:
    """Whether the questions have a word of the name; else nothing in them could be named."""
    words = {word for gap in group for word in query_terms(gap.topic)}
    return not words.isdisjoint(query_terms(name))


def _shared(group: Sequence[Gap]) -> str:
    """The words of the first question that all of the group have, or else the whole question."""
    common = frozenset.intersection(*(frozenset(query_terms(gap.topic)) for gap in group))
    words = (word.strip("?!.,:;") for word in group[0].topic.split())
    return " ".join(word for word in words if not common.isdisjoint(query_terms(word))) or group[0].topic


def _number_groups(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name} {number}" for number in count(2))
