"""How well sessions are found: `python bench/sessions.py FILE...`, LongMemEval or LoCoMo as published; see bench/README.md."""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import talk
from report import percent, section, table
from tasks import Question, Space

SHOWN = (5, 10)
_TURNS = 200
"""How many turns are asked for: their sessions, each at the place of its first turn, are what is ranked."""
_ABSTAINS = "_abs"
"""In the id of a question of LongMemEval that no session answers."""
_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D(\d+):")
_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}


@dataclass(frozen=True, slots=True)
class Haystack:
    """Sessions, and the questions about them, each with its type and the sessions that answer it."""

    corpus: Sequence[Mapping[str, Any]]
    questions: Sequence[tuple[str, str, frozenset[str]]]


def main() -> None:
    """Prints a table for each file."""
    options = _options()
    for path in options.files:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        is_long = "haystack_sessions" in data[0]
        haystacks = list((long_mem_eval if is_long else locomo)(data[: options.limit]))
        print_table(os.path.basename(path), [score for haystack in haystacks for score in scores(haystack)])


def scores(haystack: Haystack) -> Iterator[tuple[str, dict[str, float]]]:
    """The type of each question, and for each k whether any and all of its sessions are among the first k, and the share."""
    group = {document["id"]: document["group"] for document in haystack.corpus}
    with tempfile.TemporaryDirectory() as folder:
        questions = [Question(text, relevant) for _, text, relevant in haystack.questions]
        ranked = talk.answers(Space(folder, "main", haystack.corpus, questions), _TURNS)
    for (kind, _, relevant), names in zip(haystack.questions, ranked, strict=True):
        found = list(dict.fromkeys(group[name] for name in names))
        hits = {k: len(relevant.intersection(found[:k])) for k in SHOWN}
        yield (
            kind,
            {
                **{f"any@{k}": float(hits[k] > 0) for k in SHOWN},
                **{f"all@{k}": float(hits[k] == len(relevant)) for k in SHOWN},
                **{f"R@{k}": hits[k] / len(relevant) for k in SHOWN},
            },
        )


def print_table(name: str, found: Sequence[tuple[str, Mapping[str, float]]]) -> None:
    """Prints the means over all questions, and over those of each type."""
    groups = {"all": found} | {kind: [one for one in found if one[0] == kind] for kind in sorted({k for k, _ in found})}
    measures = list(found[0][1])
    rows = [
        (kind, str(len(own)), *(percent(sum(values[m] for _, values in own) / len(own)) for m in measures))
        for kind, own in groups.items()
    ]
    section(f"Sessions: {name}", table(("", "questions", *measures), rows))


def long_mem_eval(data: Sequence[Mapping[str, Any]]) -> Iterator[Haystack]:
    """A haystack for each question that some session answers."""
    for entry in data:
        if _ABSTAINS in entry["question_id"]:
            continue
        sessions = zip(entry["haystack_session_ids"], entry["haystack_dates"], entry["haystack_sessions"], strict=True)
        corpus = [
            _turn(name, n, turn["content"], turn["role"], turn["role"], _time(date, "%Y/%m/%d (%a) %H:%M"))
            for name, date, turns in sessions
            for n, turn in enumerate(turns)
            if turn["content"].strip()
        ]
        asked = (entry["question_type"], " ".join(entry["question"].split()), frozenset(entry["answer_session_ids"]))
        yield Haystack(corpus, [asked])


def locomo(data: Sequence[Mapping[str, Any]]) -> Iterator[Haystack]:
    """A haystack for each conversation, with the questions that name a turn as evidence. A picture stands as its caption."""
    for sample in data:
        talked = sample["conversation"]
        names = sorted(filter(_SESSION.fullmatch, talked), key=lambda name: int(name.rpartition("_")[2]))
        corpus = [
            _turn(name, n, text, turn["speaker"], "user", _time(talked[f"{name}_date_time"], "%I:%M %p on %d %B, %Y"))
            for name in names
            for n, turn in enumerate(talked[name])
            if (text := " ".join(filter(None, (turn.get("text", ""), turn.get("blip_caption", "")))).strip())
        ]
        asked = [
            (_CATEGORIES.get(one["category"], str(one["category"])), " ".join(one["question"].split()), sessions)
            for one in sample["qa"]
            if (sessions := frozenset(f"session_{n}" for n in _EVIDENCE.findall(" ".join(one.get("evidence", ())))))
        ]
        yield Haystack(corpus, asked)


def _turn(session: str, n: int, text: str, speaker: str, role: str, time: str) -> dict[str, Any]:
    meta = {"speaker": speaker, "role": role}
    return {"id": f"{session}:{n}", "group": session, "text": text, "ts": time, "meta": meta}


def _time(text: str, form: str) -> str:
    return f"{datetime.strptime(text, form).replace(tzinfo=UTC):%Y-%m-%dT%H:%M:%SZ}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measures how well memcli finds the session that answers a question.")
    parser.add_argument("files", nargs="+", metavar="FILE", help="longmemeval_s.json or locomo10.json as downloaded")
    parser.add_argument("--limit", type=int, help="only so many questions of LongMemEval, or conversations of LoCoMo")
    return parser.parse_args()


if __name__ == "__main__":
    main()
