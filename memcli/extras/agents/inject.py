"""Inject: what an agent is shown without having asked: at the start of a session, for a prompt, before it edits a file.
Who shows it notes so: these are only chosen from."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from memcli.app.budget import fit
from memcli.app.recall import ALWAYS_MOST, Verify, recall
from memcli.app.topic import MAX_READ, beginning
from memcli.app.workspace import Workspace
from memcli.extras.agents.wanted import wanted_of
from memcli.model.anchors import FileEdit
from memcli.model.memory import RULE_KINDS
from memcli.model.recall import NO_MATCH, Bundle, Query, Section
from memcli.model.tokens import count_tokens
from memcli.record import replace
from memcli.settings import REPO

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.ports import Renderer

MAX_TOKENS = 2_000
MAX_CHARACTERS = 9_000
FILE_BACKEND = "basic"
"""For files only leads count, which no ranking finds."""
_MOST_CHANGED = 10
_CHANGES = ("code", "config", "diff")
_LOOKED_AT = 8
_MOST_RELEVANT = 2
"""So many memories are shown for a prompt, beside those that lead."""
_LEAST_AUTHORED, _LEAST_DOCUMENT, _LEAST_CHANGE = 0.3, 0.15, 0.6
"""The confidence from which on a memory is shown where nobody asked, by what it is. Of a document the best passage was chosen
among hundreds, and its probabilities are low; a change shows at most what was, and rarely what the prompt needs."""
_LEAST_SHARE = 0.4
"""What of the best confidence a memory must have."""
DEADLINE_SECONDS, _PATIENCE_SECONDS = 1.0, 0.15
"""How long the search for meaning, and missing vectors in it, may take where an agent waits: words answer within a third of
the three seconds that a hook has."""


def for_start(workspace: Workspace, since: str | None) -> Bundle:
    """What is pinned, and then what was told or changed at the time `since` or later, newest first. Raises what recall raises."""
    now = workspace.clock()
    space = workspace.space if workspace.is_space_named else workspace.main
    queries = [Query(topic="", now=now, budget=MAX_TOKENS)]
    if since is not None:
        queries.append(replace(queries[0], changed_since=since, limit=_MOST_CHANGED))
    pins, *changed = recall(workspace.copy_with(is_noted=False, space=space, is_alone=True), queries)
    known = {_name(section) for section in pins.always[:ALWAYS_MOST]}
    new = [section for bundle in changed for section in bundle.sections if _name(section) not in known]
    return replace((changed or [pins])[0], sections=(*pins.always[:ALWAYS_MOST], *new), always=())


def for_prompt(
    workspace: Workspace, prompt: str, deadline: float | None = DEADLINE_SECONDS, verify: Verify | None = None
) -> Bundle:
    """What a prompt needs, or nothing; `verify` chooses from it. Raises what recall raises."""
    redact = workspace.redactor.cleaner(workspace.in_force(workspace.store.policy(workspace.main)))
    wanted = wanted_of(redact(beginning(prompt, MAX_READ)))
    query = Query(
        topic=wanted, now=workspace.clock(), limit=_LOOKED_AT, budget=MAX_TOKENS, deadline=deadline,
        patience=math.inf if deadline is None else _PATIENCE_SECONDS, is_prompt=True,
    )  # fmt: skip
    if not wanted:
        return Bundle(space=workspace.space, query=query, reason=NO_MATCH)
    (bundle,) = recall(workspace.copy_with(is_noted=False), [query], verify=partial(_chosen, verify))
    return bundle


def _chosen(verify: Verify | None, query: Query, answer: Callable[[Query], Bundle]) -> Bundle:
    def needed(asked: Query) -> Bundle:
        return _needed(answer(asked))

    return verify(query, needed) if verify else needed(query)


def _needed(bundle: Bundle) -> Bundle:
    """What of the bundle is probable enough to be shown where nobody asked: what leads, and the most probable others, of which
    at most one was read from the repository: documents are long, and seldom needed twice."""
    leads = [section for section in bundle.sections if section.is_lead]
    sure = [one for one in bundle.sections if not one.is_lead and (one.confidence or 0.0) >= _least(one)]
    best = max((section.confidence or 0.0 for section in sure), default=0.0)
    sure = [section for section in sure if (section.confidence or 0.0) >= _LEAST_SHARE * best]
    read = next((section for section in sure if section.space == REPO), None)
    sure = [section for section in sure if section.space != REPO or section is read]
    return replace(bundle, sections=(*leads, *sure[:_MOST_RELEVANT]), always=())


def _least(section: Section) -> float:
    """The confidence that a section needs where nobody asked for it."""
    if section.space != REPO:
        return _LEAST_AUTHORED
    return _LEAST_CHANGE if section.memory.kind in _CHANGES else _LEAST_DOCUMENT


def for_names(workspace: Workspace, names: Sequence[str]) -> Bundle:
    """The memories that `stamps` named before, as they are now, without those that no longer hold. Raises what recall
    raises."""
    place = {name: n for n, name in enumerate(names)}
    ids = tuple(name.rpartition("/")[2] for name in names)
    query = Query(topic="", now=workspace.clock(), ids=ids, limit=len(ids), budget=MAX_TOKENS)
    (bundle,) = recall(workspace.copy_with(is_noted=False), [query])
    chosen = sorted((s for s in bundle.sections if _name(s) in place), key=lambda section: place[_name(section)])
    return replace(bundle, sections=tuple(chosen), always=())


def for_files(workspace: Workspace, edits: Sequence[FileEdit]) -> Bundle:
    """The negatives and constraints that are anchored in the files, or that a trigger brings up; for a workspace whose
    backend is FILE_BACKEND. Raises what recall raises."""
    query = Query(topic="", now=workspace.clock(), kinds=RULE_KINDS, budget=MAX_TOKENS, edits=tuple(edits))
    (bundle,) = recall(workspace.copy_with(is_noted=False), [query])
    return replace(bundle, sections=tuple(section for section in bundle.sections if section.is_lead), always=())


def fitted(bundle: Bundle, render: Renderer, is_unseen: Callable[[str, str], bool]) -> Bundle:
    """Of the bundle what is new to a session, as much of the best as an injection may hold."""
    new = tuple(section for section in bundle.sections if is_unseen(_name(section), _stamp(section)))
    if not new:
        return replace(bundle, sections=())
    bundle = chosen = replace(bundle, sections=new)
    budget = MAX_TOKENS
    while len(text := render(chosen)) > MAX_CHARACTERS or count_tokens(text) > MAX_TOKENS:
        chosen = fit(bundle, render, budget)
        budget = budget * 9 // 10  # for texts of long words, which have more characters than tokens allow for
    return chosen


def stamps(bundle: Bundle) -> dict[str, str]:
    """The memories of a bundle, each with what differs once it changes."""
    return {_name(section): _stamp(section) for section in bundle.sections}


def _name(section: Section) -> str:
    return f"{section.space}/{section.memory.id}"


def _stamp(section: Section) -> str:
    return f"{section.memory.version} {section.memory.updated_at}"
