"""Calls of the language model of a workspace, whose answers are stored without secrets, so that a question is sent once; the
description of notes by it; and its advice before a write for which a space has no room."""

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
"""The kinds of stored answers, by what they repeat and are therefore deleted with: memories, questions without an answer, or
nothing."""

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
    """The model's answer without secrets, as `read` converts it, and whether it was stored before. With `keep` (TEXT, QUESTION
    or VERDICT), the answer is stored. `within` is the time limit in seconds, or a function that returns it, which is called
    only if the model is.

    Raises UsageError if no model is configured, and what `LanguageModel.ask` and `Workspace.language_model` raise.
    """
    if keep and (found := stored_answer(workspace, prompt, read)):
        return found[0], True
    model = workspace.language_model(may_wait=may_wait)
    seconds = within() if callable(within) else within
    # Read before the call: an answer that repeats a memory which is purged meanwhile is not stored.
    since = workspace.answers.erasures() if keep else 0
    answer, value = model.ask(prompt, lambda data: _understood(workspace, data, read), seconds)
    if keep and workspace.model:
        workspace.answers.keep(_key(prompt, workspace.model), answer, kind=keep, since=since)
    return value, False


def stored_answer(workspace: Workspace, prompt: Prompt, read: Callable[[Json], T]) -> list[T]:
    """The stored answer to a prompt, as `read` converts it; empty if there is none. Never calls the model."""
    if not workspace.model:
        return []
    with suppress(ValueError, UsageError):
        if (answer := workspace.answers.get(_key(prompt, workspace.model))) is not None:
            return [_understood(workspace, answer, read)[1]]
    return []


def _understood(workspace: Workspace, data: Json, read: Callable[[Json], T]) -> tuple[Json, T]:
    """An answer without secrets, and the value that `read` converts it to. Raises ValueError for an invalid answer."""
    if not isinstance(data, dict):
        raise ValueError("the answer must be an object")  # noqa: TRY004 - as `LanguageModel.ask` wants it
    clean = clean_values(workspace.redactor.detector(workspace.space), data)
    return clean, read(clean)


def _key(prompt: Prompt, model: str) -> str:
    """A digest of the model and all parts of the prompt. Raises UsageError for an invalid name of a model."""
    parts = [
        str(model_name(model)), prompt.task, prompt.system, prompt.text, dict(prompt.schema), prompt.max_tokens,
        None if prompt.temperature is None else float(prompt.temperature),  # 1 and 1.0 differ in JSON
    ]  # fmt: skip
    return sha256(encode_line(parts)).hexdigest()


WITHIN_SECONDS = 60.0
_MOST_FAILURES = 2
"""The failures in a row after which the rest of a batch is described locally."""


class AskingSummarizer:
    """Describes notes by a language model: the fields that the caller left out. With `may_fall_back`, notes are described
    locally if the model fails."""

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
        """The number of texts that were described locally."""

    def describe(self, fields: Mapping[str, object]) -> dict[str, object]:
        """The fields to add to those of a note. Raises ProviderError, RefusedError, UsageError."""
        found = self._workspace.describe(fields)
        wanted = missing(fields)
        if not wanted:
            return found
        answer = self._ask(fields)
        if answer is None:
            self.local += 1
            return found
        pinned = {"pinned": True} if answer["auto_pin"] and "pinned" not in fields and not is_read(fields) else {}
        return {**found, **{name: answer[name] for name in wanted}, **pinned}

    def _ask(self, fields: Mapping[str, Any]) -> dict[str, Any] | None:
        """The fields in the model's answer; None if it fails and the note may be described locally."""
        if self._failures >= _MOST_FAILURES:
            return None
        subject = Subject.of(fields)
        hints = {name: fields[name] for name in ("kind", "relevance") if fields.get(name)}
        place = {"suggested path": subject.hint, "project": subject.project, "file": subject.source}
        hints |= {"tags": list(fields.get("tags") or ()), **place}
        prompt = describe.make(subject.text, hints, temperature=self._temperature, max_tokens=self._max_tokens)
        try:
            answer, _ = consult(self._workspace, prompt, partial(_read, subject.text), within=WITHIN_SECONDS, keep=TEXT)
        except (ProviderError, RefusedError) as error:
            if not self._may_fall_back:
                raise
            # A refusal, as of the quota, would only repeat itself.
            self._failures = _MOST_FAILURES if isinstance(error, RefusedError) else self._failures + 1
            self._workspace.warn(f"{error.message}; described locally")
            return None
        self._failures = 0
        path, first = str(answer["path"]), slug(subject.project)
        is_within = not first or path.split("/", maxsplit=1)[0] == first
        return {**answer, "path": path if is_within else f"{first}/{path}"}


def _read(note: str, data: Json) -> dict[str, Any]:
    """The fields in the answer. Raises ValueError for an invalid answer, and for instructions that the note does not
    contain."""
    fields = describe.read(data)
    summaries = (fields[name] for name in ("summary_micro", "summary_short", "summary_long"))
    texts = [fields["path"], *fields["tags"], *summaries]
    # A memory that contains instructions is withheld from recall, so those of an answer would hide the note.
    if added := sorted(find_reasons("\n".join(texts)) - find_reasons(note)):
        raise ValueError(f"it contains {', '.join(added)}, and the note does not")
    return fields


COMPACTION_WITHIN_SECONDS = 30.0
MOST_DECISIONS = 3
"""The most memories that a model decides about; the others that must go are those of the least value."""
MOST_CANDIDATES = 12


def ask(workspace: Workspace, added: int, plan: Callable[[Shelf], Change]) -> Json:
    """The advice of a model for a write that adds up to `added` memories, as `advised.follow` reads it. None if there is room,
    or, with a warning, if the model fails: the least valuable memories go then. `plan` returns the change without compaction.

    The lock of the space must not be held, since the call may take COMPACTION_WITHIN_SECONDS.
    """
    space = load_space(workspace.store, workspace.space)
    most = space.policy.max_objects
    if most is None or len(space.objects) + added <= most:
        return None
    try:
        needed, new, candidates = _look(space, plan, workspace.clock())
    except MemcliError:
        return None  # the write raises it, too, and reports it
    if needed <= 0 or not candidates:
        return None
    try:
        decisions = _decide(workspace, space, min(needed, MOST_DECISIONS), new, candidates)
    except (ProviderError, RefusedError, UsageError) as error:
        workspace.warn(f"{error.message}; the least valuable memories make room")
        return None
    return {"model": workspace.model, "decisions": [_seen(one, candidates) for one in decisions]}


def _look(space: Space, plan: Callable[[Shelf], Change], now: str) -> tuple[int, list[Memory], list[Memory]]:
    """The number of memories that must go beside forgotten and superseded ones, the memories that come, and the least valuable
    of those that may go."""
    shelf = SpliceShelf(encode_space(space), space.name)
    draft = Draft(shelf)
    change = plan(shelf)
    draft.take(change)
    excess, spared = excess_of(draft, draft.grown), {memory.id for memory in change.put}
    free = surplus(draft.load().objects, draft.size, space.policy.compaction, now, spared)
    needed = excess - sum(map(is_spent, free))  # forgotten and superseded memories go first, without advice
    known = {memory.id: memory for memory in space.objects}
    new = [memory for memory in change.put if memory.id not in known or memory.hash != known[memory.id].hash]
    return needed, new, [memory for memory in free if may_be_named(memory, now)][:MOST_CANDIDATES]


def _decide(
    workspace: Workspace, space: Space, most: int, new: Sequence[Memory], candidates: Sequence[Memory]
) -> tuple[describe.Decision, ...]:
    """The model's decisions about the candidates, at most `most`. Raises ProviderError, RefusedError, UsageError."""
    shown = workspace.redactor.show([*new, *candidates], space.policy)
    stored = shown[len(new) :]
    mergeable = [
        number
        for number, (memory, clean) in enumerate(zip(candidates, stored, strict=True), 1)
        # A text with secrets is not merged: the model sees it without them, so that they would be lost.
        if memory.raw == clean.raw and is_mergeable(memory, describe.MOST_TEXT)
    ]
    numbered = [
        {
            "path": memory.path, "kind": memory.kind, "date": memory.updated_at[:10], "relevance": memory.relevance,
            "mergeable": number in mergeable, "text": memory.raw or memory.summary_short,
        }
        for number, memory in enumerate(stored, 1)
    ]  # fmt: skip
    prompt = describe.make_compact([memory.raw or memory.summary_short for memory in shown[: len(new)]], numbered, most)

    def read(data: Json) -> tuple[describe.Decision, ...]:
        decisions = describe.read_decisions(len(stored), mergeable, most, data)
        for one in decisions:
            if one.into and (wrong := _lost(one.text, candidates[one.target - 1], candidates[one.into - 1])):
                raise ValueError(wrong)
        return decisions

    return consult(workspace, prompt, read, within=COMPACTION_WITHIN_SECONDS, keep=TEXT, may_wait=True)[0]


def _lost(text: str, gone: Memory, into: Memory) -> str:
    """The reason why `gone` must not be merged into `into` as `text`: what would be lost; empty if nothing is."""
    if gone.kind != into.kind and gone.kind in RULE_KINDS:  # as part of another kind, a rule would bind nobody
        return f"a memory of kind {gone.kind} can only become part of another {gone.kind}"
    return lacking(text, (gone.raw, into.raw))


def _seen(decision: describe.Decision, candidates: Sequence[Memory]) -> Json:
    """A decision as JSON, with ids and digests of its memories, by which a later change of them is noticed."""
    target, into = (
        {"id": memory.id, "digest": memory_digest(memory)} if memory else None
        for memory in (candidates[number - 1] if number else None for number in (decision.target, decision.into))
    )
    return {"target": target, "into": into, "text": decision.text, "reason": decision.reason}
