"""A year of a store that is used and judged: with upkeep every week, and without.

Prints for each month how much of the first three places outdated or wrong memories take, and how often what holds is
among them. Recall goes by words alone, unless --embedder names one. Without upkeep a judgement has no effect, so that year
notes none. Uses are kept in memory: thousands of appends with a lock change nothing of the result.
"""

from __future__ import annotations

import argparse
import json
import os
import random  # noqa: TID251 - drawn from a seed
import sys
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count

from processes import memcli, run
from statements import Statement, Subject, make

from memcli.app.recall import recall
from memcli.app.workspace import Workspace, load_space
from memcli.extras.upkeep.maintain import check_tasks, maintain
from memcli.model.recall import Query
from memcli.model.usage import HELPFUL, UNHELPFUL, Access, Counts, Use
from memcli.model.usage import count as count_uses
from memcli.record import replace
from memcli.wiring.workspace_cache import WorkspaceCache

START = datetime(2030, 1, 1, 8, tzinfo=UTC)
DAYS = 365
MONTH = 30.5
PLACES = 3
SHOWN = 5
"""How many memories a recall shows."""
MISTAKEN = 0.05
"""The share of judgements that are the wrong way round."""


@dataclass(slots=True)
class Month:
    """What was counted in a month: places among the first three, those of outdated or wrong memories, recalls with what holds
    among them, and the reciprocal ranks of it."""

    recalls: int = 0
    places: int = 0
    bad: int = 0
    found: int = 0
    ranks: float = 0.0
    archived: int = 0


@dataclass(slots=True)
class Year:
    """The months, and what was lost at the end: by reason, how many."""

    months: list[Month] = field(default_factory=lambda: [Month() for _ in range(12)])
    lost: dict[str, int] = field(default_factory=dict)


def live(
    size: int, bad: int, recalls: int, seed: int, *, upkeep: bool, judged: float = 1.0, embedder: str = "off"
) -> Year:
    """Lives a year in a new store. The questions, and when they are asked, depend on the seed alone; `judged` is the share
    of recalls after which the user judges what stood in the first places."""
    subjects, statements = make(size, bad, seed)
    with tempfile.TemporaryDirectory() as folder:
        root = os.path.join(folder, ".memory")
        run([memcli(), "init", "--root", root], MEMCLI_EMBEDDER=embedder)
        kept = WorkspaceCache()
        environ = {"MEMCLI_GLOBAL": os.path.join(folder, "none"), "HOME": folder, "MEMCLI_BACKGROUND": "off"}
        now = [_time(0, 0)]
        opened = kept.open({"root": root, "embedder": embedder, "command": "year"}, environ)
        workspace = opened.copy_with(clock=lambda: now[0], usage=_Uses(), is_noted=upkeep)
        try:
            return _Life(root, workspace, now, subjects, statements, seed, judged).run(recalls, upkeep=upkeep)
        finally:
            kept.close()


class _Uses:
    """The usage log, in memory."""

    def __init__(self) -> None:
        self._uses: list[Use] = []
        self._counts: Counts = {}
        self._keys = count(1)

    def note(self, uses: Sequence[Use], topic: str = "") -> None:
        del topic
        self.judge(uses)
        self._counts = count_uses(uses, self._counts)

    def judge(self, uses: Sequence[Use]) -> None:
        key = str(next(self._keys))
        self._uses += [replace(use, key=key) for use in uses]

    def read(self) -> list[Use]:
        return list(self._uses)

    def counts(self, space: str) -> Mapping[str, Access]:
        return self._counts.get(space, {})

    def fold(self, uses: Collection[Use]) -> None:
        keys = {use.key for use in uses}
        self._uses = [use for use in self._uses if use.key not in keys]


class _Life:
    def __init__(
        self,
        root: str,
        workspace: Workspace,
        now: list[str],
        subjects: Sequence[Subject],
        statements: Sequence[Statement],
        seed: int,
        judged: float,
    ) -> None:
        self._root, self._workspace, self._now = root, workspace, now
        self._subjects, self._statements = subjects, statements
        self._by_id = {one.id: one for one in statements}
        self._chance = random.Random(seed + 1)  # noqa: S311
        self._user = random.Random(seed + 2)  # noqa: S311
        self._year = Year()
        self._judged = judged

    def run(self, recalls: int, *, upkeep: bool) -> Year:
        self._store([one for one in self._statements if one.day < 0])
        asked = sorted(self._chance.random() * DAYS for _ in range(recalls))
        weights = [one.weight for one in self._subjects]
        chosen = self._chance.choices(range(len(self._subjects)), weights, k=recalls)
        position = 0
        for day in range(DAYS):
            self._now[0] = _time(day, 0)
            self._store([one for one in self._statements if one.day == day])
            if upkeep and day % 7 == 6:
                list(maintain(self._workspace, check_tasks(())))
                self._count_archived(day)
            if day % 30 == 0:
                sys.stderr.write(f"{'with' if upkeep else 'without'} upkeep: day {day}\n")
            while position < recalls and asked[position] < day + 1:
                self._now[0] = _time(day, asked[position] - day)
                self._ask(day, chosen[position])
                position += 1
        self._check()
        return self._year

    def _ask(self, day: int, subject: int) -> None:
        topic = self._chance.choice(self._subjects[subject].asks)
        query = Query(topic=topic, now=self._now[0], limit=SHOWN)
        (bundle,) = recall(self._workspace, [query], with_global=False)
        shown = [section.memory.id for section in bundle.sections]
        month = self._year.months[min(11, int(day / MONTH))]
        month.recalls += 1
        first = [self._by_id[name] for name in shown[:PLACES]]
        month.places += len(first)
        month.bad += sum(not one.holds(day) for one in first)
        right = [n for n, name in enumerate(shown, 1) if self._is_right(name, subject, day)]
        month.found += bool(right) and right[0] <= PLACES
        month.ranks += 1 / right[0] if right else 0.0
        if self._user.random() < self._judged:
            self._judge(first, subject, day)

    def _is_right(self, name: str, subject: int, day: int) -> bool:
        one = self._by_id[name]
        return one.subject == subject and one.holds(day)

    def _judge(self, first: Sequence[Statement], subject: int, day: int) -> None:
        """Judges what speaks of the subject: the user sees whether it is true, most times."""
        judged = []
        for one in first:
            if one.subject == subject:
                is_true = one.holds(day) != (self._user.random() < MISTAKEN)
                act = HELPFUL if is_true else UNHELPFUL
                judged.append(Use(self._now[0], act, self._workspace.space, (one.id,)))
        if judged:
            self._workspace.usage.judge(judged)

    def _store(self, statements: Sequence[Statement]) -> None:
        if not statements:
            return
        path = os.path.join(os.path.dirname(self._root), "statements.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(_fields(one))}\n" for one in statements)
        run([memcli(), "remember", "--batch", path, "--root", self._root, "-q"], MEMCLI_EMBEDDER="off")

    def _count_archived(self, day: int) -> None:
        month = self._year.months[min(11, int(day / MONTH))]
        month.archived = sum(not m.active for m in load_space(self._workspace.store, self._workspace.space).objects)

    def _check(self) -> None:
        """Counts what is not there any more: nothing may be."""
        memories = {m.id: m for m in load_space(self._workspace.store, self._workspace.space).objects}
        reasons = {one.reason for one in self._statements if one.reason}
        self._year.lost = {
            "not in the store": sum(one.id not in memories for one in self._statements),
            "pinned, archived": sum(one.pinned and not memories[one.id].active for one in self._statements),
            "a reason, archived": sum(one.id in reasons and not memories[one.id].active for one in self._statements),
            "never asked about, archived (can be restored)": sum(
                not self._subjects[one.subject].weight and not memories[one.id].active for one in self._statements
            ),
            "holds and is asked about, archived": sum(
                self._subjects[one.subject].weight > 0 and one.holds(DAYS) and not memories[one.id].active
                for one in self._statements
            ),
            "outdated or wrong, archived": sum(
                not one.holds(DAYS) and not memories[one.id].active for one in self._statements
            ),
        }


def _fields(one: Statement) -> dict[str, object]:
    at = _time(one.day, 0)
    fields: dict[str, object] = {
        "id": one.id, "raw": one.text, "path": one.path, "kind": one.kind, "created_at": at, "updated_at": at,
    }  # fmt: skip
    if one.pinned:
        fields["pinned"] = True
    if one.reason:
        fields["links"] = [{"to": one.reason, "relation": "derived_from"}]
    return fields


def _time(day: int, part: float) -> str:
    return (START + timedelta(days=day, seconds=int(part * 50_000))).strftime("%Y-%m-%dT%H:%M:%SZ")


def told(none: Year, kept: Year) -> str:
    """The two years as a Markdown table, and what was lost."""
    lines = [
        "| month | outdated in the first 3 | with upkeep | what holds in the first 3 | with upkeep | MRR | with upkeep | archived |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    rows = [(str(n), a, b) for n, (a, b) in enumerate(zip(none.months, kept.months, strict=True), 1)]
    for name, a, b in (*rows, ("year", _sum(none.months), _sum(kept.months))):
        shares: list[Callable[[Month], float]] = [
            lambda m: m.bad / max(1, m.places), lambda m: m.found / max(1, m.recalls), lambda m: m.ranks / max(1, m.recalls),
        ]  # fmt: skip
        cells = [f"{100 * share(one):.1f}" for share in shares for one in (a, b)]
        lines.append(f"| {name} | {' | '.join(cells)} | {b.archived} |")
    lines += ["", *(f"- {name}: {count}" for name, count in kept.lost.items())]
    return "\n".join(lines)


def _sum(months: Sequence[Month]) -> Month:
    total = Month()
    for month in months:
        for name in ("recalls", "places", "bad", "found", "ranks"):
            setattr(total, name, getattr(total, name) + getattr(month, name))
    total.archived = months[-1].archived
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=2_000)
    parser.add_argument("--outdated", type=int, default=300, help="how many of them are outdated or wrong")
    parser.add_argument("--recalls", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--embedder", default="off", help="onnx: by meaning too, which takes hours")
    parser.add_argument("--judged", type=float, default=1.0, help="the share of recalls that the user judges")
    given = parser.parse_args()
    with ProcessPoolExecutor(2) as both:
        years = [
            both.submit(
                live, given.memories, given.outdated, given.recalls, given.seed,
                upkeep=upkeep, judged=given.judged, embedder=given.embedder,
            )
            for upkeep in (False, True)
        ]  # fmt: skip
        print(told(*(year.result() for year in years)))


if __name__ == "__main__":
    main()
