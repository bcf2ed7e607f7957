"""How many questions about a repository are answered by what recall prints: `python bench/answers.py`; see bench/README.md."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import plain
from ablation import ANSWER_SWITCHES
from report import percent, section, table
from repository import Repository, build, environment, open_repository
from stores import work_folder

from memcli.app.recall import recall
from memcli.model.recall import DEFAULT_LIMIT, Query
from memcli.record import replace
from memcli.render import RENDERERS
from memcli.wiring.workspace import open_workspace

BUDGET = 1_200
RUNS: Mapping[str, int | None] = {"@budget": None, "@3": 3}
"""Each question is asked within the budget, and once more with so many memories at most."""
TYPES = ("howto", "why", "when", "what", "where")
TRAITS = ("middle", "code", "commit", "version", "identifier")
NONE = "none"
"""The type of a question that nothing in the repository answers."""

_ITEM = re.compile(r"(?m)^(?=\d+\. \[)")
_SHOWN_OF_MISS = 700


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the patterns of which one must match in a single passage that is printed for it."""

    name: str
    text: str
    type: str
    traits: tuple[str, ...]
    note: str
    answers: tuple[re.Pattern[str], ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """What is printed for a question: the whole of it, and the passages; none in an empty bundle."""

    printed: str
    passages: tuple[str, ...]


Answers = Callable[[Sequence[str], int | None], Sequence[Reply]]
"""Questions, and how many memories at most, to a reply for each."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its replies, by the names in RUNS."""

    question: Question
    replies: Mapping[str, Reply]

    def is_right(self, run: str) -> bool:
        """Whether a passage answers, or nothing is printed where nothing answers."""
        texts = [" ".join(passage.split()) for passage in self.replies[run].passages]
        if self.question.type == NONE:
            return not texts
        return any(pattern.search(text) for text in texts for pattern in self.question.answers)


def main() -> None:
    """Prints the tables that the command line asks for."""
    parser = parser_of("Measures how many questions recall answers by what it prints.")
    parser.add_argument("--ablation", action="store_true", help="switch off one feature at a time")
    parser.add_argument("--misses", metavar="FILE", help="write what was missed, with what was printed, to this file")
    options = parser.parse_args()
    questions = load(options.questions)
    with work_folder(options.work) as work:
        name, repository = open_named(options, work)
        found = evaluate(questions, by_recall(repository))
        searches = plain.searches(repository, work)
        others = {name: evaluate(questions, by_search(search)) for name, search in searches.items()}
        _quality(name, found, others)
        if options.misses:
            with open(options.misses, "w", encoding="utf-8") as file:
                file.write("\n".join(_misses(found)))
        if options.ablation:
            _ablation(repository, questions, found)


def parser_of(description: str) -> argparse.ArgumentParser:
    """A parser of the options that say what is asked of which repository; see `open_named`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--questions", required=True, metavar="FILE.jsonl", help="the questions; see bench/README.md")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--repo", metavar="DIR", help="the git repository that they are about")
    source.add_argument("--data", metavar="FILE.json.gz", help="data to build the repository from")
    parser.add_argument("--rev", default="HEAD", help="the revision to ask about [HEAD]")
    parser.add_argument("--commits", default=500, type=int, metavar="N", help="how many commits to ingest [500]")
    parser.add_argument("--work", metavar="DIR", help="keep the store here, and use it again [a temporary folder]")
    return parser


def open_named(options: argparse.Namespace, work: str, *, with_vectors: bool = True) -> tuple[str, Repository]:
    """The name of the repository that the options name, and the repository with a store below `work`."""
    os.makedirs(work, exist_ok=True)
    source = build(options.data, work) if options.data else options.repo
    repository = open_repository(source, work, options.rev, options.commits, with_vectors=with_vectors)
    return os.path.basename(os.path.abspath(source)), repository


def load(path: str) -> list[Question]:
    """The questions in a file of JSON Lines."""
    with open(path, encoding="utf-8") as file:
        return [_question(json.loads(line)) for line in file if line.strip()]


def evaluate(questions: Sequence[Question], answers: Answers, runs: Iterable[str] = RUNS) -> list[Asked]:
    """Every question with what `answers` prints for it, in each of these runs."""
    texts = [question.text for question in questions]
    replies = {run: answers(texts, RUNS[run]) for run in runs}
    return [Asked(question, {run: found[n] for run, found in replies.items()}) for n, question in enumerate(questions)]


def right(asked: Sequence[Asked], run: str) -> float:
    """The share of the questions with the right reply."""
    return sum(one.is_right(run) for one in asked) / len(asked)


def by_recall(repository: Repository, patience: float = math.inf, **settings: str) -> Answers:
    """What `memcli recall --format prompt --budget` prints in the repository, without the command line. `patience` is the number
    of seconds that a question may spend on missing vectors."""
    workspace = open_workspace({"root": repository.root}, environment(repository, **settings))
    render = RENDERERS["prompt"]()

    def answers(texts: Sequence[str], limit: int | None) -> list[Reply]:
        given = Query(topic="", now=repository.now, limit=limit or DEFAULT_LIMIT, budget=BUDGET, patience=patience)
        queries = [replace(given, topic=text) for text in texts]
        bundles = recall(workspace, queries, with_global=False, render=render)
        pairs = ((render(bundle), bool(bundle.sections)) for bundle in bundles)
        return [Reply(printed, tuple(_ITEM.split(printed)[1:]) if is_full else ()) for printed, is_full in pairs]

    return answers


def by_search(search: plain.Search) -> Answers:
    """What a baseline prints."""

    def answers(texts: Sequence[str], limit: int | None) -> list[Reply]:
        found = [tuple(search(text)[:limit]) for text in texts]
        return [Reply("\n".join(passages), passages) for passages in found]

    return answers


def _question(line: Mapping[str, object]) -> Question:
    def texts(name: str) -> tuple[str, ...]:
        found = line.get(name)
        return tuple(map(str, found)) if isinstance(found, list) else ()

    patterns = tuple(re.compile(pattern, re.IGNORECASE) for pattern in texts("answers"))
    name, text, kind = str(line["id"]), str(line["q"]), str(line["type"])
    return Question(name, text, kind, texts("traits"), str(line.get("note", "")), patterns)


def _groups(asked: Sequence[Asked]) -> Iterator[tuple[str, list[Asked]]]:
    """The questions that have an answer, by type and by trait, and those that have none."""
    known = [one for one in asked if one.question.type != NONE]
    yield "answered", known
    for name in TYPES:
        yield name, [one for one in known if one.question.type == name]
    for name in TRAITS:
        yield f"– {name}", [one for one in known if name in one.question.traits]
    yield "none-right", [one for one in asked if one.question.type == NONE]


def _quality(name: str, found: Sequence[Asked], others: Mapping[str, Sequence[Asked]]) -> None:
    columns = ("", "questions", *RUNS, "empty", "characters", *(f"{other} {run}" for other in others for run in RUNS))
    baselines = [dict(_groups(asked)) for asked in others.values()]
    rows = []
    for group, asked in _groups(found):
        if not asked:
            continue
        replies = [one.replies["@budget"] for one in asked]
        own = [percent(right(asked, run)) for run in RUNS]
        empty = sum(not reply.passages for reply in replies)
        size = sum(len(reply.printed) for reply in replies) // len(replies)
        plain_cells = [percent(right(baseline[group], run)) for baseline in baselines for run in RUNS]
        rows.append((group, str(len(asked)), *own, str(empty), f"{size:,}", *plain_cells))
    section(f"Answers: {name}", table(columns, rows))


def _ablation(repository: Repository, questions: Sequence[Question], found: Sequence[Asked]) -> None:
    """What is answered with one feature switched off at a time."""
    full = _shares(found)
    rows = [("nothing", "", *(cell for share in full.values() for cell in (percent(share), "")))]
    answers = by_recall(repository)
    for name, switch in ANSWER_SWITCHES.items():
        with switch():
            rows.append(_without(name, found, evaluate(questions, answers)))
    words_only = evaluate(questions, by_recall(repository, MEMCLI_EMBEDDER="off"))
    rows.append(_without("the model (words alone)", found, words_only))
    columns = ("switched off", "other replies", *(cell for name in full for cell in (name, "difference")))
    section("Ablation of what is printed", table(columns, rows))


def _shares(asked: Sequence[Asked]) -> dict[str, float]:
    """The shares of right replies: of the questions with an answer, in each run, and of those without."""
    groups = dict(_groups(asked))
    shares = {f"answered{run}": right(groups["answered"], run) for run in RUNS if groups["answered"]}
    return shares | ({"none-right": right(groups["none-right"], "@budget")} if groups["none-right"] else {})


def _without(name: str, found: Sequence[Asked], other: Sequence[Asked]) -> tuple[str, ...]:
    """The row of a feature: how many replies differ without it, and what is answered."""
    differ = sum(one.replies[run] != two.replies[run] for one, two in zip(found, other, strict=True) for run in RUNS)
    pairs = zip(_shares(found).values(), _shares(other).values(), strict=True)
    cells = (cell for full, share in pairs for cell in (percent(share), f"{100 * (share - full):+.1f}"))
    return name, f"{differ} of {len(RUNS) * len(found)}", *cells


def _misses(found: Sequence[Asked]) -> Iterator[str]:
    """Each question that is missed, with its answer and the beginning of what is printed."""
    for asked in found:
        missed = [run for run in RUNS if not asked.is_right(run)]
        if missed:
            question = asked.question
            printed = asked.replies[missed[-1]].printed[:_SHOWN_OF_MISS].strip()
            kind = ", ".join((question.type, *question.traits))
            head = f"{question.name} ({kind}): missed {' and '.join(missed)}"
            yield f"{head}\nquestion: {question.text}\nanswer: {question.note or 'none'}\n{printed}\n"


if __name__ == "__main__":
    main()
