"""What `memcli recall` does, apart from how its options are declared."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace

from memcli.app.recall import recall as answer
from memcli.cli import filters
from memcli.cli.output import is_terminal
from memcli.cli.session import Session
from memcli.cli.text import decode, read_text
from memcli.clock import normalize_time
from memcli.codec.canonical import encode_line
from memcli.codec.recall import bundle_to_json
from memcli.errors import NotFoundError, UsageError
from memcli.model.edits import FileEdit
from memcli.model.recall import DEFAULT_LIMIT, Bundle, Query
from memcli.render import RENDERERS

_ASK = 'ask a question: memcli recall "which database?", or list a kind with --kind'
_MAX_LIMIT = 10_000


def recall(
    session: Session,
    *,
    topic: str | None = None,
    topics: str | None = None,
    limit: int = DEFAULT_LIMIT,
    raw_limit: int | None = None,
    include_raw: bool = False,
    include_metadata: bool = False,
    format_: str | None = None,
    budget: int | None = None,
    kind: list[str] | None = None,
    tag: list[str] | None = None,
    under: str = "",
    scope: str | None = None,
    since: str | None = None,
    until: str | None = None,
    rev: str | None = None,
    at: str | None = None,
    prefer_kind: list[str] | None = None,
    prefer_tag: list[str] | None = None,
    require_high_relevance: bool = False,
    min_score: float | None = None,
    backend: str | None = None,
    weights: str | None = None,
    recency_bias: float | None = None,
    deadline: int | None = None,
    all_spaces: bool = False,
    no_global: bool = False,
    explain: bool = False,
    include_untrusted: bool = False,
    fail_empty: bool = False,
    from_diff: str | None = None,
    changed: str | None = None,
) -> int:
    """Prints one bundle, or one for each topic; returns the exit code. Raises UsageError and what recall raises."""
    name = _format(session, format_)
    _check_ranges(limit, raw_limit, budget, deadline, recency_bias)
    if topic is not None and topics is not None:
        raise UsageError("both a topic and --topics are given", "give one of them")
    edits = _edits(topic if topics is None else topics, from_diff, changed)
    if edits is None and topics is None and (topic is not None or not kind):
        topic = _asked(topic, may_be_empty=bool(kind))
    workspace = session.open(backend=backend, rev=rev)
    query = Query(
        topic="", now=workspace.clock(), limit=limit, raw_limit=raw_limit,
        include_raw=include_raw or raw_limit is not None, include_metadata=include_metadata, budget=budget,
        kinds=filters.kinds(session, kind), tags=filters.tags(tag), under=filters.path(under, "--under"), scope=scope,
        since=_time(since), until=_time(until), at=_time(at), prefer_kinds=filters.kinds(session, prefer_kind),
        prefer_tags=filters.tags(prefer_tag, "--prefer-tag"),
        require_high_relevance=require_high_relevance, min_score=min_score, weights=_weights(weights),
        recency_bias=recency_bias, deadline=None if deadline is None else deadline / 1000, explain=explain, include_untrusted=include_untrusted, edits=edits,
    )  # fmt: skip
    spaces = workspace.store.spaces() if all_spaces else None
    if topics is not None:
        lines = (replace(query, topic=line) for line in _lines(topics))
        bundles = answer(workspace, lines, spaces=spaces, with_global=not no_global, render=_line)
        session.output.lines(bundle_to_json(bundle) for bundle in bundles)
        return 0
    asked = replace(query, topic=topic or "")
    render = RENDERERS[name]()
    bundle = next(iter(answer(workspace, [asked], spaces=spaces, with_global=not no_global, render=render)))
    session.output.write(render(bundle))
    return NotFoundError.exit_code if fail_empty and bundle.reason else 0


def _edits(topic: str | None, from_diff: str | None, changed: str | None) -> tuple[FileEdit, ...] | None:
    """The change that is asked about, None where none is. Raises UsageError, and what reading it raises."""
    if from_diff is None and changed is None:
        return None
    if topic is not None or (from_diff is not None and changed is not None):
        raise UsageError("more than one of a topic, --from-diff and --changed is given", "give one of them")
    from memcli.cli.diffs import read_edits

    return tuple(read_edits(diff=from_diff, changed=changed))


def _asked(topic: str | None, may_be_empty: bool) -> str:
    """The topic that was given, or piped in. Raises UsageError when there is none."""
    if topic is None and sys.stdin.isatty():
        raise UsageError("no topic", _ASK)
    asked = read_text(None, "-") if topic in (None, "-") else decode(os.fsencode(topic or ""), "the topic")
    if not asked.replace("\0", " ").strip() and not may_be_empty:
        raise UsageError("the topic is empty", _ASK)
    return asked


def _line(bundle: Bundle) -> str:
    return encode_line(bundle_to_json(bundle)).decode()


def _time(text: str | None) -> str | None:
    return None if text is None else normalize_time(text)


def _weights(text: str | None) -> dict[str, float]:
    """`semantic=.4,keyword=.3` as a mapping. Raises UsageError for what is no number."""
    found = {}
    for part in (text or "").split(",") if text else []:
        name, _, number = part.partition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            raise UsageError(
                f"--weights {part!r} is not name=number", "write --weights semantic=.6,keyword=.4"
            ) from None
    return found


def _check_ranges(
    limit: int, raw_limit: int | None, budget: int | None, deadline: int | None, recency_bias: float | None
) -> None:
    for name, value, low, high in (
        ("--limit", limit, 1, _MAX_LIMIT), ("--raw-limit", raw_limit, 0, _MAX_LIMIT), ("--budget", budget, 1, 10**7),
        ("--deadline", deadline, 0, 10**7), ("--recency-bias", recency_bias, 0, 1),
    ):  # fmt: skip
        if value is not None and not low <= value <= high:
            raise UsageError(f"{name} must be between {low} and {high}, not {value}")


def _format(session: Session, name: str | None) -> str:
    if name is not None and name not in RENDERERS:
        raise UsageError(f"no format {name!r}", f"there are {', '.join(RENDERERS)}")
    return "json" if session.output.json else name or ("table" if is_terminal() else "prompt")


def _lines(source: str) -> Iterator[str]:
    text = read_text(None, source)
    yield from text.removesuffix("\n").split("\n") if text else ()
