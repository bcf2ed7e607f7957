"""A random day: steps that are drawn from a seed, run as commands, and judged against the model after each."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random  # noqa: TID251 - drawn from a seed

from tests.faults.scene import Ended
from tests.oracle.bench import KILLED, Bench
from tests.oracle.fields import Fields
from tests.oracle.judge import Judge
from tests.oracle.model import Model, Refused
from tests.oracle.world import World
from tests.seeds import Report, draw_fault

START = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
_PAUSES = (0, 1, 60, 3600, 86400, 3 * 86400)
_KILLED = 0.12
_CALLS = 45

Change = Callable[[World], object]


@dataclass(frozen=True)
class Options:
    """`grace` is the policy's grace_days, None for the default."""

    steps: int = 60
    grace: float | None = None
    erasure: bool = True


class Day:
    """The day of a seed in the folder `base`. Each step has its own random numbers, so that any can be left out."""

    def __init__(self, base: Path, seed: int, options: Options) -> None:
        self.bench = Bench(base)
        self.world = World()
        self.judge = Judge(self.bench)
        self.report = Report(seed, log=self.bench.log)
        self.options = options
        self.rng = Random(seed)
        self.now = ""
        self._at = START
        self._killing = False

    def run(self, numbers: Sequence[int]) -> Report:
        """Runs the steps of these numbers, up to the first that has problems."""
        from tests.oracle.actions import ACTIONS, begin

        names = [name for name, (_, weight) in ACTIONS.items() for _ in range(weight)]
        with self.bench.entered():
            self._begin(0)
            begin(self)
            for number in numbers:
                self._begin(number)
                name = self.rng.choice(names)
                self.bench.log.append(f"# step {number}: {name}")
                if ACTIONS[name][0](self) is not False:
                    self.report.steps += 1
                    self.report.done[name] = self.report.done.get(name, 0) + 1
                if self.report.problems:
                    self.report.step = f"{number}: {name}"
                    break
        self.report.checks = self.judge.checks
        return self.report

    def _begin(self, number: int) -> None:
        self.rng = Random(f"{self.report.seed}:{number}")
        self._at += timedelta(seconds=self.rng.choice(_PAUSES))
        self.now = self._at.isoformat().replace("+00:00", "Z")
        self._killing = number > 0 and self.rng.random() < _KILLED

    def act(self, arguments: Sequence[str], change: Change, stdin: str = "", *, may_kill: bool = True) -> Ended:
        """Runs a command that makes of the world what `change` makes of it, and judges."""
        after = self.world.copy()
        code = 0
        try:
            change(after)
        except Refused as refused:
            after, code = self.world.copy(), refused.code
        if self._killing and may_kill:
            ended = self.bench.kill(self.now, arguments, draw_fault(self.rng, _CALLS), stdin)
        else:
            ended = self.bench.run(self.now, arguments, stdin)
        self.report.writes += not ended.code
        if ended.code == KILLED:
            self.report.killed += 1
            self.world, problems = self.judge.after_kill(self.world, after)
        else:
            self.world, problems = self.judge.after(self.world, after, ended, code, " ".join(arguments[:2]))
        problems = problems or self.judge.always(self.now, self.world, self.options.erasure)
        self.report.problems += problems
        return ended

    @property
    def main(self) -> Model:
        return self.world.main

    def some(self, model: Model | None = None) -> Fields | None:
        """Any memory of the space, or of another model."""
        objects = (model or self.world.main).objects
        return objects[self.rng.choice(sorted(objects))] if objects else None

    def ref(self, memory: Fields) -> str:
        """Its id or its path."""
        return str(memory[self.rng.choice(["id", "path"])])

    def word(self) -> str:
        """A new word for a text."""
        from tests.oracle.words import part, token

        while True:
            word = token(self.rng)
            if all(part(word) not in known.encode() for known in self.world.used):
                self.world.used.add(word)
                return word

    def text(self) -> str:
        """A new text."""
        from tests.oracle.words import text

        return text(self.rng, self.word())


def to_json(fields: object) -> str:
    """As an argument of a command line."""
    return json.dumps(fields, ensure_ascii=False)
