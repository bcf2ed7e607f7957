"""The features of `fusion` and of what is printed, each with a way to switch it off: a documented constant set to what it is without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from types import ModuleType
from typing import Any

from tasks import KeptView

from memcli.app import choice
from memcli.index import meaning
from memcli.model.recall import FIELDS
from memcli.policy import answer
from memcli.ranking import answers, fusion, lexical
from memcli.record import replace
from memcli.text.passages import HUNK, MARKUP, MESSAGE

Switch = Callable[[Sequence[KeptView]], AbstractContextManager[None]]


@contextmanager
def patched(module: ModuleType, **constants: Any) -> Iterator[None]:
    """These constants of `module` for a while. Raises AttributeError for one that is not there."""
    before = {name: getattr(module, name) for name in constants}
    try:
        for name, value in constants.items():
            setattr(module, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


@contextmanager
def styles(**fields: float) -> Iterator[None]:
    """Every kind of text with these values in its style."""
    by_kind = {kind: replace(known, **fields) for kind, known in lexical._BY_KIND.items()}
    with patched(lexical, _BY_KIND=by_kind, PROSE=replace(lexical.PROSE, **fields)):
        yield


@contextmanager
def _without_meaning(views: Sequence[KeptView]) -> Iterator[None]:
    for view in views:
        view.has_meaning = False
    try:
        yield
    finally:
        for view in views:
            view.has_meaning = True


@contextmanager
def _without_windows(views: Sequence[KeptView]) -> Iterator[None]:
    with patched(meaning, WINDOW_SHARE=0.0):
        for view in views:
            view.forget()
        yield
    for view in views:
        view.forget()


def _constants(module: ModuleType, **values: Any) -> Switch:
    return lambda _: patched(module, **values)


def _style(**fields: float) -> Switch:
    return lambda _: styles(**fields)


def _field(name: str) -> Switch:
    def switch(_: Sequence[KeptView]) -> AbstractContextManager[None]:
        weights = list(lexical.FIELD_WEIGHTS)
        weights[FIELDS.index(name)] = 0.0
        return patched(lexical, FIELD_WEIGHTS=tuple(weights))

    return switch


def _all(*switches: Switch) -> Switch:
    @contextmanager
    def switch(views: Sequence[KeptView]) -> Iterator[None]:
        with ExitStack() as stack:
            for one in switches:
                stack.enter_context(one(views))
            yield

    return switch


SWITCHES: Mapping[str, Switch] = {
    "context: groups and neighbours": _constants(fusion, CONTEXT_CANDIDATES=0),
    "the best of the group": _style(group=0.0),
    "the words of the whole group": _style(group_words=0.0),
    "neighbours": _style(neighbours=0.0),
    "talk embedded together with what was said before": _without_windows,
    "members of the group that are no candidates": _constants(fusion, KIN_GROUPS=0),
    "one style for all kinds of text": lambda _: patched(lexical, _BY_KIND={}),
    "dates": _constants(lexical, DATE_WEIGHT=0.0),
    "speakers": _constants(lexical, SPEAKER_WEIGHT=0.0),
    "common words dropped": _constants(fusion, COMMON_SHARE=1.0),
    "a share of the whole question": _constants(fusion, WHOLE_SHARE=0.0, READ_WHOLE_SHARE=0.0),
    "field: path": _field("path"),
    "field: tags": _field("tags"),
    "field: summary": _field("summary"),
    "words in the score": _style(lexical=0.0),
    "meaning in the score": _style(lexical=1.0),
    "the model (words alone)": _without_meaning,
    "words alone, and no context": _all(_without_meaning, _constants(fusion, CONTEXT_CANDIDATES=0)),
    "priors": _constants(lexical, RECENCY_WEIGHT=0.0, IMPORTANCE_WEIGHT=0.0, RELEVANCE_WEIGHT=0.0),
    "tail cut": _all(_style(tail=0.0), _constants(fusion, TAIL_SHARE=0.0)),
}


def _without_form(form: str) -> Callable[[], AbstractContextManager[None]]:
    weights = {name: weight for name, weight in answers.FORM_WEIGHTS.items() if name != form}
    return partial(patched, answers, FORM_WEIGHTS=weights)


ANSWER_SWITCHES: Mapping[str, Callable[[], AbstractContextManager[None]]] = {
    "forms of passages: all count as prose": partial(patched, answers, FORM_WEIGHTS={}),
    "hunks count less": _without_form(HUNK),
    "messages count less": _without_form(MESSAGE),
    "markup counts less": _without_form(MARKUP),
    "words in the score of a passage": partial(patched, answers, LEXICAL_SHARE=0.0, TOLD_LEXICAL_SHARE=0.0),
    "meaning in the score of a passage": partial(patched, answers, LEXICAL_SHARE=1.0, TOLD_LEXICAL_SHARE=1.0),
    "a share of the whole question": partial(patched, fusion, WHOLE_SHARE=0.0, READ_WHOLE_SHARE=0.0),
    "common words dropped": partial(patched, fusion, COMMON_SHARE=1.0),
    "the heading of a version, where the topic asks since when": partial(patched, answers, SINCE_WEIGHT=0.0),
    "context: groups and neighbours": partial(patched, fusion, CONTEXT_CANDIDATES=0),
    "one entry a commit": partial(patched, fusion, one_each=lambda hits, _: tuple(hits)),
    "tail cut": partial(styles, tail=0.0),
    "what follows a passage under its heading": partial(patched, answer, SHOWN=0),
    "more passages of a memory": partial(patched, choice, MOST_MORE=0),
}
"""What decides which passages are printed, each feature with a way to switch it off."""
