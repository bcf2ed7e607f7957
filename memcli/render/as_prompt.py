"""`prompt`: a bundle to be put before a language model: numbered, citable, fenced, and marked as data."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from memcli.codec.canonical import encode_line
from memcli.codec.recall import bundle_to_json
from memcli.model.recall import Bundle, Section
from memcli.policy.recalled import HEADER
from memcli.render.clean import clean, clean_line
from memcli.render.grid import cut
from memcli.render.inert import inert

_INDENT = "   "
_TOPIC_WIDTH = 200
_LEADS = {"constraint": "Keep to", "negative": "Do not", "procedure": "How to"}
_FROM_CLONE = "They came with a clone that nobody here has accepted: run `memcli trust` to see and accept them."


def render(bundle: Bundle) -> str:
    """The bundle as a prompt. Every line of recalled text is indented, so none can pass for the fence."""
    body = _body(bundle)
    nonce = _nonce(bundle, body)
    topic = cut(_line(bundle.query.topic).replace('"', "'"), _TOPIC_WIDTH)
    head = [
        f'<memory-{nonce} space="{bundle.space}" topic="{topic}">',
        HEADER,
        *([_FROM_CLONE] if bundle.is_from_clone else []),
        "",
    ]
    return "\n".join([*head, body, f"</memory-{nonce}>", ""])


def _body(bundle: Bundle) -> str:
    told = f"\nEvidence: {bundle.evidence_told}." if bundle.query.explain and bundle.evidence else ""
    if not bundle.sections:
        return f"{_line(bundle.global_summary)}{_untrusted(bundle)}{told}"
    items = "\n\n".join(_items(bundle))
    return f"{items}\n\n{_closing(bundle)}{told}"


def _items(bundle: Bundle) -> Iterator[str]:
    """The memories, the lead under headings of its own."""
    told = ""
    for number, section in enumerate(bundle.sections, 1):
        if section.is_lead:
            heading = _LEADS.get(section.memory.kind, "On what is changed")
        else:
            heading = "Also relevant" if told else ""
        if heading != told:
            yield f"{heading}:"
        told = heading
        yield _item(number, section, bundle)


def _item(n: int, section: Section, bundle: Bundle) -> str:
    memory = section.memory
    marks = [
        memory.created_at[:10],
        _line(memory.kind),
        _line(memory.path),
        *(["pinned"] if memory.pinned else []),
        *map(_line, section.cautions),
    ]
    lines = [f"{n}. [{_line(memory.id)}] {' · '.join(marks)}"]
    lines += [_INDENT + line for line in inert(clean(section.text(bundle.query.include_raw))).strip().splitlines()]
    if bundle.query.include_metadata:
        lines.append(f"{_INDENT}metadata: {inert(clean_line(encode_line(dict(memory.metadata)).decode()))}")
    if bundle.query.explain:
        lines.append(f"{_INDENT}{section.why_told}")
    return "\n".join(lines)


def _closing(bundle: Bundle) -> str:
    shown = len(bundle.sections)
    withheld = f"; {bundle.withheld} more matched and {_were(bundle.withheld)} withheld" if bundle.withheld else ""
    missing = f" None of them matches the topic ({bundle.reason})." if bundle.reason else ""
    return f"{shown} shown{withheld}.{missing}{_untrusted(bundle)} Cite as [{_line(bundle.sections[0].memory.id)}]."


def _untrusted(bundle: Bundle) -> str:
    told = bundle.untrusted_told
    return f" {told[0].upper()}{told[1:]}." if told else ""


def _line(text: str) -> str:
    """Stored text on one line of the frame."""
    return inert(clean_line(text))


def _were(n: int) -> str:
    return "was" if n == 1 else "were"


def _nonce(bundle: Bundle, body: str) -> str:
    """Eight hex digits that stand nowhere in the body. Made of the content, so that equal bundles are equal
    bytes, which the caches of prompts want; a text cannot foretell the digest of a bundle that it is part of."""
    seed = encode_line([bundle_to_json(bundle)["sections"], body])
    for n in range(256):
        nonce = hashlib.sha256(b"memcli/prompt\0%d\0" % n + seed).hexdigest()[:8]
        if nonce not in body:
            return nonce
    raise AssertionError("256 digests in one text")
