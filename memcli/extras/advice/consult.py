"""Consult: ask the language model of a workspace once for each question, and never show it or keep what is secret.

Describe: the semantic layer by a language model, which adds to what the local one finds, or stands in for it.

Compaction by a language model: asked before a write for which there is no room, and never under the lock of a space.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from memcli.app.candidate import is_read
from memcli.app.workspace import Workspace, load_space
from memcli.claims.claim import lacking
from memcli.codec.canonical import encode_line
from memcli.codec.space import encode_space, memory_digest
from memcli.codec.splice import SpliceShelf
from memcli.digests import sha256
from memcli.errors import MemcliError, ProviderError, RefusedError, UsageError
from memcli.extras.advice.advised import is_mergeable, may_be_named
from memcli.extras.advice.prompts import describe
from memcli.model.conversation import Prompt, model_name
from memcli.model.memory import RULE_KINDS, Json, Memory
from memcli.model.names import slug
from memcli.model.space import Change, Space
from memcli.policy.draft import Draft
from memcli.policy.retention import excess_of, is_spent, surplus
from memcli.ports import Shelf
from memcli.safety.injection import find_reasons
from memcli.safety.secrets.redact_memory import clean_values
from memcli.summarize.kinds import Subject, missing

TEXT, QUESTION, VERDICT = "text", "question", "verdict"
"""What an answer is that is kept: one that repeats memories, or questions without an answer, or one that repeats nothing."""

T = TypeVar("T")


def consult(
    workspace: Workspace,
    prompt: Prompt,
    read: Callable[[Json], T],
    *,
    within: float | Callable[[], float],
    keep: str = "",
    may_wait: bool = False,
) -> tuple[T, bool]:
    """What `read` makes of the model's answer, without secrets, and whether it is one that was kept before, as it is where
    `keep` is TEXT, QUESTION or VERDICT. A function `within` is called only when the model is to be asked.

    Raises UsageError when no model is configured, and what `LanguageModel.ask` and `Workspace.language_model` raise.
    """
    if keep and (found := kept(workspace, prompt, read)):
        return found[0], True
    model = workspace.language_model(may_wait=may_wait)
    seconds = within() if callable(within) else within
    since = workspace.answers.erasures() if keep else 0
    answer, value = model.ask(prompt, lambda data: _understood(workspace, data, read), seconds)
    if keep and workspace.model:
        workspace.answers.keep(_key(prompt, workspace.model), answer, kind=keep, since=since)
    return value, False


def kept(workspace: Workspace, prompt: Prompt, read: Callable[[Json], T]) -> list[T]:
    """What `read` makes of the answer that was kept before; empty where there is none. Asks nobody."""
    if not workspace.model:
        return []
    with suppress(ValueError, UsageError):
        if (answer := workspace.answers.get(_key(prompt, workspace.model))) is not None:
            return [_understood(workspace, answer, read)[1]]
    return []


def _understood(workspace: Workspace, data: Json, read: Callable[[Json], T]) -> tuple[Json, T]:
    """An answer without secrets, and what `read` makes of it. Raises ValueError."""
    if not isinstance(data, dict):
        raise ValueError("the answer must be an object")  # noqa: TRY004 - as `LanguageModel.ask` wants it
    clean = clean_values(workspace.redactor.detector(workspace.space), data)
    return clean, read(clean)


def _key(prompt: Prompt, model: str) -> str:
    """A digest of all that decides the answer. Raises UsageError when `model` names none."""
    asked = [
        str(model_name(model)), prompt.task, prompt.system, prompt.text, dict(prompt.schema), prompt.max_tokens,
        None if prompt.temperature is None else float(prompt.temperature),
    ]  # fmt: skip
    return sha256(encode_line(asked)).hexdigest()


WITHIN_SECONDS = 60.0
_MOST_FAILURES = 2
"""After so many failures in a row the rest of a batch is described locally."""


class AskingSummarizer:
    """Asks a language model for what the caller left out. Summaries, tags and so on that were given stay as they are. With
    `may_fall_back`, the local layer stands in for a model that fails."""

    def __init__(
        self,
        workspace: Workspace,
        *,
        temperature: float | None = None,
        max_tokens: int | None = None,
        may_fall_back: bool = False,
    ) -> None:
        self._workspace, self._may_fall_back = workspace, may_fall_back
        self._temperature, self._max_tokens = temperature, max_tokens
        self._failures = 0
        self.local = 0
        """How many texts the local layer has described instead."""

    def describe(self, fields: Mapping[str, object]) -> dict[str, object]:
        """The fields to add. Raises ProviderError, RefusedError, UsageError."""
        found = self._workspace.describe(fields)
        wanted = missing(fields)
        if not wanted:
            return found
        told = self._told(fields)
        if told is None:
            self.local += 1
            return found
        pinned = {"pinned": True} if told["auto_pin"] and "pinned" not in fields and not is_read(fields) else {}
        return {**found, **{name: told[name] for name in wanted}, **pinned}

    def _told(self, fields: Mapping[str, Any]) -> dict[str, Any] | None:
        """What the model says; None when it fails and the local layer may stand in."""
        if self._failures >= _MOST_FAILURES:
            return None
        subject = Subject.of(fields)
        hints = {name: fields[name] for name in ("kind", "relevance") if fields.get(name)}
        place = {"suggested path": subject.hint, "project": subject.project, "file": subject.source}
        hints |= {"tags": list(fields.get("tags") or ()), **place}
        prompt = describe.make(subject.text, hints, temperature=self._temperature, max_tokens=self._max_tokens)
        try:
            told, _ = consult(self._workspace, prompt, partial(_read, subject.text), within=WITHIN_SECONDS, keep=TEXT)
        except (ProviderError, RefusedError) as error:
            if not self._may_fall_back:
                raise
            self._failures = _MOST_FAILURES if isinstance(error, RefusedError) else self._failures + 1
            self._workspace.warn(f"{error.message}; described locally")
            return None
        self._failures = 0
        path, first = str(told["path"]), slug(subject.project)
        is_within = not first or path.split("/", maxsplit=1)[0] == first
        return {**told, "path": path if is_within else f"{first}/{path}"}


def _read(note: str, data: Json) -> dict[str, Any]:
    """The fields in the answer. Raises ValueError, also where it carries instructions that the note does not: they would
    keep the note from being recalled."""
    told = describe.read(data)
    texts = [told["path"], *told["tags"], *(told[name] for name in ("summary_micro", "summary_short", "summary_long"))]
    if added := sorted(find_reasons("\n".join(texts)) - find_reasons(note)):
        raise ValueError(f"it contains {', '.join(added)}, and the note does not")
    return told


COMPACTION_WITHIN_SECONDS = 30.0
MOST_DECISIONS = 3
"""So many memories a model decides about; of the rest that must go the order of value decides."""
MOST_CANDIDATES = 12


def ask(workspace: Workspace, added: int, plan: Callable[[Shelf], Change]) -> Json:
    """What a model advises to do for a write that adds up to so many memories, as `advised.follow` reads it; None when there
    is room, or no valid answer: then the order of value decides, with a note. `plan` gives the change without any compaction.
    """
    space = load_space(workspace.store, workspace.space)
    most = space.policy.max_objects
    if most is None or len(space.objects) + added <= most:
        return None
    try:
        needed, new, candidates = _look(space, plan, workspace.clock())
    except MemcliError:  # the write itself will say so
        return None
    if needed <= 0 or not candidates:
        return None
    try:
        decisions = _decide(workspace, space, min(needed, MOST_DECISIONS), new, candidates)
    except (ProviderError, RefusedError, UsageError) as error:
        workspace.warn(f"{error.message}; the least valuable memories make room")
        return None
    return {"model": workspace.model, "decisions": [_seen(one, candidates) for one in decisions]}


def _look(space: Space, plan: Callable[[Shelf], Change], now: str) -> tuple[int, list[Memory], list[Memory]]:
    """How many memories must go that somebody could miss, those that come, and the least valuable of those that may go."""
    shelf = SpliceShelf(encode_space(space), space.name)
    draft = Draft(shelf)
    change = plan(shelf)
    draft.take(change)
    excess, spared = excess_of(draft, draft.grown), {memory.id for memory in change.put}
    free = surplus(draft.load().objects, draft.size, space.policy.compaction, now, spared)
    needed = excess - sum(map(is_spent, free))
    known = {memory.id: memory for memory in space.objects}
    new = [memory for memory in change.put if memory.id not in known or memory.hash != known[memory.id].hash]
    return needed, new, [memory for memory in free if may_be_named(memory, now)][:MOST_CANDIDATES]


def _decide(
    workspace: Workspace, space: Space, most: int, new: Sequence[Memory], candidates: Sequence[Memory]
) -> tuple[describe.Decision, ...]:
    """Raises ProviderError, RefusedError, UsageError."""
    shown = workspace.redactor.show([*new, *candidates], space.policy)
    stored = shown[len(new) :]
    mergeable = [
        number
        for number, (memory, clean) in enumerate(zip(candidates, stored, strict=True), 1)
        if memory.raw == clean.raw and is_mergeable(memory, describe.MOST_TEXT)
    ]
    told = [
        {
            "path": memory.path, "kind": memory.kind, "date": memory.updated_at[:10], "relevance": memory.relevance,
            "mergeable": number in mergeable, "text": memory.raw or memory.summary_short,
        }
        for number, memory in enumerate(stored, 1)
    ]  # fmt: skip
    prompt = describe.make_compact([memory.raw or memory.summary_short for memory in shown[: len(new)]], told, most)
    decided = describe.reader(len(stored), mergeable, most)

    def read(data: Json) -> tuple[describe.Decision, ...]:
        decisions = decided(data)
        for one in decisions:
            if one.into and (wrong := _lost(one.text, candidates[one.target - 1], candidates[one.into - 1])):
                raise ValueError(wrong)
        return decisions

    return consult(workspace, prompt, read, within=COMPACTION_WITHIN_SECONDS, keep=TEXT, may_wait=True)[0]


def _lost(text: str, gone: Memory, into: Memory) -> str:
    """What would be lost if `into` took `gone` in and said `text`; empty where nothing is."""
    if gone.kind != into.kind and gone.kind in RULE_KINDS:  # merged into another, it would bind nobody
        return f"a memory of kind {gone.kind} can only become part of another {gone.kind}"
    return lacking(text, (gone.raw, into.raw))


def _seen(decision: describe.Decision, candidates: Sequence[Memory]) -> Json:
    """A decision, with the memories as they were when the model was asked."""
    target, into = (
        {"id": memory.id, "digest": memory_digest(memory)} if memory else None
        for memory in (candidates[number - 1] if number else None for number in (decision.target, decision.into))
    )
    return {"target": target, "into": into, "text": decision.text, "reason": decision.reason}
