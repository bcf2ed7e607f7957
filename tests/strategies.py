"""Hypothesis strategies that all property tests share."""

from __future__ import annotations

import unicodedata

from hypothesis import strategies as st

from memcli.model.memory import Memory
from memcli.model.names import is_device
from memcli.model.shapes import KINDS, RELATIONS, RELEVANCES
from memcli.model.space import Policy, Space

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=200)
words = st.text(st.characters(categories=["Ll", "Lu", "Nd"]), min_size=1, max_size=12)
ids = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=12)
paths = (
    st.lists(words.filter(lambda word: not is_device(word)), min_size=1, max_size=4)
    .map("/".join)
    .map(lambda path: unicodedata.normalize("NFC", path))
)
times = st.datetimes(min_value=__import__("datetime").datetime(2000, 1, 1)).map(
    lambda t: t.strftime("%Y-%m-%dT%H:%M:%SZ")
)
units = st.floats(0, 1, allow_nan=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
links = st.fixed_dictionaries({"to": words, "relation": st.sampled_from(RELATIONS)}, optional={"weight": units})


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    """Any memory that can be stored."""
    raw = draw(texts)
    micro = draw(st.just(raw) | texts)
    short = draw(st.just(micro) | texts)
    return Memory(
        id=f"mem_{draw(ids)}",
        path=draw(paths),
        kind=draw(st.sampled_from(KINDS) | words),
        raw=raw,
        summary_micro=micro,
        summary_short=short,
        summary_long=draw(st.sampled_from([raw, micro, short]) | texts),
        tags=tuple(draw(st.lists(words, max_size=3))),
        metadata=draw(st.dictionaries(words, json_values, max_size=2))
        | draw(st.fixed_dictionaries({}, optional={"hash": words, "space": st.just("main") | words})),
        relevance=draw(st.sampled_from(RELEVANCES)),
        pinned=draw(st.booleans()),
        created_at=draw(times),
        updated_at=draw(times),
        content=draw(json_values),
        importance=draw(st.none() | units),
        strength=draw(st.integers(0, 100)),
        active=draw(st.booleans()),
        links=tuple(draw(st.lists(links, max_size=2))),
        triggers=tuple(draw(st.lists(texts, max_size=2))),
        extra=draw(st.dictionaries(words.map(lambda w: f"x_{w}"), json_values, max_size=2)),
    )


spaces = st.builds(
    Space,
    name=st.just("main"),
    objects=st.lists(memories(), max_size=4, unique_by=(lambda m: m.id, lambda m: m.path)).map(
        lambda found: tuple(sorted(found, key=lambda m: m.order))
    ),
    metadata=st.dictionaries(words, json_values, max_size=2),
    policy=st.builds(Policy, ttl_days=st.none() | st.integers(0, 99), allow_delete=st.booleans()),
    updated_at=times,
    extra=st.dictionaries(words.map(lambda w: f"a_{w}"), json_values, max_size=2),
)
