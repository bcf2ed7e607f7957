"""Inject: what an agent is shown without having asked: at the start of a session, for a prompt, before it edits a file.
Who shows it notes so: these are only chosen from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from memcli.app.budget import fit
from memcli.app.recall import ALWAYS_MOST, Verify, recall
from memcli.app.workspace import Workspace
from memcli.model.anchors import FileEdit
from memcli.model.recall import Bundle, Query, Section
from memcli.model.tokens import count_tokens
from memcli.ports import Renderer
from memcli.record import replace

MAX_TOKENS = 2_000
MAX_CHARACTERS = 9_000
FILE_BACKEND = "basic"
"""For files only leads count, which no ranking finds."""
_FILE_KINDS = ("constraint", "negative")
_MOST_CHANGED = 10
_MOST_RELEVANT = 5
_LEAST_SHARE = 0.75
"""What of the best score a memory must have where nobody asked: the floor of recall is for the best one alone."""
DEADLINE_SECONDS = 1.5
"""How long the search for meaning may take where an agent waits."""


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
    """What is relevant to a prompt, or nothing; `verify` chooses from it. Raises what recall raises."""
    query = Query(topic=prompt, now=workspace.clock(), limit=_MOST_RELEVANT, budget=MAX_TOKENS, deadline=deadline)
    (bundle,) = recall(workspace.copy_with(is_noted=False), [query], verify=partial(_chosen, verify))
    return bundle


def _chosen(verify: Verify | None, query: Query, answer: Callable[[Query], Bundle]) -> Bundle:
    def strong(asked: Query) -> Bundle:
        return _strong(answer(asked))

    return verify(query, strong) if verify else strong(query)


def _strong(bundle: Bundle) -> Bundle:
    """What of the bundle is about as good as the best."""
    least = _LEAST_SHARE * max((section.score for section in bundle.sections), default=0.0)
    chosen = tuple(section for section in bundle.sections if section.is_lead or section.score >= least)
    return replace(bundle, sections=chosen, always=())


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
    query = Query(topic="", now=workspace.clock(), kinds=_FILE_KINDS, budget=MAX_TOKENS, edits=tuple(edits))
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
