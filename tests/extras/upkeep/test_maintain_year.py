"""A year of upkeep: what somebody told is answered to its last day, and what only happened or was guessed goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memcli.app.check import check
from memcli.app.inbox import waiting
from memcli.app.recall import recall
from memcli.app.remember import prepare, remember
from memcli.app.trash import collect
from memcli.app.workspace import Workspace, load
from memcli.extras.inbox.review import accept
from memcli.extras.restore.restoring import restore_run
from memcli.extras.upkeep.maintain import check_tasks, maintain, maintain_behind
from memcli.model.findings import RELATED, Resolution
from memcli.model.recall import Query
from memcli.model.space import Policy
from memcli.model.usage import HELPFUL, RECALL, UNHELPFUL, Use
from memcli.record import replace
from memcli.store.layout import Layout
from memcli.store.notes import LocalUsage
from memcli.store.state import State
from tests.conftest import open_at, rewrite

MONTHS = [f"2030-{month:02}-01T08:00:00Z" for month in range(1, 13)] + ["2031-01-01T08:00:00Z"]
SERVICES = ("billing", "search", "orders", "login", "upload", "report")
CITIES = ("Oslo", "Dublin", "Mumbai", "Lisbon", "Osaka", "Quito")

TOLD = {
    **{f"Which port does rack {n} listen on?": ("fact", f"Rack {n} listens on port {8100 + n}.") for n in range(1, 23)},
    **{
        f"Where does the {name} service run?": ("decision", f"The {name} service runs in {city}.")
        for name, city in zip(SERVICES, CITIES, strict=True)
    },
    **{
        f"How often may the {name} worker retry?": ("constraint", f"The {name} worker must retry at most {n} times.")
        for n, name in enumerate(SERVICES, 2)
    },
    **{
        f"When may the {name} database be restarted?": ("negative", f"Never restart the {name} database on day {n}.")
        for n, name in enumerate(SERVICES, 3)
    },
    **{
        f"How do we deploy the {name} gateway?": ("procedure", f"To deploy the {name} gateway, run make {name}-release.")
        for name in SERVICES
    },
    **{
        f"Which format do the logs of the {name} cache have?": ("preference", f"We prefer CSV{n} for logs of the {name} cache.")
        for n, name in enumerate(SERVICES)
    },
}  # fmt: skip
REPLACED = {"Which port does rack 3 listen on?": "Rack 3 now listens on port 9103."}
PASSING = [("inferred", "The team seems to like tabs."), ("inferred", "Somebody may work from home.")]


@pytest.fixture
def now() -> list[str]:
    return [MONTHS[0]]


@pytest.fixture
def store(tmp_path: Path, now: list[str]) -> Workspace:
    opened = open_at(tmp_path / ".memory", MEMCLI_EMBEDDER="off")
    usage = LocalUsage(State(Layout(opened.root)))
    return opened.copy_with(clock=lambda: now[0], usage=usage, is_space_named=False)


def tell(workspace: Workspace, kind: str, text: str, supersedes: str | None = None) -> None:
    candidate = prepare(workspace, {"raw": text, "kind": kind})
    resolution = Resolution(check(workspace, [candidate], supersedes))
    assert {one.kind for one in resolution.checks[0]} <= {RELATED}
    remember(workspace, [candidate], supersedes, resolution=resolution)


def answers(workspace: Workspace, question: str) -> list[str]:
    (bundle,) = recall(workspace, [Query(topic=question, now=workspace.clock(), limit=5)], with_global=False)
    use = Use(workspace.clock(), RECALL, workspace.space, tuple(section.memory.id for section in bundle.sections))
    workspace.usage.note([use])
    return [section.memory.raw for section in bundle.sections]


def check_answers(workspace: Workspace, holding: dict[str, str], questions: list[str]) -> None:
    """Each question gets what holds first."""
    for question in questions:
        assert answers(workspace, question)[0] == holding[question]


def judge(workspace: Workspace, month: int) -> None:
    """The user judges some of what is shown: what answers a question, and what does not."""
    known = [memory for memory in load(workspace).objects if memory.active]
    for place, memory in enumerate(known):
        if place % 5 == month % 5:
            act = HELPFUL if place % 2 else UNHELPFUL
            workspace.usage.judge([Use(workspace.clock(), act, workspace.space, (memory.id,))])


def by_hand(workspace: Workspace) -> Iterator[str]:
    yield from (done.run for done in maintain(workspace, check_tasks(()), [workspace.space]) if done.run)


def behind(workspace: Workspace) -> Iterator[str]:
    """As the policy `auto` does it, and whoever accepts all that it proposes."""
    yield from (done.run for done in maintain_behind(workspace.copy_with(space=workspace.main)) if done.run)
    known = {run.name for run in workspace.trash.runs()}
    accept(workspace, waiting(workspace))
    yield from (run.name for run in workspace.trash.runs() if run.name not in known)


@pytest.mark.parametrize(
    ("upkeep", "space"),
    [(behind, "journal"), *(pytest.param(upkeep, "main", marks=pytest.mark.slow) for upkeep in (by_hand, behind))],
)
def test_what_was_told_is_answered_until_it_is_replaced(
    store: Workspace, now: list[str], upkeep: Callable[[Workspace], Iterator[str]], space: str
) -> None:
    auto = Policy(upkeep="auto", grace_days=10_000)
    rewrite(store.store, lambda before: replace(before, policy=auto))
    if space != "main":
        rewrite(store.store, lambda before: replace(before, policy=replace(auto, visibility="private")), space)
    workspace = store.copy_with(space=space)
    assert len(TOLD) == 52
    for kind, text in (*TOLD.values(), *PASSING):
        tell(workspace, kind, text)
    holding = {question: text for question, (_, text) in TOLD.items()}
    runs: list[str] = []
    for month, time in enumerate(MONTHS[1:], 1):
        now[0] = time
        if month == 5:
            for question, text in REPLACED.items():
                old = next(memory for memory in load(workspace).objects if memory.raw == holding[question])
                tell(workspace, "fact", text, old.id)
                holding[question] = text
        judge(workspace, month)
        runs += upkeep(workspace)
        collect(workspace)
        asked = list(holding) if month == len(MONTHS) - 1 else list(holding)[month % 9 :: 9]
        check_answers(workspace, holding, asked)
    gone = {memory.raw for memory in load(workspace).objects if not memory.active}
    assert gone == {text for _, text in PASSING}
    for run in reversed(runs):
        restore_run(workspace, run)
    check_answers(workspace, holding, list(holding))
