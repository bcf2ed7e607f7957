"""`md`: a bundle as a Markdown document for people."""

from __future__ import annotations

import re

from memcli.codec.canonical import encode_line
from memcli.model.recall import Bundle, Section
from memcli.render import sentences
from memcli.render.clean import clean, clean_line, inert
from memcli.render.section import score_text, section_text

_SPECIAL = re.compile(r"([\\`*\[\]<>#|])")


def render(bundle: Bundle) -> str:
    """The bundle as Markdown: a heading per memory, its text as a quotation."""
    title = inert(clean_line(bundle.topic)) or ", ".join(bundle.query.kinds) or bundle.space
    parts = [f"# {_escape(title)}", _escape(inert(clean_line(sentences.global_summary(bundle))))]
    if bundle.query.period:
        parts.append(_escape(inert(clean_line(sentences.period(bundle)))))
    parts += [_section(section, bundle) for section in bundle.sections]
    if bundle.always:
        parts += ["# Always", *(_section(section, bundle) for section in bundle.always)]
    if bundle.query.explain and bundle.evidence:
        parts.append(f"Evidence: {_escape(sentences.evidence(bundle))}.")
    if bundle.withheld:
        parts.append(f"*{bundle.withheld} more {'matches' if bundle.withheld == 1 else 'match'}.*")
    if bundle.withheld_pins:
        parts.append(f"*{bundle.withheld_pins} more pinned.*")
    if sentences.degraded(bundle):
        parts.append(f"*{sentences.degraded(bundle)}*")
    if told := sentences.verified(bundle):
        parts.append(f"*{inert(clean_line(told))}*")
    if sentences.untrusted(bundle):
        parts.append(f"*{sentences.untrusted(bundle)}.*")
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
        f"## {_escape(clean_line(memory.path))}",
        "",
        f"`{memory.id}` · {_escape(inert(clean_line(' · '.join(facts))))}",
        "",
    ]
    text = section_text(section, bundle.query.include_raw)
    lines += [f"> {line}".rstrip() for line in inert(clean(text)).strip().splitlines()]
    if bundle.query.include_metadata:
        lines += [
            "",
            f"metadata: `{inert(clean_line(encode_line(dict(memory.metadata)).decode())).replace('`', chr(39))}`",
        ]
    if bundle.query.explain:
        lines += ["", score_text(section)]
    return "\n".join(lines)


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)
