"""A block between markers in a Markdown file. The markers are comments, which agents do not pass to the model."""

from __future__ import annotations

import re

from memcli.agents.splice import Splice, newline_of

BEGIN = "<!-- memcli: begin. `memcli agent uninstall` removes this block. -->"
END = "<!-- memcli: end -->"
_BLOCK = re.compile(r"<!-- memcli: begin\b[^\n]*-->.*?<!-- memcli: end -->(?:\r?\n)?", re.DOTALL)


def put_block(text: str, body: str) -> Splice | None:
    """What makes the block hold `body`, at the end of the text if there is none; None if it does."""
    nl = newline_of(text)
    made = nl.join([BEGIN, *body.strip().split("\n"), END]) + nl
    found = _BLOCK.search(text)
    if found is not None:
        made = made if found[0].endswith("\n") else made.removesuffix(nl)
        return None if found[0] == made else Splice(found.start(), found.end(), made)
    first = "" if not text.strip("\ufeff") else nl if text.endswith("\n") else nl + nl
    return Splice(len(text), len(text), first + made)


def remove_block(text: str) -> Splice | None:
    """What removes the block, with the blank line before it; None if there is none."""
    found = _BLOCK.search(text)
    if found is None:
        return None
    start = found.start()
    before = text[:start]
    if before.endswith(("\n\n", "\n\r\n")):
        start -= 2 if before.endswith("\r\n") else 1
    return Splice(start, found.end(), "")


def has_block(text: str) -> bool:
    """Whether there is a block, whatever it holds."""
    return _BLOCK.search(text) is not None
