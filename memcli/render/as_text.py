"""A bundle for people, as `text` for a terminal, `md` (a document) or `table`; and for the hooks of agents, which inject it into
a prompt: fenced, marked as data, under headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memcli.codec.canonical import encode_line
from memcli.digests import nonce_of
from memcli.model.names import MEMORY_MARK
from memcli.model.recall import Bundle, Query, Section
from memcli.policy.answer import texts_of
from memcli.render import as_prompt
from memcli.render.as_prompt import entry, score_text, section_text
from memcli.render.clean import age, clean, clean_line, columns, cut, grid, inert, styled, terminal_width, wrapped
from memcli.safety.recalled import HEADER
from memcli.text.words import query_terms, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.model.memory import Memory

_INDENT = "  "
_LEAST_SOURCE = 12
_DIFF = "diff"
_GAP = f"{_INDENT}…"
"""The line between two parts of a text."""


def render(bundle: Bundle, most_lines: int | None = None) -> str:
    """The entries, best first, in colour where `clean.is_coloured`.

    On a terminal an entry has at most `most_lines` lines of text; then it names the command that prints the rest.
    """
    width = terminal_width()
    blocks = [] if bundle.sections else [clean_line(as_prompt.global_summary(bundle))]
    if bundle.is_weak:
        blocks.append(styled(f"{as_prompt.WEAK}:", "bold"))
    entries = [_entry(n, one, bundle, width, most_lines) for n, one in enumerate((*bundle.sections, *bundle.always), 1)]
    blocks += entries[: len(bundle.sections)]
    if bundle.always:
        blocks += [styled("Always", "bold"), *entries[len(bundle.sections) :]]
    if notes := list(_notes(bundle)):
        blocks.append("\n".join(styled(line, "dim") for note in notes for line in wrapped(note, width)))
    return "\n\n".join(blocks) + "\n"


def _entry(number: int, section: Section, bundle: Bundle, width: int | None, most_lines: int | None) -> str:
    memory = section.memory
    name = memory.id.removeprefix(MEMORY_MARK)
    facts = [
        memory.kind,
        memory.created_at[:10] if width is None else age(memory.created_at, bundle.query.now),
        memory.id if width is None else name,
        *([section.space] if section.space != bundle.space else []),
        *(["pinned"] if memory.pinned else []),
        *([f"matched by {section.matched_by}"] if section.is_lead else []),
    ]
    about = clean_line(" · ".join(facts))
    source = clean_line(as_prompt.source(section))
    if width is not None:
        source = cut(source, max(_LEAST_SOURCE, width - columns(f"{number}.   {about}")))
    lines = [f"{styled(f'{number}. {source}', 'bold')}  {styled(about, 'dim')}"]
    lines += [styled(line, "warning") for one in section.cautions for line in wrapped(clean_line(one), width, _INDENT)]
    text = clean(section_text(section, bundle.query.include_raw)).strip("\n")
    rows = [(line, wrapped(line, width, _INDENT)) for line in text.splitlines()]
    shown = [one for _, parts in rows for one in parts]
    # One line more is printed: the line that stands for the rest would be as long.
    if width is not None and most_lines is not None and len(shown) - most_lines > 1:
        whole = sum(len(parts) for line, parts in rows if line.strip())  # of so few places blank lines take none
        rows = [row for row in rows if row[0].strip()]
        changed = [row for row in rows if not _is_context(row[0], memory)] if memory.kind == _DIFF else rows
        shown = _telling([parts for _, parts in changed or rows], most_lines, bundle.query.topic)
        if (more := whole - sum(line != _GAP for line in shown)) > 1:
            shown.append(styled(f"{_INDENT}… {more} more lines: memcli get {name}", "dim"))
        elif more == 1:
            shown = [one for _, parts in rows for one in parts]
    lines += shown
    if bundle.query.explain:
        lines.append(styled(f"{_INDENT}{score_text(section)}", "dim"))
    return "\n".join(lines)


def _is_context(line: str, memory: Memory) -> bool:
    """Whether a line of a diff is unchanged, or the name of its file, which is in the head. They take no place, so that a removed
    line is not shown without the one in its place."""
    return line.startswith(" ") or line == memory.metadata.get("source")


def _telling(rows: Sequence[Sequence[str]], most: int, topic: str) -> list[str]:
    """At most `most` lines: the first row, and of the others those, one after the other, that have the most words of the topic. A
    row is a line of the text, wrapped; only one that is too long by itself is cut."""
    first, *others = rows
    room = most - len(first)
    if room < 1 or not others:
        return list(first[:most])
    wanted = frozenset(query_terms(topic))
    words = [wanted.intersection(terms(" ".join(row))) for row in others]

    def window(start: int) -> int:
        """The end of the rows from `start` for which there is room, at least one."""
        end, size = start + 1, len(others[start])
        while end < len(others) and size + len(others[end]) <= room:
            size += len(others[end])
            end += 1
        return end

    start = max(range(len(others)), key=lambda n: (len(frozenset().union(*words[n : window(n)])), -n))
    found = [line for row in others[start : window(start)] for line in row][:room]
    return [*first, *([_GAP] if start else []), *found]


def _notes(bundle: Bundle) -> Iterator[str]:
    """The notes on the whole bundle."""
    if bundle.query.period:
        yield clean_line(as_prompt.period(bundle))
    if bundle.withheld and bundle.sections:
        yield f"{bundle.withheld} more {'matches' if bundle.withheld == 1 else 'match'} (use --limit)"
    if bundle.withheld_pins:
        yield f"{bundle.withheld_pins} more pinned"
    if note := as_prompt.untrusted(bundle):
        yield f"{note} (use --include-untrusted)"
    if note := as_prompt.degraded(bundle):
        yield note
    if bundle.verdict:
        yield clean_line(as_prompt.verified(bundle))
    if bundle.is_from_clone and (bundle.sections or bundle.always):
        yield "From a clone that has not been accepted; see `memcli trust --status`"
    if bundle.query.explain and bundle.confidence is not None:
        yield f"Confidence: {bundle.confidence:.2f}"


_SPECIAL = re.compile(r"([\\`*\[\]<>#|])")


def render_markdown(bundle: Bundle) -> str:
    """The bundle as Markdown: each memory under a heading, its text as a quotation."""
    title = inert(clean_line(bundle.topic)) or ", ".join(bundle.query.kinds) or bundle.space
    parts = [f"# {_escape(title)}", _escape(inert(clean_line(as_prompt.global_summary(bundle))))]
    if bundle.query.period:
        parts.append(_escape(inert(clean_line(as_prompt.period(bundle)))))
    if bundle.is_weak:
        parts.append(f"**{as_prompt.WEAK}:**")
    parts += [_section(section, bundle) for section in bundle.sections]
    if bundle.always:
        parts += ["# Always", *(_section(section, bundle) for section in bundle.always)]
    if bundle.query.explain and bundle.confidence is not None:
        parts.append(f"Confidence: {bundle.confidence:.2f}.")
    if bundle.withheld:
        parts.append(f"*{bundle.withheld} more {'matches' if bundle.withheld == 1 else 'match'}.*")
    if bundle.withheld_pins:
        parts.append(f"*{bundle.withheld_pins} more pinned.*")
    if as_prompt.degraded(bundle):
        parts.append(f"*{as_prompt.degraded(bundle)}*")
    if note := as_prompt.verified(bundle):
        parts.append(f"*{inert(clean_line(note))}*")
    if as_prompt.untrusted(bundle):
        parts.append(f"*{as_prompt.untrusted(bundle)}.*")
    return "\n\n".join(parts) + "\n"


def _section(section: Section, bundle: Bundle) -> str:
    memory = section.memory
    facts = [
        memory.kind,
        memory.created_at[:10],
        *([section.space] if section.space != bundle.space else []),
        *(f"#{tag}" for tag in memory.tags),
        *(["pinned"] if memory.pinned else []),
        *([f"matched by {section.matched_by}"] if section.is_lead else []),
        *section.cautions,
    ]
    lines = [
        f"## {_escape(clean_line(as_prompt.source(section)))}",
        "",
        f"`{memory.id}` · {_escape(inert(clean_line(' · '.join(facts))))}",
        "",
    ]
    text = section_text(section, bundle.query.include_raw)
    lines += [f"> {line}".rstrip() for line in inert(clean(text)).strip().splitlines()]
    if bundle.query.include_metadata:
        # A backtick in the metadata would end the code span, so it becomes an apostrophe.
        lines += [
            "",
            f"metadata: `{inert(clean_line(encode_line(dict(memory.metadata)).decode())).replace('`', chr(39))}`",
        ]
    if bundle.query.explain:
        lines += ["", score_text(section)]
    return "\n".join(lines)


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def render_table(bundle: Bundle) -> str:
    """One row per memory, followed by the components of its score if the query asks for explanations."""
    lines = [] if bundle.sections else [clean_line(as_prompt.global_summary(bundle))]
    if bundle.sections:
        lines += [f"{as_prompt.WEAK}:"] if bundle.is_weak else []
        lines += _rows(bundle, bundle.sections, 1)
    if bundle.withheld and bundle.sections:
        lines.append(f"{bundle.withheld} more {'matches' if bundle.withheld == 1 else 'match'} (use --limit)")
    if bundle.always:
        lines += ["always (pinned):", *_rows(bundle, bundle.always, len(bundle.sections) + 1)]
    shown = (*bundle.sections, *bundle.always)
    for section in shown:
        if section.is_doubtful:
            doubtful = ", ".join(str(anchor) for anchor in section.anchors if anchor.is_doubtful)
            lines.append(clean_line(f"~ {section.memory.path}: {doubtful}"))
    lines += [clean_line(f"x {section.memory.path}: {one}") for section in shown for one in section.opposed]
    lines += [clean_line(as_prompt.period(bundle))] if bundle.query.period else []
    lines += [f"{bundle.withheld_pins} more pinned"] if bundle.withheld_pins else []
    lines += [f"{as_prompt.untrusted(bundle)} (use --include-untrusted)"] if as_prompt.untrusted(bundle) else []
    lines += [as_prompt.degraded(bundle)] if as_prompt.degraded(bundle) else []
    lines += [clean_line(as_prompt.verified(bundle))] if bundle.verdict else []
    if bundle.is_from_clone and shown:
        lines.append("?: from a clone that has not been accepted; see `memcli trust --status`")
    if bundle.query.explain and bundle.confidence is not None:
        lines.append(f"confidence: {bundle.confidence:.2f}")
    return "\n".join(lines) + "\n"


def _rows(bundle: Bundle, sections: Sequence[Section], start: int) -> list[str]:
    """A header, and a row for each section, numbered from `start`.

    Marks: `>` matched by trigger or anchor, `*` pinned, `!` untrusted, `?` unreviewed, `~` anchored to changed code, `x`
    contradicted.
    """
    rows = []
    for n, section in enumerate(sections, start):
        memory = section.memory
        fully = bundle.query.include_raw or section.level
        text = clean_line(section_text(section, bundle.query.include_raw) if fully else texts_of(section)["micro"])
        states = (
            (">", section.is_lead), ("*", memory.pinned), ("!", section.untrusted), ("?", section.is_unreviewed),
            ("~", section.is_doubtful), ("x", section.opposed),
        )  # fmt: skip
        marks = "".join(mark for mark, holds in states if holds)
        rows.append([str(n), memory.id, memory.path, memory.kind, memory.created_at[:10], marks, text])
    header, *lines = grid(["#", "id", "path", "kind", "date", "", "memory"], rows).split("\n")
    if bundle.query.explain:
        lines = [f"{line}\n   {score_text(section)}" for line, section in zip(lines, sections, strict=True)]
    return [header, *lines]


# Nouns, where a prompt has orders: Claude Code's documents advise to word injected text as facts, because its model
# takes orders there for an attack.
_LEADS = {"constraint": "Constraints", "negative": "Known mistakes", "procedure": "Procedures"}


def render_injection(bundle: Bundle) -> str:
    """The bundle as the hooks of agents inject it; empty without memories."""
    if not bundle.sections:
        return ""
    items, before = [], ""
    for number, section in enumerate(in_order(bundle), 1):
        heading = _heading(section, bundle.query)
        if heading != before:
            items.append(f"{heading}:")
        before = heading
        items.append(entry(number, section, bundle))
    body = "\n\n".join([*items, f"Cited as {as_prompt.citation(bundle.sections[0])}."])
    nonce = nonce_of(body)
    return f'<memory-{nonce} space="{bundle.space}">\n{HEADER}\n\n{body}\n</memory-{nonce}>'


def in_order(bundle: Bundle) -> list[Section]:
    """The sections in the order of their numbers: grouped by heading, headings in the order of their first section."""
    headings = [_heading(section, bundle.query) for section in bundle.sections]
    return sorted(bundle.sections, key=lambda section: headings.index(_heading(section, bundle.query)))


def _heading(section: Section, query: Query) -> str:
    if section.is_lead:
        return _LEADS.get(section.memory.kind, "Also recorded")
    if query.ids:
        return "Related to the previous prompt"
    if query.topic:
        return "Related to the prompt"
    if section.memory.pinned:
        return "Pinned"
    return f"Changed since {(query.changed_since or '')[:10]}"
