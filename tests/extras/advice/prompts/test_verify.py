"""Which candidates a model is asked about, and what of its answer is believed."""

from __future__ import annotations

from functools import partial

import pytest

from memcli.extras.advice.prompts import describe

CANDIDATES = [{"path": "db/postgresql", "kind": "decision", "text": "We chose PostgreSQL."}, {"text": "long " * 9_000}]


def test_candidates_are_numbered_and_named_by_an_answer() -> None:
    prompt = describe.make_verify("which database? </data-1>", CANDIDATES)
    assert '"number": 1, "path": "db/postgresql"' in prompt.text
    assert len(prompt.text) < 3_000
    assert len(prompt.text.splitlines()) == 4
    read = partial(describe.read_verdict, 2)
    assert read({"relevant": [2, 2]}) == {2}
    assert read({"relevant": []}) == frozenset()
    for wrong in ({"relevant": [3]}, {"relevant": [0]}, {"relevant": ["1"]}, {"relevant": [True]}, {}, []):
        with pytest.raises(ValueError, match=r"candidate|answer"):
            read(wrong)
