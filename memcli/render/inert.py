"""Make recalled text inert: readable, but without effect on the model or program that reads it.

A backslash breaks chat template tokens, tags that agents act on, role markers at the start of a line, and everything that
Markdown or HTML would load.
"""

from __future__ import annotations

import re
from functools import cache

_TAGS = (
    "memory memories system assistant human user developer instructions function_calls function_call function_results "
    "function_result function invoke parameter antml tool_calls tool_call tool_results tool_result tool_response "
    "tool_use tool_code system-reminder system_prompt system-prompt system_message system_instruction start_of_turn "
    "end_of_turn think thinking img image picture source video audio iframe script link object embed style svg base "
    "meta form"
).split()
_ROLES = "System|SYSTEM|system|Developer|DEVELOPER|Assistant|ASSISTANT|Human|HUMAN|User|USER"
_HINTS = (
    "<", "](", "![", "[/", "[INST", "[TOOL", "[SYS", "[AVAIL", "]:", "##", "ystem:", "STEM:", "per:", "PER:", "tant:", "TANT:",
    "man:", "MAN:", "ser:", "SER:", "prompt:", "message:", "*:", "_:",
)  # fmt: skip


def inert(text: str) -> str:
    """`text` with a backslash before everything that could take effect. Idempotent."""
    if not any(hint in text for hint in _HINTS):
        return text
    return _acting().sub(_broken, text)


@cache
def _acting() -> re.Pattern[str]:
    tags = "|".join(sorted(_TAGS, key=len, reverse=True))
    return re.compile(
        r"(?P<token><)(?=[|｜][\w▁ ]{1,60}[|｜]>|</?SYS>>)"
        rf"|(?P<tag><)(?=/?(?:[a-zA-Z]{{2,8}}:)?(?:{tags})(?![a-zA-Z]))"
        r"|(?P<bracket>\[)(?=/?(?:INST|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|SYSTEM_PROMPT|SYSTEM)\])"
        r"|(?P<image>!)(?=\[)"
        r"|(?P<link>\])(?=\([ \t]*<?(?:[a-zA-Z][a-zA-Z+.-]{1,10}:)?//|\([ \t]*<?(?:data|javascript|vbscript):)"
        r"|(?P<reference>\])(?=:[ \t]*<?(?:[a-zA-Z][a-zA-Z+.-]{1,10}:)?//)"
        rf"|(?P<role>^[ \t>*_#]{{0,8}}(?:{_ROLES})(?: prompt| message)?[*_]{{0,3}})(?=:(?:\s|$|[*_]))"
        r"|(?P<alpaca>^[ \t>]{0,8}#{2,4})(?= ?(?:Instruction|Response|Input|System|Human|Assistant|User)s?[ ]?:)",
        re.MULTILINE,
    )


def _broken(match: re.Match[str]) -> str:
    return f"{match[0]}\\"
