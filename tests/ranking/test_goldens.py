"""What each backend answers, place by place: ids, scores and the reasons for them, in `golden/BACKEND.json`.

A change of ranking shows here, question by question. `pytest tests/ranking/test_goldens.py --update-golden` rewrites the
files; read the diff.
"""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memcli.app.workspace import Workspace
from memcli.embed.onnx import quantised
from memcli.model.recall import Query
from memcli.ranking import RANKERS, open_ranker
from tests.conftest import NOW, memory, open_at, rewrite

GOLDEN = Path(__file__).parent / "golden"
_PLACES = 8

_TEXTS: dict[str, tuple[str, str, str]] = {
    "pg": ("decision", "db/engine", "We chose PostgreSQL because of JSONB and row-level security."),
    "port": ("config", "db/port", "PostgreSQL listens on port 5432, behind pgbouncer on 6432."),
    "pool": ("fact", "db/pool", "The connection pool holds 20 connections for each worker."),
    "migrate": ("procedure", "db/migrations", "To migrate: run make migrate on staging, check the plan, then on production."),
    "lock": ("constraint", "db/locks", "A migration must not hold a table lock for more than two seconds."),
    "push": ("negative", "git/force-push", "Never force-push to main: the release job tags what it finds there."),
    "review": ("procedure", "git/review", "Every pull request needs two reviews, one of them by an owner of the code."),
    "tokens": ("decision", "auth/tokens", "Access tokens live fifteen minutes, refresh tokens thirty days."),
    "cookie": ("negative", "auth/cookies", "Session tokens live in the cookie, never in localStorage."),
    "ed": ("decision", "auth/signing", "We sign session tokens with Ed25519, so that rotating the key needs no restart."),
    "cache": ("guide", "web/cache", "Static files are cached for a year; their names carry a digest of the content."),
    "deploy": ("procedure", "ops/deploy", "To deploy: run make release, wait for the canary to turn green, then make promote."),
    "alert": ("fact", "ops/alerts", "The pager rings when the error rate passes two percent for five minutes."),
    "diff1": ("diff", "src/session.py", "+def refresh_session(token):\n+    return sign(token, key=current_key())"),
    "diff2": ("diff", "src/pool.py", "-POOL_SIZE = 10\n+POOL_SIZE = 20"),
    "talk1": ("log", "meetings/monday/1", "Ada: shall we drop MySQL support in the next release?"),
    "talk2": ("log", "meetings/monday/2", "Ben: yes, nobody has used it since we moved to PostgreSQL."),
    "pref": ("preference", "style/tests", "I prefer small tests with real files over mocks."),
}  # fmt: skip
_QUESTIONS = (
    "which database did we choose, and why?", "how do we deploy?", "POOL_SIZE", "where are session tokens kept?",
    "force push", "what did Ben say about MySQL?", "error rate", "the weather in Lisbon",
)  # fmt: skip


def _memories() -> list[Any]:
    found = []
    for n, (name, (kind, path, raw)) in enumerate(_TEXTS.items()):
        metadata = {"group": "monday", "speaker": raw.partition(":")[0]} if kind == "log" else {}
        links = ({"to": "mem_tokens", "relation": "relates_to"},) if name in ("ed", "cookie") else ()
        day = f"2026-01-{n + 1:02}T08:00:00Z"
        found.append(
            memory(
                name, kind=kind, path=path, raw=raw, summary_micro=raw, metadata=metadata, links=links,
                tags=tuple(path.split("/")[:1]), created_at=day, updated_at=day, pinned=name == "push",
            )
        )  # fmt: skip
    return found


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    workspace = open_at(tmp_path_factory.mktemp("goldens"), MEMCLI_EMBEDDER="onnx")
    rewrite(workspace.store, lambda space: space.put(_memories(), NOW))
    return workspace


def _scores(workspace: Workspace, backend: str) -> dict[str, dict[str, float]]:
    """The score of each memory, best first, by question."""
    with closing(workspace.store.open("main")) as snapshot:
        view = workspace.index.view(snapshot)
        view.embed()
        rank = open_ranker(backend)
        return {
            topic: {hit.entry.id: hit.score for hit in rank(Query(topic=topic, now=NOW), view).hits}
            for topic in _QUESTIONS
        }


def _answers(workspace: Workspace, backend: str) -> dict[str, list[dict[str, Any]]]:
    answers = {}
    with closing(workspace.store.open("main")) as snapshot:
        view = workspace.index.view(snapshot)
        view.embed()
        for topic in _QUESTIONS:
            hits = open_ranker(backend)(Query(topic=topic, now=NOW), view).hits
            answers[topic] = [
                {
                    "id": hit.entry.id.removeprefix("mem_"),
                    "score": round(hit.score, 3),
                    "why": {name: round(value, 3) for name, value in sorted(hit.why.items())},
                }
                for hit in hits[:_PLACES]
            ]
    return answers


@pytest.mark.parametrize("backend", sorted(RANKERS))
def test_every_backend_answers_as_it_did(filled: Workspace, backend: str, update_golden: bool) -> None:
    path = GOLDEN / f"{backend}.json"
    found = _answers(filled, backend)
    if update_golden:
        lines = ",\n".join(
            f" {json.dumps(topic)}: [\n" + ",\n".join(f"  {json.dumps(hit)}" for hit in hits) + "\n ]"
            for topic, hits in found.items()
        )
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    assert found == json.loads(path.read_text(encoding="utf-8"))


def test_the_last_digits_of_vectors_change_no_order(
    filled: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As another processor computes them: each component of a vector of length 1 is 0.000001 more or less."""

    def moved(vectors: np.ndarray) -> list[bytes]:
        return quantised(vectors + 1e-6 * np.sign(np.sin(vectors * 1e6)))

    monkeypatch.setattr("memcli.embed.onnx.quantised", moved)
    other = open_at(tmp_path, MEMCLI_EMBEDDER="onnx")
    rewrite(other.store, lambda space: space.put(_memories(), NOW))
    for backend in RANKERS:
        here, there = _scores(filled, backend), _scores(other, backend)
        assert {topic: list(scores) for topic, scores in there.items()} == {
            topic: list(scores) for topic, scores in here.items()
        }
        for topic, scores in here.items():
            assert there[topic] == pytest.approx(scores, abs=0.0005)
