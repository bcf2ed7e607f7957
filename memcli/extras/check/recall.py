"""`memcli check recall`"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from memcli.cli.arguments import decode, read_file
from memcli.cli.options import Options, argument, option
from memcli.cli.verb import CommandContext, verb
from memcli.errors import CorruptError, NotFoundError, StoreError, UsageError
from memcli.extras.check.expectations import Case
from memcli.model.memory import Json
from memcli.model.names import counted
from memcli.record import replace

if TYPE_CHECKING:
    from memcli.extras.check.cases import CaseOutcome
    from memcli.extras.check.expectations import Measures

_FOLDER = "tests"
_MAX_BYTES = 1 << 20
_TOPIC_WIDTH = 80
_WANT_WIDTH = 120
_WRITE = 'write a file with [[case]], topic = "which database?" and must_include = ["PATH"]'


class CheckRecallOptions(Options):
    """The options of `memcli check recall`."""

    files: list[str] = argument("[FILE...]", "TOML files with tests [default: .memory/tests/*.toml].", many=True)
    questions: list[str] = option(
        metavar="FILE",
        help="Ask a question set: one JSON object per line with q, type and answers. Repeatable.",
        many=True,
    )
    top: int | None = option(
        "--top", "-l", metavar="N", help="Return at most N memories per topic [default: as the tests say, else 10].",
        type=int, low=1, high=10_000,
    )  # fmt: skip
    budget: int | None = option(
        metavar="TOKENS", help="Print at most this many tokens per topic [default: as the tests say, else no limit].",
        type=int, low=1, high=10**7,
    )  # fmt: skip
    fail_under: float = option(
        metavar="0..1", help="Exit with 6 only if a smaller share of the tests passes.",
        type=float, default=1, low=0, high=1,
    )  # fmt: skip


@verb(CheckRecallOptions)
def command(session: CommandContext, options: CheckRecallOptions) -> int:
    """Test what recall answers, by the expectations in .memory/tests/*.toml. Exits with 6 if a test fails.

    A test is a table [[case]] with a topic and some of must_include, must_not_include (each a list of ids, paths, globs of
    paths, or /patterns/ searched in the printed passage of one memory, ignoring case), answers (patterns, of which one must
    match) and empty = true (nothing may match). Optional: top, budget, kind, under, space, at, which [defaults] sets for all
    tests of a file. Patterns are those of RE2; in question sets also those of Python.

    Prints the failed tests, and the measures of recall beside those of a plain word search over the same memories
    (`recall --backend basic`: words of the topic in path, tags, summaries and text, and relevance; no model). recall@k is the
    mean share of what must be included that is among the first k memories (--top), MRR the mean of 1 / place of the first of
    it, and answered counts the tests that miss nothing. Pins that do not match a topic and the user-wide store are left out.

    Example: memcli check recall --fail-under 0.9

    >>> memory.check_recall('expected.toml')['recall']['passed']
    1
    """
    from memcli.extras.check.cases import run_cases
    from memcli.extras.check.questions import read_cases, read_questions
    from memcli.model.recall import DEFAULT_LIMIT
    from memcli.render import RENDERERS
    from memcli.render.as_prompt import entry
    from memcli.render.clean import grid

    readers = [(file, read_cases) for file in options.files] + [(file, read_questions) for file in options.questions]
    named = [read(decode(read_file(file, _MAX_BYTES), file), file) for file, read in readers]
    workspace = session.open()
    cases = [case for found in named or _own(workspace.root) for case in found]
    if not cases:
        raise NotFoundError(
            "no tests" if named else f"no tests in {_shown(os.path.join(workspace.root, _FOLDER))}", _WRITE
        )
    given = {name: value for name in ("top", "budget") if (value := getattr(options, name)) is not None}
    limited = (replace(case, **given) for case in cases)
    outcomes, measures, words = run_cases(workspace, limited, RENDERERS["prompt"](), entry)
    data = {
        "recall": _measured(measures), "words": _measured(words), "tests": [outcome.to_json() for outcome in outcomes],
    }  # fmt: skip
    tops = {outcome.case.top or DEFAULT_LIMIT for outcome in outcomes}
    k = tops.pop() if len(tops) == 1 else "k"  # one number is right only if all tests have the same limit
    lines = [_line(outcome) for outcome in outcomes if not outcome.verdict.has_passed]
    lines.append(
        f"{counted(measures.cases, 'test')}: {measures.passed} passed, {measures.cases - measures.passed} failed"
    )
    header = ["", "tests", "passed", "answered", f"recall@{k}", "MRR"]
    lines.append(grid(header, [_row("recall", measures), _row("plain words", words)]))
    session.output.answer(data, "\n".join(lines))
    if degraded := sum(outcome.is_degraded for outcome in outcomes):
        session.output.note(f"{degraded} of {len(cases)} answered by words alone (run `memcli store index embed`)")
    return CorruptError.exit_code if measures.passed / len(cases) < options.fail_under else 0


def _own(root: str) -> Iterator[list[Case]]:
    """The cases of each file of tests in the store at `root`. Raises UsageError, StoreError."""
    from memcli.extras.check.questions import read_cases
    from memcli.store.atomic import read_regular

    folder = os.path.join(root, _FOLDER)
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"cannot read {_shown(folder)}: {error.strerror}", "replace it with a folder") from None
    for name in names:
        if not name.endswith(".toml") or name.startswith("."):
            continue
        path = os.path.join(folder, name)
        shown = _shown(path)
        try:
            # Follows no link, which a clone could have to a file outside of the store. One byte more than permitted, so that
            # a longer file is noticed.
            data = read_regular(path, _MAX_BYTES + 1) or b""
        except OSError as error:
            raise StoreError(f"cannot read {shown}: {error.strerror}", "replace it with a regular file") from None
        if len(data) > _MAX_BYTES:
            raise UsageError(f"{shown} is longer than 1 MiB", "split it into parts")
        yield read_cases(decode(data, shown), shown)


def _shown(path: str) -> str:
    """The path relative to the working directory, if it is below that."""
    near = os.path.relpath(path)
    return path if near.startswith(os.pardir) else near


def _line(outcome: CaseOutcome) -> str:
    """The line about a failed test: its file and line, its topic, and what is wrong with the result."""
    from memcli.extras.check.cases import depth_of
    from memcli.render.clean import clean_line, cut

    case, problems = outcome.case, []
    if case.empty and outcome.verdict.size:
        problems.append(f"not empty: {counted(outcome.verdict.size, 'entry', 'entries')}")
    elif case.empty and not outcome.verdict.is_empty:
        problems.append("not empty: more matched than the budget holds")
    budget = " without the budget" if case.budget is not None else ""
    for want, place in outcome.missing:
        ranked = f"not in the first {depth_of(case)}" if place is None else f"ranked {place}"
        problems.append(f"missing {cut(clean_line(want), _WANT_WIDTH)} ({ranked}{budget})")
    problems += [f"unwanted {cut(clean_line(want), _WANT_WIDTH)} (at {place})" for want, place in outcome.unwanted]
    if outcome.reason and not case.empty:
        problems.append(f"no entries: {outcome.reason}")
    # Cleaned, because the name of a file could otherwise imitate a line of the report.
    return f"{clean_line(case.place)}: {cut(clean_line(outcome.topic), _TOPIC_WIDTH)!r}: {'; '.join(problems)}"


def _row(name: str, measures: Measures) -> list[str]:
    means = ["-" if mean is None else f"{mean:.3f}" for mean in (measures.recall, measures.mrr)]
    return [name, str(measures.cases), str(measures.passed), f"{measures.answered} of {measures.targeted}", *means]


def _measured(measures: Measures) -> Json:
    means = {"recall_at_k": measures.recall, "mrr": measures.mrr}
    return {
        "cases": measures.cases,
        "passed": measures.passed,
        "asked": measures.targeted,
        "answered": measures.answered,
        **{name: None if mean is None else round(mean, 4) for name, mean in means.items()},
    }
