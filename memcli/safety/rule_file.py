"""Files of rules and words: data beside the code, read once. Patterns are put together from named fragments."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pkgutil import get_data
from typing import Any

_REFERENCE = re.compile(r"\{([A-Z][A-Z0-9_]*)\}")


@cache
def read_words(package: str) -> Mapping[str, Any]:
    """The lists of words in `words.json` of a package, by name."""
    words: dict[str, Any] = json.loads(get_data(package, "words.json") or b"{}")
    return words


class RuleFile:
    """The tables in `rules.json` of a package. A pattern there refers to a fragment as `{NAME}`."""

    def __init__(self, package: str, fragments: Mapping[str, str] | None = None) -> None:
        """`fragments` are those that the code itself defines. Raises KeyError for a name that is not defined before it is used."""
        self._tables = json.loads(get_data(package, "rules.json") or b"{}")
        self._fragments = dict(fragments or {})
        for name, pattern in self._tables["fragments"].items():
            self._fragments[name] = self.expanded(pattern)

    def rows(self, table: str) -> list[dict[str, Any]]:
        """The rows of a table, in order."""
        rows: list[dict[str, Any]] = self._tables[table]
        return rows

    def expanded(self, pattern: str) -> str:
        """The pattern with each fragment in the place of its name."""
        return _REFERENCE.sub(lambda name: self._fragments[name[1]], pattern)
