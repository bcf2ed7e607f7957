"""What is known of models: the prompts that some were trained with, and facts found about them, cached in a file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
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


_FILE = "embedders.json"
_MOST = 1 << 20


class Facts:
    """Values by key in `folder`; in memory alone when it is None or cannot be written."""

    def __init__(self, folder: str | None) -> None:
        self._path = os.path.join(folder, _FILE) if folder else None
        self._own: dict[str, Json] = {}

    def get(self, key: str) -> Json:
        """What was put for the key; None for nothing."""
        if key not in self._own:
            self._own = {**self._read(), **self._own}
        return self._own.get(key)

    def put(self, key: str, value: Json) -> None:
        """Keeps the value; what other processes have put stays."""
        self._own = {**self._read(), **self._own, key: value}
        if self._path is None:
            return
        with suppress(OSError):  # a cache that cannot be written is done without
            beside = f"{self._path}.{os.getpid()}.tmp"
            fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
            with open(fd, "w", encoding="utf-8") as file:
                json.dump(self._own, file, sort_keys=True)
            os.replace(beside, self._path)

    def _read(self) -> dict[str, Json]:
        if self._path is None:
            return {}
        try:
            with open(self._path, "rb") as file:
                found = json.loads(file.read(_MOST))
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}
