"""`table`: a bundle for a person at a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.model.recall import Bundle, Section
from memcli.policy.budget import texts_of
from memcli.render import sentences
from memcli.render.clean import clean_line, grid
from memcli.render.section import score_text, section_text


def render(bundle: Bundle) -> str:
    """One row per memory, followed by the components of its score if the query asks for explanations."""
    lines = [] if bundle.sections else [clean_line(sentences.global_summary(bundle))]
    if bundle.sections:
        lines += _rows(bundle, bundle.sections, 1)
    if bundle.withheld and bundle.sections:
        lines.append(f"{bundle.withheld} more {'matches' if bundle.withheld == 1 else 'match'} (use --limit)")
    if bundle.always:
        lines += ["always (pinned):", *_rows(bundle, bundle.always, len(bundle.sections) + 1)]
    lines += _cautions(bundle)
    if bundle.query.explain and bundle.evidence:
        lines.append(f"evidence: {sentences.evidence(bundle)}")
    return "\n".join(lines) + "\n"


def _rows(bundle: Bundle, sections: Sequence[Section], start: int) -> list[str]:
    rows = []
    for n, section in enumerate(sections, start):
        memory = section.memory
        fully = bundle.query.include_raw or section.level
        text = clean_line(section_text(section, bundle.query.include_raw) if fully else texts_of(section)["micro"])
        rows.append([str(n), memory.id, memory.path, memory.kind, memory.created_at[:10], _marks(section), text])
    header, *lines = grid(["#", "id", "path", "kind", "date", "", "memory"], rows).split("\n")
    if bundle.query.explain:
        lines = [f"{line}\n   {score_text(section)}" for line, section in zip(lines, sections, strict=True)]
    return [header, *lines]


def _marks(section: Section) -> str:
    """`>` matched by trigger or anchor, `*` pinned, `!` untrusted, `?` unreviewed, `~` anchored to changed code, `x` contradicted."""
    states = (
        (">", section.is_lead), ("*", section.memory.pinned), ("!", section.untrusted), ("?", section.is_unreviewed), ("~", section.is_doubtful),
        ("x", section.opposed),
    )  # fmt: skip
    return "".join(mark for mark, holds in states if holds)


def _cautions(bundle: Bundle) -> list[str]:
    shown = (*bundle.sections, *bundle.always)
    lines = [
        clean_line(f"~ {section.memory.path}: {', '.join(str(a) for a in section.anchors if a.is_doubtful)}")
        for section in shown
        if section.is_doubtful
    ]
    lines += [clean_line(f"x {s.memory.path}: {one}") for s in shown for one in s.opposed]
    lines += [clean_line(sentences.period(bundle))] if bundle.query.period else []
    lines += [f"{bundle.withheld_pins} more pinned"] if bundle.withheld_pins else []
    lines += [f"{sentences.untrusted(bundle)} (use --include-untrusted)"] if sentences.untrusted(bundle) else []
    lines += [sentences.degraded(bundle)] if sentences.degraded(bundle) else []
    lines += [clean_line(sentences.verified(bundle))] if bundle.verdict else []
    if bundle.is_from_clone and shown:
        lines.append("?: from a clone that has not been accepted; see `memcli trust --status`")
    return lines
