"""The formats of a context window: Markdown for a prompt, with memories and summaries fenced as data; JSON, with the tokens of
each section and what was left out; and the lists of messages that the interfaces of providers accept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from memcli.digests import nonce_of
from memcli.extras.window.allocation import (
    CHUNKS,
    CUT,
    MEMORIES,
    MESSAGES,
    SECTIONS,
    SYSTEM,
    ContextWindow,
    Item,
    LeftOut,
    WindowLayout,
)
from memcli.model.memory import Json
from memcli.model.recall import Section
from memcli.model.tokens import count_tokens
from memcli.render.as_prompt import label, section_text
from memcli.render.clean import clean, clean_line, inert
from memcli.safety.recalled import HEADER

RECALLED = (MEMORIES, CHUNKS)
"""The sections inside the fence."""
HEADINGS: Mapping[str, str] = {
    MEMORIES: "## Memories", CHUNKS: "## Earlier in this session", MESSAGES: "## Recent messages",
}  # fmt: skip
OVERHEAD = 4
"""The tokens that a provider counts for each message beside its text."""
OPENING = "[The conversation began earlier.]"
"""The text of a first message of the user, for a list that would begin with the assistant."""
_NOUNS = {
    SYSTEM: ("system prompt", "system prompts"), MEMORIES: ("memory", "memories"),
    CHUNKS: ("summary of older messages", "summaries of older messages"), MESSAGES: ("message", "messages"),
}  # fmt: skip
_MOST_NAMED = 5
"""The most items left out for one reason that are named; more are only counted."""
_TOOL = "[output of a tool]"
_INDENT = "   "
_NONCE = "0" * 8  # as long as a real one, which depends on the content


def layout(space: str) -> WindowLayout:
    """The tokens of items and frames in a window with memories of `space`."""
    # Each is that of the format that takes most, so that a window has the same items in all formats.
    fence = "\n".join(["", *_fenced(space, _NONCE, ""), "", ""])

    def cost(item: Item) -> int:
        if not clean(item.text).strip():
            return 0
        if item.section != MESSAGES:
            return count_tokens(block(item) + "\n\n")
        return max(count_tokens(block(item) + "\n\n"), count_tokens(content(item) + "\n\n") + OVERHEAD)

    def frame(section: str) -> int:
        heading = count_tokens(HEADINGS.get(section, "") + "\n\n")
        if section == SYSTEM:
            return OVERHEAD
        return heading + (count_tokens(fence) + OVERHEAD if section in RECALLED else count_tokens(OPENING) + OVERHEAD)

    return WindowLayout(cost, frame)


def of_section(section: Section, space: str) -> Item:
    """The item for a recalled memory, with the text that a bundle shows."""
    text, above = section_text(section), label(section, space)
    return Item(MEMORIES, section.memory.id, text, above, priority=section.score)


def render(window: ContextWindow, space: str) -> str:
    """The window as Markdown for a prompt, without what was left out."""
    parts = [*map(block, window.of(SYSTEM)), *recalled(window, space), *_section(window, MESSAGES)]
    return "\n\n".join(parts) + "\n" if parts else ""


def recalled(window: ContextWindow, space: str) -> list[str]:
    """The memories and summaries in their fence, marked as data; empty if there are none."""
    body = "\n\n".join(part for section in RECALLED for part in _section(window, section))
    return ["\n".join(_fenced(space, nonce_of(body), body))] if body else []


def block(item: Item) -> str:
    """An item below its label, indented; the system prompt is neither labelled nor indented."""
    if item.section == SYSTEM:
        return clean(item.text).strip()  # the caller wrote it, so nothing in it needs to be made harmless
    # Indented, so that no line can imitate a label, a heading or the end of the fence.
    lines = inert(clean(item.text)).strip().splitlines()
    return "\n".join([inert(clean_line(item.label)), *(f"{_INDENT}{line}".rstrip() for line in lines)])


def content(item: Item) -> str:
    """The text of a message in a list of messages, below a mark of its source that its role does not give: a memory, a tool or
    the name of the speaker."""
    text = inert(clean(item.text)).strip()
    if item.source:
        return f"{inert(clean_line(item.label))}\n{text}"
    mark = _TOOL if item.role == "tool" else f"[{inert(clean_line(item.who))}]" if item.who else ""
    return f"{mark}\n{text}" if mark else text


def report(window: ContextWindow) -> list[str]:
    """Lines for standard error: what the window holds, and what was left out, with the reasons."""
    limits = window.limits
    held = [(name, window.of(name)) for name in SECTIONS if window.of(name)]
    parts = [_many(name, len(items), sum(item.tokens for item in items)) for name, items in held]
    return [
        (
            f"{window.used:,} of {limits.total:,} tokens used; {limits.reserve_system:,} reserved for the system "
            f"prompt, {limits.reserve_working:,} for work."
        ),
        *notes(window),
        f"The window holds {', '.join(parts)}." if parts else "The window is empty.",
        *(f"Left out: {line}" for line in left_out(window)),
    ]


def left_out(window: ContextWindow) -> Iterator[str]:
    """A line for each item that was left out, or whose rest was; one line for all if more than _MOST_NAMED have one reason."""
    groups: dict[tuple[str, str], list[LeftOut]] = {}
    for one in window.left_out:
        groups.setdefault((one.section, one.reason), []).append(one)
    for (section, reason), found in groups.items():
        rest = "the rest of " if reason == CUT else ""
        if len(found) > _MOST_NAMED:
            yield f"{rest}{_many(section, len(found), sum(one.tokens for one in found))}: {reason}"
        else:
            yield from (f"{rest}{clean_line(one.id)} ({one.tokens:,} tokens): {reason}" for one in found)


def notes(window: ContextWindow) -> list[str]:
    """Notes on the tokens that the system prompt takes beyond its reserve."""
    found = []
    if window.borrowed:
        found.append(f"The system prompt exceeds its reserve by {window.borrowed:,} tokens, taken from the rest.")
    excess = window.used + window.limits.reserve_working - window.limits.total
    if excess > 0:
        found.append(f"The system prompt takes {excess:,} tokens of the working reserve.")
    return found


def _many(section: str, count: int, tokens: int) -> str:
    one, many = _NOUNS[section]
    return f"{count:,} {one if count == 1 else many} ({tokens:,} tokens)"


def _section(window: ContextWindow, section: str) -> Sequence[str]:
    items = window.of(section)
    return [HEADINGS[section], *map(block, items)] if items else []


def _fenced(space: str, nonce: str, body: str) -> list[str]:
    return [f'<memory-{nonce} space="{inert(clean_line(space))}">', HEADER, "", body, f"</memory-{nonce}>"]


_SHARES = {MESSAGES: 0.6, MEMORIES: 0.4}


def window_to_json(window: ContextWindow, query: str, space: str) -> dict[str, Json]:
    """The window as JSON, with the allocation and what was left out."""
    limits = window.limits
    allocation: dict[str, Json] = {}
    for section in SECTIONS:
        items = window.of(section)
        share = {"share": int(window.room * _SHARES[section])} if section in _SHARES else {}
        allocation[section] = {"items": len(items), "tokens": sum(item.tokens for item in items), **share}
    return {
        "query": query,
        "space": space,
        "total": limits.total,
        "reserve_system": limits.reserve_system,
        "reserve_working": limits.reserve_working,
        "used": window.used,
        "available": window.room,
        "allocation": allocation,
        "sections": [
            {"name": name, "items": [_item(i) for i in window.of(name)]} for name in SECTIONS if window.of(name)
        ],
        "left_out": [
            {
                "section": one.section, "id": one.id, "tokens": one.tokens, "priority": round(one.priority, 4),
                "reason": one.reason,
            }
            for one in window.left_out
        ],
        "notes": notes(window),
    }  # fmt: skip


def _item(item: Item) -> dict[str, Json]:
    text = clean(item.text) if item.section == SYSTEM else inert(clean(item.text))
    data: dict[str, Json] = {"id": item.id, "text": text, "tokens": item.tokens, "priority": round(item.priority, 4)}
    if item.section == MESSAGES:
        data["role"] = item.role
    if item.number:
        data["number"] = item.number
    if item.source:
        data["inserted_from"] = item.source
    if item.section in (CHUNKS, MEMORIES):
        data["label"] = item.label
    return {**data, **({"cut": True} if item.is_cut else {})}


def openai(window: ContextWindow, space: str) -> list[Json]:
    """The messages as `{role, content}`, with a system message first unless it would be empty."""
    # The output of a tool is a marked message of the user: the role `tool` would require the id of a call.
    system = _system(window, space)
    return [
        *([{"role": "system", "content": system}] if system else []),
        *({"role": _role(item), "content": content(item)} for item in window.of(MESSAGES)),
    ]


def anthropic(window: ContextWindow, space: str) -> dict[str, Json]:
    """`{system, messages}`, without `system` if it is empty. The roles of messages alternate, beginning with the user."""
    turns = [
        {"role": role, "content": "\n\n".join(content(item) for item in items)}
        for role, items in groupby(window.of(MESSAGES), key=_role)
    ]
    if turns and turns[0]["role"] != "user":
        turns.insert(0, {"role": "user", "content": OPENING})
    system = _system(window, space)
    return {**({"system": system} if system else {}), "messages": turns}


def _system(window: ContextWindow, space: str) -> str:
    return "\n\n".join([*map(block, window.of(SYSTEM)), *recalled(window, space)])


def _role(item: Item) -> str:
    return "assistant" if item.role == "assistant" else "user"
