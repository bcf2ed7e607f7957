"""The episodes of a conversation (decisions, solutions, breakthroughs, issues, completed tasks, changes of plan), and its arc."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memcli.conversation.statements import PHATIC, bared, statements
from memcli.conversation.threads import BREAKTHROUGH, COMPLETED, DECISION, ISSUE, PIVOT, SOLVED, DraftEpisode, drafts
from memcli.model.conversation import Message
from memcli.model.memory import Json
from memcli.record import Record
from memcli.regex import regex
from memcli.summarize.summaries import clip
from memcli.text.words import terms

KINDS = (DECISION, SOLVED, BREAKTHROUGH, ISSUE, COMPLETED, PIVOT)
MOST = 100
"""The default of the policy's `max_episodes`."""

_TITLE, _CONTEXT = 80, 300
"""The most characters of a title and of a context or outcome."""
_ALIKE = 0.6
"""The share of terms from which on two episodes of one kind are the same, repeated."""
_VALENCE: Mapping[str, float] = {
    DECISION: 0.2, SOLVED: 0.6, BREAKTHROUGH: 0.8, ISSUE: -0.5, COMPLETED: 0.5, PIVOT: -0.1,
}  # fmt: skip
_SIGNIFICANCE: Mapping[str, float] = {
    DECISION: 0.6, SOLVED: 0.55, BREAKTHROUGH: 0.75, ISSUE: 0.45, COMPLETED: 0.5, PIVOT: 0.65,
}  # fmt: skip
_GLAD = regex(
    r"\b(?:thanks?|great|perfect|amazing|wow|awesome|excellent|hooray|nice|love|brilliant|fantastic|huge|finally|incredible|lgtm|happy)\b"
)
_SORRY = regex(
    r"\b(?:unfortunately|annoying|terrible|awful|ouch|sadly|frustrat\w+|damn|bad|worse|worst|painful|angry|hate|give up|gave up|lost|nope|wasted)\b"
)
_GRAVE = regex(
    r"\b(?:production|prod|data loss|security|vulnerab\w+|customers?|outage|architecture|database|schema|breaking change|critical|urgent|"
    r"root cause|deadline|legal|budget|payments?|billing|invoices?|deadlock|corrupt\w*|release[ds]?|launch\w*|migrat\w+)\b"
)
_REASON = regex(r"\b(?:because|since|so that|due to|therefore|otherwise|the reason|saves?|in order to)\b")


class Episode(Record):
    """One episode, with the fields of a memory's `episode`. `turns` are the numbers of its first and last message."""

    kind: str
    title: str
    context: str
    participants: tuple[str, ...]
    outcome: str
    valence: float
    significance: float
    turns: tuple[int, int]

    @property
    def parts(self) -> tuple[str, ...]:
        """The title and the outcome; the outcome alone where the title is its beginning."""
        if not self.outcome or self.outcome == self.title:
            return (self.title,)
        return (self.outcome,) if self.outcome.startswith(self.title.removesuffix("…")) else (self.title, self.outcome)

    def as_field(self) -> dict[str, Json]:
        """The field `episode` of a memory."""
        return {
            "title": self.title, "context": self.context, "participants": list(self.participants), "outcome": self.outcome,
            "valence": self.valence, "significance": self.significance, "turns": list(self.turns),
        }  # fmt: skip


def find(messages: Sequence[Message], most: int = MOST) -> list[Episode]:
    """The episodes of a conversation in order, of more than `most` the most significant."""
    by_number = {message.number: message for message in messages}
    found = [_episode(draft, by_number) for draft in _merged(drafts(messages))]
    chosen = sorted(found, key=lambda one: (-one.significance, one.turns, one.kind))[:most]
    return sorted(chosen, key=lambda one: (*one.turns, KINDS.index(one.kind), one.title))


def _merged(found: Iterable[DraftEpisode]) -> list[DraftEpisode]:
    """The drafts, of which those of one kind that overlap or repeat each other are one; issues and tasks within a solved problem
    are dropped as its parts."""
    merged: list[DraftEpisode] = []
    for draft in sorted(found, key=lambda one: (one.first, -one.last, KINDS.index(one.kind))):
        place = next((n for n, other in enumerate(merged) if _is_part(draft, other)), None)
        if place is None:
            merged.append(draft)
        elif merged[place].kind == draft.kind and draft.first <= merged[place].last:
            # Otherwise the draft is a part of the other, or repeats it later: neither moves its end.
            later = max((merged[place], draft), key=lambda one: one.last)
            merged[place] = merged[place]._replace(last=later.last, closing=later.closing)
    return merged


def _is_part(draft: DraftEpisode, other: DraftEpisode) -> bool:
    """Whether `draft`, which begins no earlier, belongs to `other`."""
    overlaps, is_within = draft.first <= other.last, draft.last <= other.last
    if draft.kind != other.kind:
        return overlaps and is_within and other.kind == SOLVED and draft.kind in (ISSUE, COMPLETED)
    mine, others = (
        {term for sentence in (one.opening, one.closing) if sentence for term in terms(sentence.text)}
        for one in (draft, other)
    )
    shared = len(mine & others) / (min(len(mine), len(others)) or 1)
    return (overlaps and (shared > 0 or is_within)) or shared >= _ALIKE


def _episode(draft: DraftEpisode, by_number: Mapping[int, Message]) -> Episode:
    numbers = range(draft.first, draft.last + 1)
    spoken = [by_number[n] for n in numbers if n in by_number and by_number[n].role != "tool"]
    words = [bared(message.text) for message in spoken]
    glad, sorry = (sum(len(pattern.findall(text)) for text in words) for pattern in (_GLAD, _SORRY))
    valence = _VALENCE[draft.kind] + 0.1 * min(glad, 3) - 0.1 * min(sorry, 3)
    core, all_words = f"{draft.opening.bare} {draft.closing.bare if draft.closing else ''}", " ".join(words)
    # Grave matters, reasons, joy and length make an episode more significant.
    significance = _SIGNIFICANCE[draft.kind]
    significance += 0.1 * bool(_GRAVE.search(core)) + 0.05 * min(2, len(set(_GRAVE.findall(all_words))))
    significance += 0.05 * bool(_REASON.search(all_words)) + 0.05 * bool(_GLAD.search(all_words))
    significance += min(0.1, 0.01 * (draft.last - draft.first))
    subject = draft.closing.text if draft.kind == DECISION and draft.closing else draft.opening.text
    return Episode(
        draft.kind,
        clip(subject, _TITLE),
        clip(_context(draft, by_number), _CONTEXT),
        tuple(dict.fromkeys(message.who for message in spoken)),
        clip(draft.closing.text if draft.closing else "", _CONTEXT),
        round(max(-1.0, min(1.0, valence)), 2),
        round(min(1.0, significance), 2),
        (draft.first, draft.last),
    )


def _context(draft: DraftEpisode, by_number: Mapping[int, Message]) -> str:
    """What led to the episode: its opening, or if that is the closing too, the last sentence of the messages before."""
    if draft.closing and draft.opening.text != draft.closing.text:
        return draft.opening.text
    for number in range(draft.first, max(0, draft.first - 4), -1):
        message = by_number.get(number)
        sentences = [one for one in statements(message) if one.mood != PHATIC] if message else []
        before = [one.text for one in sentences if one.text != draft.opening.text or number != draft.first]
        if before and number != draft.first:
            return before[-1]
    return draft.opening.text


KEY = 0.7
"""The significance from which on an episode is a key moment."""


Arc = Mapping[str, tuple[Episode, ...]]
"""The episodes that begin in each third of the messages, `beginning`, `middle` and `end`, and of all the `key_moments`."""


def arc(episodes: Sequence[Episode], messages: int) -> Arc:
    """The arc of a conversation of so many messages, its episodes in order."""
    thirds = [min(2, (episode.turns[0] - 1) * 3 // max(1, messages)) for episode in episodes]
    first, second, third = (
        tuple(episode for episode, place in zip(episodes, thirds, strict=True) if place == n) for n in range(3)
    )
    moments = tuple(one for one in episodes if one.significance >= KEY)
    return {"beginning": first, "middle": second, "end": third, "key_moments": moments}
