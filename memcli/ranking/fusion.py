"""`fusion`: ranks by words and meaning, the surroundings of a memory, dates and speakers in the question, and priors.

The score of a memory is the sum of the parts that `--explain` shows. Words (BM25F) and meaning (the cosine of MiniLM) are
scaled so that 1 is a good answer, and weighted; see `lexical.py` and `answers.py`. The surroundings of a memory are the
memories before and after it, its group (a session, a commit), and its links.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from memcli.model.links import MUTUAL
from memcli.model.recall import (
    ANSWERED,
    LEAST,
    Entry,
    Hit,
    Nearness,
    PassageTerms,
    Query,
    Ranking,
    RecordedGroup,
    RowSet,
    TermStats,
)
from memcli.ranking.answers import (
    NEIGHBOUR,
    NONE,
    Answers,
    Cosines,
    Near,
    QuestionSignals,
    Signals,
    answers,
    calibrated,
    closeness,
    evidence_of,
    form_of,
    measure,
    mixed,
    probability,
)
from memcli.ranking.lexical import (
    CODE,
    Style,
    add_ageing,
    add_mentions,
    add_priors,
    bm25f,
    check,
    coverage,
    group_bm25,
    idf,
    most,
    ordered,
    style_of,
)
from memcli.record import replace
from memcli.text.passages import HUNK
from memcli.text.words import query_terms, without_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.index.view import IndexedSpace
    from memcli.text.periods import Period


CANDIDATES = 60
"""The number of candidates by words and by meaning, each: of 200, no more questions were answered, and changes were ranked worse. It does not depend on the limit of the query: scores depend on the
other candidates, so a larger limit would change the order."""
FIRST = 50
"""The number of best rows by words whose missing vectors are computed first; without one of these the ranking is degraded."""
CONTEXT_CANDIDATES = 100
"""The number of best rows whose groups are scored."""
# The members of more groups answered no more questions about repositories, in more time.
KIN_GROUPS = 5
"""The number of best groups all of whose members become candidates."""
# Documents and changes repeat the words of whole sentences, notes do not: a larger share answers more questions about
# repositories.
WHOLE_SHARE, READ_WHOLE_SHARE = 0.3, 0.6
"""The share of the whole question in meaning, for memories and for passages of documents and changes; the rest is the question
without common words."""
# Mostly the names of people, and that of the project.
COMMON_SHARE = 0.25
"""The share of a space above which a word is common: it distinguishes no memory, but influences a small encoder."""

TAIL_SHARE = 0.35
"""The least share of the best score of its style for a match: of twenty similar things, a question means the one that it names.
Low scores are also cut by the tail of the style."""

SHOWN = 10
"""The confidence in a ranking is that in the first so many."""
_WHOLE, _TOPIC = 0.999, math.log1p(2) + 1e-6
"""The share of a question's words that counts as all, and the length (`Signals.length`) of two terms."""
_EVERYWHERE = frozenset(("use",))
"""Words in half of all questions, which distinguish none, but would be rare in a small space."""
NEAR = 0.2
"""The least cosine of a hit that shares no word with the question."""
HALF, ALIKE = 0.5, 0.25
"""A memory with a score below the tail of its style matches if it has this share of the question's words, or this cosine."""
ABOUT_WEIGHT = 0.3
"""The most score for `--about`: it changes the order of answers, but is no question itself."""


def rank(query: Query, view: IndexedSpace) -> Ranking:
    """The hits by words, meaning and the other parts of a score. Without an embedder, by words alone."""
    check(query)
    if query.period and is_listed(query.period):
        return Ranking(tuple(within_period(query, query.period, view)))
    topic_terms = [term for term in query_terms(query.topic) if term not in _EVERYWHERE] or query_terms(query.topic)
    # Candidates are chosen among visible rows: filtered afterwards, a decision behind hundreds of commits would not be found
    # with `--kind decision`.
    visible = view.visible(query)
    stats = view.lexical(topic_terms, CANDIDATES, visible, with_common=True)
    # Right after an ingest most vectors are missing, and computing all would take minutes.
    first = _first(topic_terms, stats, view)
    measured = view.dense(_forms(query.topic, stats), query.deadline, visible, first, query.patience)
    near: Near | None = None if measured is None else weighed_forms(measured, WHOLE_SHARE)
    missing = near[0][1].missing if near else 0
    # By memories too, as the neighbour is one: with documents and messages embedded, most have a vector, but not their hunks.
    is_partial = near is not None and near[0][1].size < 2 * missing and 2 * len(near[0][1].rows) < stats.size
    cosines = mixed(near) if near else NONE
    state = Ranking(is_degraded=near is None or (missing > 0 and not len(cosines.rows)), missing=missing)
    cosines = cosines.among(visible)
    rows = sorted({*stats.counts, *cosines.nearest(CANDIDATES)})
    if not rows:
        return state
    near, cosines = _including(near, rows, cosines, visible)
    if near and any(math.isnan(near[0][1].of(row, place + 1)[place]) for row, place in first):
        state = replace(state, is_degraded=True)
    entries = view.entries(rows)
    styles = {row: style_of(entry) for row, entry in entries.items()}
    words = bm25f(stats, styles)
    whole = _whole(query, styles, stats, words, cosines)
    # Rounded, so that machines whose sums differ in the last digits agree, and ids decide between equals.
    best = sorted(whole, key=lambda row: (-round(sum(whole[row].values()), 6), entries[row].id))
    leading = [name for name in dict.fromkeys(entries[row].group for row in best[:CONTEXT_CANDIDATES]) if name]
    groups = view.groups(leading)
    # A file of a commit that answers is a candidate even if the file alone matches nothing.
    kin_of = (groups[name] for name in leading[:KIN_GROUPS])
    kin = sorted({row for group in kin_of for row in group.rows if row in visible and row not in entries})
    if kin:
        more = view.entries(kin)
        entries |= more
        near, cosines = _including(near, kin, cosines, visible)
        kin_styles = {row: style_of(entry) for row, entry in more.items()}
        styles |= kin_styles
        whole |= _whole(query, kin_styles, stats, words, cosines)
    read = {row for row, entry in entries.items() if entry.is_read}
    cut = view.passages(topic_terms, list(entries))
    read_near = weighed_forms([one for _, one in near or ()], READ_WHOLE_SHARE)
    found = answers(query, stats, cut, read, measure(stats, cut, read, near or (), read_near))
    parts = _scored(whole, found, styles, groups, stats)
    linked = _add_others(parts, entries, styles, query, view, visible)
    # All files of a commit have the same message, so only their hunks distinguish them.
    hunks = {row: max((one.score for one in own if one.form == HUNK), default=0.0) for row, own in found.items()}
    whole_question = mixed([(1.0, near[0][1])]).among(visible) if near else NONE
    matching = _hits(parts, entries, styles, found)
    confident = _confident(matching, styles, query, stats, whole_question, cut, linked, is_partial=is_partial)
    hits = one_each(ordered(confident, query), hunks)
    return replace(state, hits=hits, confidence=_confidence(hits[:SHOWN], by_meaning=near is not None))


def _add_others(
    parts: dict[int, dict[str, float]],
    entries: dict[int, Entry],
    styles: dict[int, Style],
    query: Query,
    view: IndexedSpace,
    visible: RowSet,
) -> Mapping[int, int]:
    """Adds the parts of each score beside words, meaning and surroundings; returns what `add_linked` does. The links come last:
    they pass on whole scores."""
    add_mentions(parts, entries, query)
    if query.about:
        _add_about(parts, query, view)
    add_priors(parts, entries, query)
    add_ageing(parts, entries, query)
    return add_linked(parts, entries, styles, view, visible)


def _scored(
    whole: Mapping[int, dict[str, float]],
    found: Answers,
    styles: Mapping[int, Style],
    groups: Mapping[str, RecordedGroup],
    stats: TermStats,
) -> dict[int, dict[str, float]]:
    """The parts of each score by words, meaning and surroundings. A document scores as its best passage; talk and changes
    score as a whole, with their surroundings. Among other text a change scores as its best passage too, since the right commit
    alone is no answer."""
    is_mixed = CODE in styles.values() and len(set(styles.values())) > 1
    by_passage = {row for row, style in styles.items() if style.by_passage or (is_mixed and style == CODE)}
    best = {row: scored[0].score for row, scored in found.items() if scored}
    parts = {
        row: dict(found[row][0].why) if row in by_passage and found.get(row) else why for row, why in whole.items()
    }
    add_context(
        {row: why for row, why in parts.items() if not (is_mixed and styles[row] == CODE)}, styles, groups, stats
    )
    level(parts, styles, best)
    return parts


def _hits(
    parts: Mapping[int, Mapping[str, float]], entries: Mapping[int, Entry], styles: Mapping[int, Style], found: Answers
) -> list[Hit]:
    """The hits: rows with at least TAIL_SHARE of the best score of their style."""
    scores = {row: sum(why.values()) for row, why in parts.items()}
    best: dict[Style, float] = {}
    for row, score in scores.items():
        best[styles[row]] = max(best.get(styles[row], 0.0), score)
    return [
        Hit(
            entries[row],
            score,
            {k: v for k, v in parts[row].items() if v},
            tuple([(one.n, one.score) for one in found.get(row, ())]),
        )
        for row, score in scores.items()
        if score >= TAIL_SHARE * best[styles[row]]
    ]


def _confident(
    hits: Sequence[Hit],
    styles: Mapping[int, Style],
    query: Query,
    stats: TermStats,
    cosines: Cosines,
    cut: Mapping[int, Sequence[PassageTerms]],
    linked: Mapping[int, int],
    *,
    is_partial: bool,
) -> list[Hit]:
    """The hits with the probability that each answers, without those of a low score that share little with the question.
    `linked` has the rows that links raised, with the row from which: they stay with it.

    `is_partial`: most passages and most memories have no vector. Those that have one are the best by words, and nearer than
    others, so the neighbour (`answers.NEIGHBOUR`) is estimated by the median instead of the last of the nearest.
    """
    nearest = cosines.nearest(NEIGHBOUR)
    known = cosines.of({*nearest, *(hit.entry.row for hit in hits)})
    ascending = sorted(known[row] for row in nearest)
    neighbour = ascending[len(ascending) // 2 if is_partial else 0] if ascending else 0.0
    speakers = {hit.entry.speaker for hit in hits if hit.entry.speaker}
    question = QuestionSignals(query.topic, stats, known, neighbour, speakers)
    scores = sorted((hit.score for hit in hits), reverse=True)
    best, fifth = scores[0] if scores else 0.0, scores[4] if len(scores) > 4 else 0.0
    judged = list[Hit]()
    bearing = set[int]()
    for hit in hits:
        row = hit.entry.row
        own = cut.get(row, ()) if hit.passages else ()
        passage = next((one for one in own if one.n == hit.passages[0][0]), None)
        is_far = row not in stats.counts and row in known and known[row] < NEAR
        if is_far and row not in linked:
            continue
        form = form_of(hit.entry, passage)
        signals = question.of(row, passage, hit.score, best, fifth, is_read=hit.entry.is_read)
        confidence = probability(signals, form, is_prompt=query.is_prompt, by_meaning=row in known)
        is_alike = signals.passage >= HALF or signals.cosine >= ALIKE
        if not is_far and (is_alike or hit.score >= styles[row].tail):
            bearing.add(row)
        judged.append(hit._replace(confidence=confidence, signals=signals, form=form))
    return [hit for hit in judged if hit.entry.row in bearing or linked.get(hit.entry.row) in bearing]


def _confidence(hits: Sequence[Hit], *, by_meaning: bool) -> float:
    """The probability that one of the hits answers; 0 without any.

    A hit with every word of a question is at least weak evidence; if these are one or two words that ask nothing in particular
    ("ssl", "event hooks"), it is an answer.
    """
    if not hits:
        return 0.0
    signals = [Signals(*hit.signals) for hit in hits]
    evidence = evidence_of([hit.confidence or 0.0 for hit in hits], signals)
    found = calibrated(evidence, hits[0].form, by_meaning=by_meaning)
    if not signals[0].length:  # without a word, as for an emoji, nearness is chance
        return min(found, LEAST)
    if max(one.passage for one in signals) < _WHOLE:
        return found
    is_topic = not signals[0].asks and signals[0].length <= _TOPIC
    return max(found, ANSWERED if is_topic else LEAST)


def _first(topic_terms: Sequence[str], stats: TermStats, view: IndexedSpace) -> list[tuple[int, int]]:
    """The passages whose vectors matter most: of each of the best rows by words, the one that shares the rarest words with the
    question; each as its row and its number."""
    weights = {term: idf(stats.size, frequency) for term, frequency in stats.frequencies.items()}

    def shared(one: PassageTerms) -> float:
        return round(sum(weights.get(term, 0.0) for term in one.counts), 6)

    cut = view.passages(topic_terms, list(stats.counts)[:FIRST])
    return [(row, max(range(len(own)), key=lambda n: (shared(own[n]), -n))) for row, own in cut.items() if own]


def weighed_forms(measured: Sequence[Nearness], whole: float) -> Near:
    """The nearness to each form of a question with its share: `whole` for the whole question, if there are two forms."""
    return list(zip((whole, 1 - whole) if len(measured) > 1 else (1.0,), measured, strict=False))


def _including(
    near: Near | None, rows: Sequence[int], cosines: Cosines, visible: RowSet
) -> tuple[Near | None, Cosines]:
    """The nearness and the visible cosines, extended by those of `rows`, as in a large space only the nearest are measured."""
    if not near or near[0][1].more is None:
        return near, cosines
    known = [(share, one.including(rows)) for share, one in near]
    return known, mixed(known).among(visible)


def _forms(topic: str, stats: TermStats) -> list[str]:
    """The topic, and if it differs, the topic without the common words of the space."""
    # Words are only taken away: terms added from the best answers (RM3, Rocchio) improved nothing.
    common = frozenset(t for t, n in stats.frequencies.items() if n > COMMON_SHARE * stats.size)
    distinctive = without_terms(topic, common)
    return [topic] if distinctive == topic else [topic, distinctive]


def _whole(
    query: Query, styles: Mapping[int, Style], stats: TermStats, words: Mapping[int, float], cosines: Cosines
) -> dict[int, dict[str, float]]:
    """The parts of each memory's score as a whole, by words and by meaning; the two weights add up to 1."""
    # A weighted sum: fusion of ranks (RRF) found far less in dialogues and in changes.
    high = most(stats)
    known = cosines.of(styles)
    parts = {}
    for row, style in styles.items():
        # A memory without a vector yet is scored by its words alone, on the same scale.
        lexical = style.lexical if row in known else 1.0
        parts[row] = {"words": query.weights.get("keyword", lexical) * words.get(row, 0.0) / high}
        if row in known:
            parts[row]["meaning"] = query.weights.get("semantic", 1 - lexical) * closeness(known[row])
    return parts


def _add_about(parts: Mapping[int, dict[str, float]], query: Query, view: IndexedSpace) -> None:
    """Adds the part for the text in `--about`: words and meaning, each scaled to 0..1, half and half."""
    covered = coverage(view.lexical(query_terms(query.about), CANDIDATES, view.visible(query)))
    found = view.dense([query.about], query.deadline, patience=query.patience)
    cosines = mixed([(1.0, found[0].including(parts))]).of(parts) if found else {}
    for given, share in ((covered, ABOUT_WEIGHT / 2), (cosines, ABOUT_WEIGHT / 2)):
        known = [given[row] for row in parts if row in given]
        least, most = min(known, default=0.0), max(known, default=0.0)
        for row, why in parts.items():
            if row in given and most > least:
                why["about"] = why.get("about", 0.0) + share * (given[row] - least) / (most - least)


_GENERIC = "commit change changed changes happen happened do did done new work worked add added update updated learn learned learnt"
_COMMITS = "commit commits committed"
_KINDS = (("decide decided decision decisions", "decision"), ("learn learned learnt", "fact"))


def is_listed(period: Period) -> bool:
    """Whether the topic consists of a period and generic words (`what changed last week`), so that all of the period is listed."""
    generic = query_terms(f"{_GENERIC} {_COMMITS} {_KINDS[0][0]}")
    return all(term in generic for term in query_terms(period.rest))


def within_period(query: Query, period: Period, view: IndexedSpace) -> tuple[Hit, ...]:
    """The memories of the period, newest first, each commit as one hit: only those of the kind that the topic names, if there
    are any, and only commits if it names these."""
    topic_terms = set(query_terms(period.rest))
    rows = view.visible(
        replace(
            query,
            since=max(filter(None, (query.since, period.since))),
            until=min(filter(None, (query.until, period.until))),
        )
    )
    entries = [e for e in view.entries(None if rows.only is None else sorted(rows.only)).values() if e.row in rows]
    wanted = {kind for words, kind in _KINDS if topic_terms & set(query_terms(words))}
    narrowed = [e for e in entries if e.kind in wanted]
    names_commits = bool(topic_terms & set(query_terms(_COMMITS)))
    if names_commits:
        narrowed += [e for e in entries if e.commit and e not in narrowed]
    # A question for the commits of a period without any lists nothing else.
    found = sorted(narrowed if narrowed or names_commits else entries, key=lambda entry: entry.id)
    found.sort(key=lambda entry: entry.created_at, reverse=True)
    scores = [1 - place / len(found) for place in range(len(found))]
    return one_each([Hit(entry, score, {"period": score}) for entry, score in zip(found, scores, strict=True)], {})


REACH = 2
BEST_OF_GROUP = 4
"""The number of best memories of a group whose mean is its score."""


def add_context(
    parts: Mapping[int, dict[str, float]],
    styles: Mapping[int, Style],
    groups: Mapping[str, RecordedGroup],
    stats: TermStats,
) -> None:
    """Adds `neighbours` and `group` to the parts of each score.

    The result is a weighted mean with the memory's own parts, so that a memory with a group has no advantage over one without.
    """
    # The words of a commit are spread over its files, so that the group as one text shows more than its parts.
    by_words = group_bm25(stats, groups)
    high = max(by_words.values(), default=0.0)
    own = {row: sum(why.values()) for row, why in parts.items()}
    for name, group in groups.items():
        known = [(n, row) for n, row in enumerate(group.rows) if row in styles]
        beside = {row: _beside(own, group.rows, n, styles[row]) for n, row in known}
        others = [0.0] * min(BEST_OF_GROUP, len(group.rows) - len(known))
        top = sorted([*(own.get(row, 0.0) + beside[row] for _, row in known), *others], reverse=True)[:BEST_OF_GROUP]
        best = sum(top) / len(top)
        for _, row in known:
            if row not in parts:
                continue
            why, style = parts[row], styles[row]
            why["neighbours"] = (own[row] + beside[row]) - own[row]
            total = 1 + style.group + style.group_words
            for part in why:
                why[part] /= total
            why["group"] = (style.group * best + style.group_words * (by_words[name] / high if high else 0.0)) / total


def level(parts: Mapping[int, dict[str, float]], styles: Mapping[int, Style], best: Mapping[int, float]) -> None:
    """Scales the scores of each style so that the highest equals the best passage of that style; `best` has the score of the
    best passage of each memory.

    So groups and whole texts change the order within a style, but do not raise it above another one.
    """
    by_style: dict[Style, list[int]] = {}
    for row in parts:
        by_style.setdefault(styles[row], []).append(row)
    for rows in by_style.values():
        peak = max(best.get(row, 0.0) for row in rows)
        high = max(sum(parts[row].values()) for row in rows)
        factor = peak / high if peak > 0 and high > 0 else 1.0
        for row in rows:
            for part in parts[row]:
                parts[row][part] *= factor


def _beside(own: Mapping[int, float], rows: Sequence[int], n: int, style: Style) -> float:
    """A share of the scores of the memories up to REACH before and after the row at `n`, decreasing with the distance."""
    if not style.neighbours:
        return 0.0
    found = 0.0
    for d in range(1, REACH + 1):
        for m in (n - d, n + d):
            if 0 <= m < len(rows) and rows[m] in own:
                found += style.neighbours / d * own[rows[m]]
    return found


CONTRADICTS = "contradicts"
LINK_STARTS = 10
LINK_START_SHARE = 0.5
"""The number of best memories, and their least share of the best score, whose linked memories are raised."""
ALONG: Mapping[str, float] = {
    CONTRADICTS: 0.97, "depends_on": 0.6, "derived_from": 0.6, "relates_to": 0.6, "supersedes": 0.6,
}  # fmt: skip
"""The share of a memory's score that the target of its link gets, times the weight of the link; a contradiction ranks right
below the memory."""
LEAST_LINK = 0.35
"""Links with a smaller share are ignored."""
MOST_LINKS = 4
"""The number of strongest links of each memory that count, in addition to all contradictions."""
AGAINST = 0.8
"""The factor in the opposite direction of a link, unless its relation is mutual."""


def add_linked(
    parts: dict[int, dict[str, float]],
    entries: dict[int, Entry],
    styles: dict[int, Style],
    view: IndexedSpace,
    visible: RowSet,
) -> Mapping[int, int]:
    """Raises the memories that are linked to the best ones to a share of their scores, also those that were no candidates;
    returns their rows, each with the row from which it was raised.

    Raised memories raise no others. The part of the score is named after the memory from which it comes.
    """
    scores = {row: sum(why.values()) for row, why in parts.items()}
    least = LINK_START_SHARE * max(scores.values(), default=0.0)
    ordered = sorted(scores, key=lambda row: (-round(scores[row], 6), entries[row].id))
    best = [row for row in ordered[:LINK_STARTS] if scores[row] >= least]
    links = view.links(best)
    if not links:
        return {}
    raised: dict[int, tuple[float, str, int]] = {}  # by row: the score, the name of the part, and the row it comes from
    ties = _ties(frozenset(best), links, visible)
    for start in best:
        ends = sorted(
            (tie for tie in ties.get(start, ()) if tie[0] >= LEAST_LINK),
            key=lambda tie: (-tie[0], -round(scores.get(tie[1], 0.0), 6), tie[2], tie[1]),
        )
        against = [tie for tie in ends if tie[2] == CONTRADICTS]
        others = [tie for tie in ends if tie[2] != CONTRADICTS]
        for share, end, relation in (*against, *others[:MOST_LINKS]):
            score = scores[start] * share
            if round(score, 6) > round(raised[end][0] if end in raised else scores.get(end, 0.0), 6):
                raised[end] = score, f"via {entries[start].id} ({relation})", start
    new = sorted(row for row in raised if row not in entries)
    if new:
        found = view.entries(new)
        entries |= found
        styles |= {row: style_of(entry) for row, entry in found.items()}
    for row, (score, via, _) in raised.items():
        why = parts.setdefault(row, {})
        why[via] = score - scores.get(row, 0.0)
    return {row: start for row, (_, _, start) in raised.items()}


def _ties(
    best: Collection[int], links: Iterable[tuple[int, int, str, float]], visible: RowSet
) -> dict[int, list[tuple[float, int, str]]]:
    """For each of the best rows, the share of its score that each linked row gets, that row, and the relation."""
    ties: dict[int, list[tuple[float, int, str]]] = {}
    for start, end, relation, weight in links:
        share = ALONG.get(relation, 0.0) * (1.0 if relation == CONTRADICTS else weight)
        if start in best and end in visible:
            ties.setdefault(start, []).append((share, end, relation))
        if end in best and start in visible:
            back = share if relation in MUTUAL else share * AGAINST
            ties.setdefault(end, []).append((back, start, relation))
    return ties


def one_each(hits: Sequence[Hit], best: Mapping[int, float]) -> tuple[Hit, ...]:
    """The hits, of which the files of one commit are one, at the rank of the first of them.

    It is the file with the best hunk, by the scores in `best`; the others are listed in `also`.
    """
    members: dict[str, list[Hit]] = {}
    for hit in hits:
        if hit.entry.commit:
            members.setdefault(hit.entry.commit, []).append(hit)
    entries = []
    for hit in hits:
        same = members.get(hit.entry.commit, [])
        if not same:
            entries.append(hit)
        elif hit is same[0]:
            chosen = max(same, key=lambda one: round(best.get(one.entry.row, 0.0), 6))
            also = tuple(one.entry.row for one in same if one is not chosen)
            entries.append(chosen._replace(score=hit.score, why=hit.why, also=also))
    return tuple(entries)
