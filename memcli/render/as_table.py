"""`table`: a bundle for a person at a terminal."""

from __future__ import annotations

from memcli.model.recall import Bundle, Section
from memcli.render.clean import clean_line
from memcli.render.grid import grid


def render(bundle: Bundle) -> str:
    """One row a memory, with the components of the score below each when asked to explain."""
    told = [f"evidence: {bundle.evidence_told}"] if bundle.query.explain and bundle.evidence else []
    if not bundle.sections:
        return "\n".join([clean_line(bundle.global_summary), *_cautions(bundle), *told]) + "\n"
    rows = []
    for n, section in enumerate(bundle.sections, 1):
        memory = section.memory
        fully = bundle.query.include_raw or section.level
        text = clean_line(section.text(bundle.query.include_raw) if fully else memory.summary_micro)
        rows.append([str(n), memory.id, memory.path, memory.kind, memory.created_at[:10], _marks(section), text])
    header, *lines = grid(["#", "id", "path", "kind", "date", "", "memory"], rows).split("\n")
    if bundle.query.explain:
        lines = [f"{line}\n   {section.why_told}" for line, section in zip(lines, bundle.sections, strict=True)]
    table = "\n".join([header, *lines])
    notes = [f"{bundle.withheld} more matched; --limit shows them"] if bundle.withheld else []
    if bundle.reason:
        notes.append(f"nothing matches the topic ({bundle.reason}); these are pinned")
    return "\n".join([table, *notes, *_cautions(bundle), *told]) + "\n"


def _marks(section: Section) -> str:
    """`>` for its trigger or anchor, `*` pinned, `!` untrusted, `?` unreviewed, `~` anchored to code that changed."""
    states = (
        (">", section.is_lead), ("*", section.memory.pinned), ("!", section.untrusted), ("?", section.is_unreviewed), ("~", section.is_doubtful),
    )  # fmt: skip
    return "".join(mark for mark, holds in states if holds)


def _cautions(bundle: Bundle) -> list[str]:
    told = [
        clean_line(f"~ {section.memory.path}: {', '.join(str(a) for a in section.anchors if a.is_doubtful)}")
        for section in bundle.sections
        if section.is_doubtful
    ]
    told += [f"{bundle.untrusted_told}; --include-untrusted shows what they say"] if bundle.untrusted_told else []
    if bundle.is_from_clone and bundle.sections:
        told.append("?: came with a clone that nobody here has accepted; `memcli trust` shows and accepts it")
    return told
