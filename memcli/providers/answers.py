"""The JSON in the text of an answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import NoReturn

from memcli.model.memory import Json
from memcli.model.shapes import problem

_FENCE = re.compile(r"\A```[a-zA-Z]*[ \t]*\n(.*?)\n?```\Z", re.DOTALL)


def parse_answer(text: str, schema: Mapping[str, Json]) -> Json:
    """The JSON that `text` is, or that a Markdown fence or sentences around it hold. Raises ValueError when there is none,
    or it does not fit `schema`."""
    stripped = text.strip()
    if not stripped:
        raise ValueError("the answer is empty")
    fenced = _FENCE.match(stripped)
    whole = fenced[1].strip() if fenced else stripped
    start, end = whole.find("{"), whole.rfind("}") + 1
    for candidate in (whole, whole[start:end]):
        try:
            data = json.loads(candidate, parse_constant=_refuse)
        except (ValueError, RecursionError):
            continue
        if wrong := problem(data, schema, "answer"):
            raise ValueError(wrong)
        return data
    raise ValueError("the answer is not JSON")


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)
