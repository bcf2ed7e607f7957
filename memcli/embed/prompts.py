"""What goes before a question and before a passage: some models were trained with it, and are poor without."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from memcli.model.memory import Json

_QUESTION = ("query", "search_query", "retrieval.query", "s2p_query", "question")
_PASSAGE = ("document", "passage", "corpus", "search_document", "retrieval.passage")
"""How the prompts of sentence-transformers are named, the usual name first."""


class Prompts(NamedTuple):
    """The prefixes; empty for none."""

    question: str = ""
    passage: str = ""

    def of(self, text: str, *, is_question: bool) -> str:
        """The text as the model takes it."""
        return (self.question if is_question else self.passage) + text


_FAMILIES: tuple[tuple[re.Pattern[str], Prompts], ...] = (
    (re.compile(r"(?<![a-z0-9])e5-(?!.*instruct)"), Prompts("query: ", "passage: ")),
    (re.compile(r"(?<![a-z0-9])nomic-embed-text"), Prompts("search_query: ", "search_document: ")),
    (
        re.compile(r"(?<![a-z0-9])(?:bge-(?:small|base|large)-en|mxbai-embed|(?:snowflake-)?arctic-embed(?!.*(?:2\.0|2)\b))"),
        Prompts("Represent this sentence for searching relevant passages: "),
    ),
)  # fmt: skip
"""What the model cards of families say whose files do not."""


def known_prompts(name: str) -> Prompts:
    """The prompts of the family that the name of a model tells; none for an unknown one."""
    return next((prompts for family, prompts in _FAMILIES if family.search(name.lower())), Prompts())


def stated_prompts(config: Mapping[str, Json]) -> Prompts | None:
    """Those of a `config_sentence_transformers.json`; None where it states none."""
    prompts = config.get("prompts")
    known = {k: v for k, v in prompts.items() if isinstance(v, str)} if isinstance(prompts, dict) else {}
    default = known.get(str(config.get("default_prompt_name")), "")
    if not any(known.values()):
        return None
    question, passage = (
        next((known[name] for name in names if name in known), default) for names in (_QUESTION, _PASSAGE)
    )
    return Prompts(question, passage)
