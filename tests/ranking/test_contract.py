"""What every backend promises."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.app.recall import recall
from memcli.app.workspace import Workspace
from memcli.model.recall import BACKENDS, Bundle, Query
from memcli.ranking import RANKERS
from memcli.render import RENDERERS
from tests.conftest import NOW, memory, open_at, rewrite

MEMORIES = [
    memory(
        "pg", path="db/postgresql", kind="decision", raw="We chose PostgreSQL because of JSONB.", tags=("database",)
    ),
    memory("port", path="db/port", kind="config", raw="PostgreSQL listens on port 5432.", tags=("database", "network")),
    memory("push", path="git/force-push", kind="negative", raw="Never force-push to main.", relevance="high"),
    memory("token", path="auth/tokens", raw="Access tokens live fifteen minutes.", pinned=True),
    memory("old", path="db/mysql", kind="decision", raw="We use MySQL.", superseded_by="mem_pg"),
    memory("gone", path="db/oracle", raw="PostgreSQL replaced Oracle.", active=False),
    memory("later", path="db/next", raw="PostgreSQL 18 arrives.", valid_from="2026-06-01T00:00:00Z"),
    memory("past", path="db/last", raw="PostgreSQL 12 runs.", valid_until="2025-06-01T00:00:00Z"),
    memory(
        "diff", path="code/db.py", kind="diff", raw="def connect_postgresql(): ...", created_at="2025-12-01T00:00:00Z"
    ),
]


@pytest.fixture(params=sorted(RANKERS))
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def filled(tmp_path: Path) -> Workspace:
    workspace = open_at(tmp_path)
    rewrite(workspace.store, lambda space: space.put(MEMORIES, NOW))
    return workspace


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """More memories that match than there are candidates, of commits, documents and notes."""
    workspace = open_at(tmp_path_factory.mktemp("many"), MEMCLI_EMBEDDER="hashed")
    kinds = ("diff", "guide", "fact", "log")
    memories = [
        memory(
            f"m{n:03}",
            path=f"notes/{n}",
            kind=kinds[n % 4],
            raw=f"{'PostgreSQL ' * (1 + n % 7)}in room {n} of {'the old ' * (n % 11)}house.",
            metadata={"group": f"commit{n // 12}"} if n % 4 == 0 else {},
        )
        for n in range(300)
    ]
    rewrite(workspace.store, lambda space: space.put(memories, NOW))
    return workspace


def ask(workspace: Workspace, backend: str, topic: str = "postgresql", **options: object) -> Bundle:
    query = Query(topic=topic, now=NOW, **options)  # type: ignore[arg-type]
    return next(iter(recall(workspace.copy_with(backend=backend), [query])))


def ids(bundle: Bundle) -> list[str]:
    return [section.memory.id.removeprefix("mem_") for section in bundle.sections]


def test_the_same_question_has_the_same_answer(filled: Workspace, backend: str) -> None:
    assert ask(filled, backend).sections == ask(filled, backend).sections


def test_what_answers_is_found(filled: Workspace, backend: str) -> None:
    assert {"pg", "port", "diff"} <= set(ids(ask(filled, backend)))


def test_hidden_memories_stay_hidden(filled: Workspace, backend: str) -> None:
    assert not {"old", "gone", "later", "past"} & set(ids(ask(filled, backend, "postgresql mysql oracle")))


def test_time_travel(filled: Workspace, backend: str) -> None:
    assert "past" in ids(ask(filled, backend, at="2025-01-01T00:00:00Z"))
    assert "later" in ids(ask(filled, backend, at="2026-07-01T00:00:00Z"))


FILTERS: list[tuple[dict[str, object], set[str]]] = [
    ({"kinds": ("decision",)}, {"pg"}),
    ({"tags": ("network",)}, {"port"}),
    ({"under": "db"}, {"pg", "port"}),
    ({"under": "d"}, set()),
    ({"until": "2026-01-01T00:00:00Z"}, {"diff"}),
    ({"since": "2026-01-01T00:00:00Z", "kinds": ("config", "diff")}, {"port"}),
    ({"scope": "global"}, set()),
    ({"require_high_relevance": True}, set()),
]


def test_filters_are_obeyed(filled: Workspace, backend: str) -> None:
    found = [(options, set(ids(ask(filled, backend, **options))) - {"token", "push"}) for options, _ in FILTERS]
    assert found == FILTERS


def test_the_limit_is_obeyed(filled: Workspace, backend: str) -> None:
    for limit in (1, 2, 3):
        assert len(ids(ask(filled, backend, limit=limit))) == limit


@settings(max_examples=10)
@given(limits=st.lists(st.integers(1, 400), min_size=2, max_size=2, unique=True))
def test_a_larger_limit_only_shows_more(many: Workspace, limits: list[int]) -> None:
    fewer, more = ([s.memory.id for s in ask(many, "fusion", limit=n).sections] for n in sorted(limits))
    assert more[: len(fewer)] == fewer


def test_pins_that_do_not_match_take_no_place(filled: Workspace, backend: str) -> None:
    bundle = ask(filled, backend, limit=2)
    assert set(ids(bundle)) < {"pg", "port", "diff"}
    assert [section.memory.id for section in bundle.always] == ["mem_token"]


def test_scores_fall_and_ties_go_by_id(filled: Workspace, backend: str) -> None:
    rest = [s for s in ask(filled, backend).sections if not s.memory.pinned and s.memory.relevance != "high"]
    assert [s.score for s in rest] == sorted((s.score for s in rest), reverse=True)
    twins = [memory(name, path=f"twin/{name}", raw="A quokka smiles.") for name in ("z", "y", "x")]
    rewrite(filled.store, lambda space: space.put(twins, NOW))
    found = [name for name in ids(ask(filled, backend, "quokka smiles")) if name in "xyz"]
    assert found == ["x", "y", "z"]


def test_the_score_is_the_sum_of_its_parts(filled: Workspace, backend: str) -> None:
    for section in ask(filled, backend).sections:
        if section.why:
            assert section.score == pytest.approx(sum(section.why.values()), abs=0.001)


def test_nothing_relevant_is_said(filled: Workspace, backend: str) -> None:
    bundle = ask(filled, backend, "zxqv wplk")
    assert ids(bundle) == []
    assert [section.memory.id for section in bundle.always] == ["mem_token"]
    assert bundle.reason in ("no_match", "below_floor")
    assert ask(filled, backend, kinds=("entity",)).reason == "all_filtered"


def test_an_empty_space(tmp_path: Path, backend: str) -> None:
    bundle = ask(open_at(tmp_path), backend)
    assert (bundle.sections, bundle.reason) == ((), "empty_space")


def test_a_space_of_one(tmp_path: Path, backend: str) -> None:
    workspace = open_at(tmp_path)
    rewrite(workspace.store, lambda space: space.put([MEMORIES[0]], NOW))
    assert ids(ask(workspace, backend)) == ["pg"]


def test_no_question_is_an_error(filled: Workspace, backend: str) -> None:
    for topic in ('"', "*", "NEAR(a b)", "-x", "a AND OR", "raw:postgresql", "(", "\U0001f600", "the of", "'; --"):
        ask(filled, backend, topic)


def test_preferences_raise(filled: Workspace, backend: str) -> None:
    def score(name: str, **options: object) -> float:
        found = {s.memory.id: s.score for s in ask(filled, backend, **options).sections}
        return found[f"mem_{name}"]

    assert score("port", prefer_kinds=("config",)) > score("port")
    assert score("port", prefer_tags=("network",)) > score("port")


def test_no_score_has_more_than_four_decimals(filled: Workspace, backend: str) -> None:
    bundle = ask(filled, backend, "which port does postgresql use?", explain=True)
    decimals = re.findall(r"\d\.(\d+)", "\n".join(render()(bundle) for render in RENDERERS.values()))
    assert decimals
    assert max(map(len, decimals)) <= 4


def test_a_policy_can_name_every_backend() -> None:
    assert tuple(sorted(RANKERS)) == BACKENDS
