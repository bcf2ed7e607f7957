"""Users of `memcli serve`, for locust. What they ask is in variables that `bench/serve.py` sets."""

from __future__ import annotations

import itertools
import json
import os
from urllib.parse import urlencode

from locust import FastHttpUser, constant, task

_HEADERS = {"Authorization": f"Bearer {os.environ.get('BENCH_TOKEN', '')}"}
_QUESTIONS = json.loads(os.environ.get("BENCH_QUESTIONS", '["anything"]'))
_IDS = json.loads(os.environ.get("BENCH_IDS", '[""]'))
_WRITES = int(os.environ.get("BENCH_WRITES", "0"))
_WRITTEN = f"/apps/{os.environ.get('BENCH_SPACE', 'load')}/memories"
_questions, _ids, _writers = itertools.cycle(_QUESTIONS), itertools.cycle(_IDS), itertools.count()
_done = itertools.count(1)


class _User(FastHttpUser):
    abstract = True
    wait_time = constant(0)

    def ask(self, name: str, path: str) -> None:
        self.client.get(path, name=name, headers=_HEADERS)


class Recall(_User):
    """Asks one question after the other."""

    @task
    def recall(self) -> None:
        self.ask("recall", f"/api/recall?{urlencode({'topic': next(_questions)})}")


class Graph(_User):
    """Asks for the graph of the whole space, which takes long."""

    @task
    def graph(self) -> None:
        self.ask("graph", "/api/graph")


class Mixed(_User):
    """Looks around: memories, lists, the health of the server."""

    @task(6)
    def get(self) -> None:
        self.ask("get", f"/apps/main/memories/{next(_ids)}")

    @task(3)
    def health(self) -> None:
        self.ask("health", "/health")

    @task(1)
    def list(self) -> None:
        self.ask("list", "/apps/main/memories?limit=10")


class Write(_User):
    """Stores its own memories, one after the other, and is done."""

    @task
    def remember(self) -> None:
        writer = next(_writers)
        for number in range(_WRITES):
            body = {"raw": f"Writer {writer} noted number {number}.", "path": f"load/{writer}/{number}"}
            self.client.post(_WRITTEN, name="remember", json=body, headers=_HEADERS)
        if next(_done) == self.environment.parsed_options.num_users:
            self.environment.runner.quit()
        self.stop()
