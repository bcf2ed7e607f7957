"""The allocation of a context window: which of the system prompt, recent messages, memories, chunk summaries and contexts of
memories a budget of tokens holds.

A window grows in steps whose order does not depend on the budget, and takes as many of them as fit. So a window with a larger
budget contains everything that one with a smaller budget does. Recent messages and memories alternate by their tokens, in
proportion to their shares; when one of them ends, the other continues. Chunk summaries follow, then the rest of long texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate

from memcli.conversation.summary import Chunk
from memcli.errors import UsageError
from memcli.model.conversation import WINDOW_TOKENS, Message
from memcli.model.memory import Json
from memcli.model.tokens import count_tokens, cut_tokens
from memcli.record import Record, replace

SYSTEM, MEMORIES, CHUNKS, MESSAGES = "system", "memories", "chunks", "messages"
SECTIONS = (SYSTEM, MEMORIES, CHUNKS, MESSAGES)
"""The sections in the order in which they are printed."""


class Item(Record):
    """A candidate for a window: a system prompt, memory, chunk summary or message.

    `label` is printed above the text; `who` is the name of the speaker, if known. `number` is that of the message, `source`
    the id of the memory whose context contains it. `tokens` are those of the printed form.
    """

    section: str
    id: str
    text: str
    label: str = ""
    role: str = ""
    who: str = ""
    number: int = 0
    priority: float = 0.0
    source: str = ""
    is_cut: bool = False
    tokens: int = 0


def of_message(message: Message) -> Item:
    """The item for a recent message."""
    label = f"[message {message.number}] {message.who}"
    return Item(
        MESSAGES, f"message {message.number}", message.text, label, message.role, message.speaker, message.number
    )


def of_chunk(chunk: Chunk) -> Item:
    """The item for the summary of a chunk."""
    first, last = chunk.turns
    return Item(
        CHUNKS, f"chunk {chunk.number}", chunk.summary, f"[messages {first} to {last}] {', '.join(chunk.topics)}"
    )


def of_context(memory: str, context: Sequence[Mapping[str, Json]], session: str) -> list[Item]:
    """The items for the passages of the `context` of the memory with the id `memory`, the most similar first; those from
    `session` have the number of their message."""
    found = []
    for n, piece in sorted(enumerate(context, 1), key=lambda one: (-float(one[1].get("similarity", 0)), one[0])):
        of, _, number = str(piece.get("source", "")).rpartition("#")
        is_own = bool(session) and of == session and number.isdecimal()
        role = str(piece.get("role") or "user")
        where = f"message {number}, as {memory} has it" if is_own else f"from {memory}"
        found.append(
            Item(
                MESSAGES,
                f"{memory} context {n}",
                str(piece.get("text", "")),
                f"[{where}] {role}",
                role,
                number=int(number) if is_own else 0,  # of another session: it comes before all messages
                priority=float(piece.get("similarity", 0)),
                source=memory,
            )
        )
    return found


RESERVE_SYSTEM, RESERVE_WORKING = 2_000, 8_000
LONG = 1_000
"""The tokens to which a longer text is cut at first; its rest is added if everything else fits."""
_SHARES = {MESSAGES: 6, MEMORIES: 4}
"""The shares of the room beside the reserves, in tenths."""

NO_ROOM, BEHIND, REPLACED, CUT, EMPTY, PRESENT, REPEATED, UNTRUSTED = (
    "does not fit", "ranked behind what does not fit", "replaced by inserted context", "cut; the rest does not fit",
    "has no text", "in the window as a message", "repeats a recent message", "contains instructions to an agent",
)  # fmt: skip
"""The reasons why an item is left out."""


class WindowLayout(Record):
    """The tokens of the printed form: of an item, 0 if it has no visible text; and of what frames the items of a section, if
    that has any."""

    cost: Callable[[Item], int]
    frame: Callable[[str], int]


class WindowLimits(Record):
    """The tokens of a window in total, and those reserved for the system prompt and for work."""

    total: int = WINDOW_TOKENS
    reserve_system: int = RESERVE_SYSTEM
    reserve_working: int = RESERVE_WORKING


class LeftOut(Record):
    """An item that is not in the window, or the rest of a cut item, with the reason."""

    section: str
    id: str
    tokens: int
    priority: float
    reason: str


class ContextWindow(Record):
    """The items of a window, in the order in which they are printed, and those left out. `used` are the tokens of all that is
    printed; `room` are those that were available beside the system prompt, and `borrowed` those that this takes beyond its
    reserve."""

    limits: WindowLimits
    items: tuple[Item, ...]
    left_out: tuple[LeftOut, ...]
    used: int
    room: int
    borrowed: int = 0

    def of(self, section: str) -> list[Item]:
        return [item for item in self.items if item.section == section]


_Step = tuple[Item, int]
"""A step of growth: an item that is added, cut or whole, and the tokens that this adds."""


def limits(
    total: int = WINDOW_TOKENS, reserve_system: int | None = None, reserve_working: int | None = None
) -> WindowLimits:
    """The limits, with default reserves, which are at most an eighth and a fourth of the total. Raises UsageError for negative
    numbers and if the reserves exceed the total."""
    system = min(RESERVE_SYSTEM, total // 8) if reserve_system is None else reserve_system
    working = min(RESERVE_WORKING, total // 4) if reserve_working is None else reserve_working
    if total < 1 or min(system, working) < 0:
        raise UsageError("a window needs a positive total and no negative reserve", "give numbers of tokens")
    if system + working > total:
        hint = "raise --total or lower --reserve-system and --reserve-working"
        raise UsageError(f"the reserves of {system} and {working} tokens exceed the total of {total}", hint)
    return WindowLimits(total, system, working)


def allocate(items: Sequence[Item], limits: WindowLimits, layout: WindowLayout) -> ContextWindow:
    """The window with the items that fit. `items` has at most one of SYSTEM, memories best first, chunks and messages in the
    order of the session. Raises UsageError if the system prompt alone takes more than the total.
    """
    costed = [replace(item, tokens=layout.cost(item)) for item in items]
    blank = [item for item in costed if not item.tokens]
    costed = [item for item in costed if item.tokens]
    system = [item for item in costed if item.section == SYSTEM]
    prompt = sum(item.tokens for item in system) + sum(layout.frame(SYSTEM) for _ in system)
    if prompt > limits.total:
        hint = "shorten it or raise --total"
        raise UsageError(f"the system prompt takes {prompt} tokens, more than the total of {limits.total}", hint)
    # A prompt that is longer than its reserve takes from the rest; the reserve for work stays.
    room = max(0, limits.total - limits.reserve_working - max(limits.reserve_system, prompt))
    found = {section: [item for item in costed if item.section == section] for section in SECTIONS}
    # The latest have the highest priority: messages from 0.9 down to 0.5, chunks from there to 0. Memories have their scores.
    for section, highest, lowest in ((MESSAGES, 0.9, 0.5), (CHUNKS, 0.5, 0.0)):
        latest = found[section][::-1]
        fall = (highest - lowest) / max(1, len(latest))
        found[section] = [replace(item, priority=highest - fall * n) for n, item in enumerate(latest)]
    whole = {(item.section, item.id): item for items in found.values() for item in items}
    steps = _steps(found, whole, layout)
    taken = _fitting([cost for _, cost in steps], room)
    inside = {(item.section, item.id): item for item in (*system, *(item for item, _ in steps[:taken]))}
    place = {(item.section, item.id): (SECTIONS.index(item.section), n) for n, item in enumerate(costed)}
    return ContextWindow(
        limits,
        tuple(inside[key] for key in sorted(inside, key=place.__getitem__)),
        (*_left_out(steps[taken:], inside, whole), *(_out(item, EMPTY) for item in blank)),
        prompt + sum(cost for _, cost in steps[:taken]),
        room,
        max(0, prompt - limits.reserve_system),
    )


def insert(
    window: ContextWindow, pieces: Sequence[Item], relevance: Mapping[int, float], layout: WindowLayout
) -> ContextWindow:
    """The window with `pieces` of a memory's context, best first, among the messages by their numbers.

    They replace the least relevant messages, by the `relevance` of each number, but never the latest message or one that a
    piece repeats. If these do not suffice and nothing was left out before, free room is used.
    """
    messages = window.of(MESSAGES)
    present = {item.number for item in messages if item.number}
    costed = [replace(item, section=MESSAGES, tokens=layout.cost(item)) for item in pieces]
    new = [item for item in costed if item.number not in present and item.tokens]
    protected = {item.number for item in costed} | {item.number for item in messages[-1:]}
    # What was left out has a better claim to free room than a piece, so a window without all of it counts as full.
    is_full = any(one.reason != EMPTY for one in window.left_out)
    system = window.of(SYSTEM)
    spare = 0 if is_full else window.room - window.used + _sum(system) + (layout.frame(SYSTEM) if system else 0)
    frame = 0 if messages or not new else layout.frame(MESSAGES)
    ranked = sorted(
        (item for item in messages if item.number not in protected),
        key=lambda item: (relevance.get(item.number, 0.0), item.number),
    )
    fitting = _fitting([item.tokens for item in new], _sum(ranked) + spare - frame)
    ends = [0, *accumulate(item.tokens for item in ranked)]
    replaced = ranked[: next((n for n, end in enumerate(ends) if end >= _sum(new[:fitting])), len(ranked))]
    others = [item for item in window.items if item.section != MESSAGES]
    remaining = [item for item in messages if item not in replaced]
    inserted = (*others, *sorted([*remaining, *new[:fitting]], key=lambda item: item.number))
    left_out = [
        *(_out(item, REPLACED) for item in replaced),
        *(_out(item, NO_ROOM if n == 0 else BEHIND) for n, item in enumerate(new[fitting:])),
        *(_out(item, PRESENT if item.tokens else EMPTY) for item in costed if item not in new),
    ]
    used = window.used - _sum(replaced) + _sum(new[:fitting]) + (frame if fitting else 0)
    return replace(window, items=inserted, left_out=(*window.left_out, *left_out), used=used)


def without(window: ContextWindow, items: Sequence[Item], reason: str, layout: WindowLayout) -> ContextWindow:
    """The window with `items`, which were left out before the allocation, among those left out."""
    out = [_out(replace(item, tokens=layout.cost(item)), reason) for item in items]
    return replace(window, left_out=(*window.left_out, *out))


def _steps(
    found: Mapping[str, Sequence[Item]], whole: Mapping[tuple[str, str], Item], layout: WindowLayout
) -> list[_Step]:
    """All steps in their order: the sections of `_SHARES` merged; then chunks; then the rest of cut texts."""
    # A step's key is the tokens of its section up to its end, divided by the share of the section: in this order, any prefix
    # has the sections in proportion to their shares. 12 is a multiple of both, so that the division is exact.
    shared: list[tuple[int, int, _Step]] = []
    for rank, (section, share) in enumerate(_SHARES.items()):
        steps = list(_costs(found[section], layout))
        ends = accumulate(cost for _, cost in steps)
        shared += [(end * 12 // share, rank, step) for step, end in zip(steps, ends, strict=True)]
    shared.sort(key=lambda one: one[:2])
    first = [*(step for *_, step in shared), *_costs(found[CHUNKS], layout)]
    full = [(whole[item.section, item.id], item.tokens) for item, _ in first if item.is_cut]
    return [*first, *((item, item.tokens - shown) for item, shown in full)]


def _costs(items: Sequence[Item], layout: WindowLayout) -> Iterator[_Step]:
    """The first step of each item of a section; the first one includes the frame of the section."""
    for n, item in enumerate(items):
        shown = item
        if item.tokens > LONG and count_tokens(item.text) > LONG:
            cut = replace(item, text=cut_tokens(item.text, LONG), is_cut=True)
            cut = replace(cut, tokens=layout.cost(cut))
            shown = cut if cut.tokens < item.tokens else item  # else the step to the whole text would cost nothing
        yield shown, shown.tokens + (0 if n else layout.frame(item.section))


def _fitting(costs: Sequence[int], room: int) -> int:
    """The number of the first costs whose sum fits."""
    return next((n for n, end in enumerate(accumulate(costs)) if end > room), len(costs))


def _left_out(
    steps: Sequence[_Step], inside: Mapping[tuple[str, str], Item], whole: Mapping[tuple[str, str], Item]
) -> Iterator[LeftOut]:
    """An entry for each item of the steps that were not taken: the whole item, or the rest of one that is in the window."""
    seen = set()
    for n, (item, cost) in enumerate(steps):
        key = item.section, item.id
        if key in inside:
            yield replace(_out(item, CUT), tokens=cost)
        elif key not in seen:
            # Only the first step does not fit. Others may, but none may pass it: a larger window would then lose them again.
            yield _out(whole[key], NO_ROOM if n == 0 else BEHIND)
        seen.add(key)


def _out(item: Item, reason: str) -> LeftOut:
    return LeftOut(item.section, item.id, item.tokens, item.priority, reason)


def _sum(items: Sequence[Item]) -> int:
    return sum(item.tokens for item in items)
