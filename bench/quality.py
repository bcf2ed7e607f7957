"""How well memcli finds: `python bench/quality.py TASK.json.gz...`; see bench/README.md."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence

import rebuilt
import talk
from ablation import SWITCHES
from abstention import CLOSE, FAR, OWN, THRESHOLDS, Asked, off_topic, on_topic
from baselines import BASELINES
from report import DEPTH, SHOWN, mean, percent, score, section, table
from stores import work_folder
from tasks import KeptView, Space, Task, load, ranked, recall

from memcli.model.recall import ANSWERED, DEFAULT_BACKEND
from memcli.ranking import RANKERS, open_ranker

Views = Mapping[Space, KeptView]
Answers = Callable[[Space], Sequence[Sequence[str]]]


def main() -> None:
    """Prints the tables that the command line asks for."""
    options = _options()
    with work_folder(options.work) as work:
        tasks = [load(path, work) for path in options.tasks]
        views = {space: space.view() for task in tasks for space in task.spaces}
        names = sorted(RANKERS) if options.backends == "all" else options.backends.split(",")
        for task in tasks:
            _backends(task, views, names)
        if options.ablation:
            _ablation(tasks, views)
        if options.abstention:
            _abstention(tasks, views)


def evaluate(task: Task, answers: Answers) -> dict[str, float]:
    """The mean metrics over all questions of all spaces."""
    return mean(
        [
            score(ids, question.relevant)
            for space in task.spaces
            for question, ids in zip(space.questions, answers(space), strict=True)
        ]
    )


def in_process(views: Views, backend: str) -> Answers:
    """The answers of a backend, without the command line."""
    ranker = open_ranker(backend)
    return lambda space: [ranked(ranker, views[space], question, DEPTH) for question in space.questions]


def _backends(task: Task, views: Views, names: Sequence[str]) -> None:
    def baseline(name: str) -> Answers:
        def answers(space: Space) -> list[list[str]]:
            search = BASELINES[name](space.corpus)
            return [search(question.text) for question in space.questions]

        return answers

    rows = {"`memcli recall`": evaluate(task, lambda space: recall(space, DEPTH))}
    if all("path" in document.get("meta", {}) for space in task.spaces for document in space.corpus):
        rows["the same, after `ingest --git`"] = evaluate(task, lambda space: rebuilt.answers(space, DEPTH))
    if all("speaker" in document.get("meta", {}) for space in task.spaces for document in space.corpus):
        rows["the same, after `session import`"] = evaluate(task, lambda space: talk.answers(space, DEPTH))
    rows |= {f"`{name}`": evaluate(task, in_process(views, name)) for name in names}
    rows |= {name: evaluate(task, baseline(name)) for name in BASELINES}
    documents = sum(len(space.corpus) for space in task.spaces)
    questions = sum(len(space.questions) for space in task.spaces)
    section(
        f"Quality: {task.name}",
        table(("", *SHOWN), [(name, *(percent(found[m]) for m in SHOWN)) for name, found in rows.items()]),
        f"{len(task.spaces)} spaces, {documents} documents, {questions} questions.",
    )


def _ablation(tasks: Sequence[Task], views: Views) -> None:
    def measured() -> list[float]:
        return [evaluate(task, in_process(views, DEFAULT_BACKEND))["nDCG@10"] for task in tasks]

    full = measured()
    rows = [("nothing", *(cell for value in full for cell in (percent(value, 2), "")))]
    for name, switch in SWITCHES.items():
        with switch(list(views.values())):
            found = measured()
        cells = [(percent(b, 2), f"{100 * (b - a):+.2f}") for a, b in zip(full, found, strict=True)]
        rows.append((name, *(cell for pair in cells for cell in pair)))
    columns = ("switched off", *(name for task in tasks for name in (f"{task.name} nDCG@10", "difference")))
    section(f"Ablation of `{DEFAULT_BACKEND}`", table(columns, rows))


def _abstention(tasks: Sequence[Task], views: Views) -> None:
    ranker = open_ranker(DEFAULT_BACKEND)
    off = list(off_topic(tasks, views, ranker))
    on = list(on_topic(tasks, views, ranker))
    rows = [
        (
            f"{threshold:g}{' (shipped)' if threshold == ANSWERED else ''}",
            *(
                _empty([a for a in off if a.task == task.name and a.group == g], threshold)
                for task in tasks
                for g in _GROUPS
            ),
            _empty([a for a in off if a.group != CLOSE], threshold),
            _empty(off, threshold),
            *(_kept([a for a in on if a.task == task.name], threshold) for task in tasks),
            _kept(on, threshold),
        )
        for threshold in THRESHOLDS
    ]
    empty = [f"{task.name}: {group} empty" for task in tasks for group in _GROUPS]
    kept = [f"{task.name}: kept" for task in tasks]
    columns = ("confidence", *empty, "far and own empty", "all empty", *kept, "all kept")
    asked = {group: sum(a.group == group for a in off) for group in _GROUPS}
    counts = ", ".join(f"{count} {group}" for group, count in asked.items())
    section("Abstention", table(columns, rows), f"Off-topic questions: {counts}. On-topic questions: {len(on)}.")


_GROUPS = (CLOSE, FAR, OWN)


def _empty(asked: Sequence[Asked], threshold: float) -> str:
    return percent(sum(not a.is_answered(threshold) for a in asked) / len(asked)) if asked else "–"


def _kept(asked: Sequence[Asked], threshold: float) -> str:
    return percent(sum(a.share for a in asked if a.is_answered(threshold)) / sum(a.share for a in asked))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measures how well memcli finds.")
    parser.add_argument("tasks", nargs="+", metavar="TASK.json.gz", help="task files; see bench/README.md")
    parser.add_argument("--backends", default="all", metavar="all|NAME,...", help="the backends to compare [all]")
    parser.add_argument("--ablation", action="store_true", help="switch off one feature at a time")
    parser.add_argument("--abstention", action="store_true", help="ask what the spaces know nothing of")
    parser.add_argument("--work", metavar="DIR", help="keep the stores here, and use them again [a temporary folder]")
    return parser.parse_args()


if __name__ == "__main__":
    main()
