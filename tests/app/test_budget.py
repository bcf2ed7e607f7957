from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.app.budget import fit
from memcli.errors import UsageError
from memcli.model.recall import Bundle, Query, Section
from memcli.model.tokens import count_tokens
from memcli.render import RENDERERS
from tests.conftest import NOW, memory
from tests.strategies import memories


def bundle(sections: list[Section], topic: str = "a topic") -> Bundle:
    return Bundle(
        space="main",
        query=Query(topic=topic, now=NOW, budget=1),
        sections=tuple(sections),
        matched=len(sections) + 3,
        size=99,
    )


sections = st.builds(
    Section,
    memory=memories(),
    score=st.floats(0, 1),
    why=st.just({"words": 0.5}),
    space=st.sampled_from(["main", "other"]),
)


@pytest.mark.parametrize("name", sorted(RENDERERS))
@given(found=st.lists(sections, max_size=6), budget=st.integers(0, 800))
def test_the_budget_is_never_exceeded(name: str, found: list[Section], budget: int) -> None:
    render = RENDERERS[name]()
    try:
        fitted = fit(bundle(found), render, budget)
    except UsageError:
        return
    assert count_tokens(render(fitted)) <= budget


def test_a_tight_budget_shows_less_of_more() -> None:
    found = [
        Section(
            memory(f"m{n}", raw="word " * 200, summary_micro="micro " * 5, summary_short="short " * 20, summary_long="long " * 60),
            1.0 - n / 10, {"words": 1.0}, "main",
        )
        for n in range(5)
    ]  # fmt: skip
    render = RENDERERS["prompt"]()
    roomy, middling, tight = (fit(bundle(found), render, n) for n in (3000, 700, 250))
    assert [s.level for s in roomy.sections] == ["raw"] * 5
    assert len(middling.sections) == 5
    assert {"raw"} != {s.level for s in middling.sections}
    assert 1 <= len(tight.sections) <= 5
    assert tight.withheld + len(tight.sections) == 8


def test_a_budget_below_the_frame_is_refused() -> None:
    with pytest.raises(UsageError, match="too small"):
        fit(bundle([]), RENDERERS["prompt"](), 5)
