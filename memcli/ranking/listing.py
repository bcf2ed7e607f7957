"""Listing: a topic that names a period and nothing else, such as `yesterday's commits`, asks for all of that time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcli.model.analysis import query_terms
from memcli.model.recall import Hit, Query
from memcli.ranking.commits import one_each
from memcli.record import replace

if TYPE_CHECKING:
    from memcli.model.periods import Period
    from memcli.ports.views import Rankable

_GENERIC = "commit change changed changes happen happened do did done new work worked add added update updated learn learned learnt"
_COMMITS = "commit commits committed"
_KINDS = (("decide decided decision decisions", "decision"), ("learn learned learnt", "fact"))


def is_listed(period: Period) -> bool:
    """Whether nothing but the period, and words for whatever happened in it, was asked for."""
    generic = query_terms(f"{_GENERIC} {_COMMITS} {_KINDS[0][0]}")
    return all(term in generic for term in query_terms(period.rest))


def within_period(query: Query, period: Period, view: Rankable) -> tuple[Hit, ...]:
    """What is dated within the period, newest first, a commit as one entry: of the kind that the topic names, if there is
    any of it; but nothing else for commits."""
    asked = set(query_terms(period.rest))
    rows = view.visible(
        replace(
            query,
            since=max(filter(None, (query.since, period.since))),
            until=min(filter(None, (query.until, period.until))),
        )
    )
    entries = [e for e in view.entries(None if rows.only is None else sorted(rows.only)).values() if e.row in rows]
    wanted = {kind for words, kind in _KINDS if asked & set(query_terms(words))}
    narrowed = [e for e in entries if e.kind in wanted]
    names_commits = bool(asked & set(query_terms(_COMMITS)))
    if names_commits:
        narrowed += [e for e in entries if e.commit and e not in narrowed]
    found = sorted(narrowed if narrowed or names_commits else entries, key=lambda entry: entry.id)
    found.sort(key=lambda entry: entry.created_at, reverse=True)
    scores = [1 - place / len(found) for place in range(len(found))]
    return one_each([Hit(entry, score, {"period": score}) for entry, score in zip(found, scores, strict=True)], {})
