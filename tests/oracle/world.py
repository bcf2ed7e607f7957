"""What a day has made so far: the models of the stores, the files beside them, and which words must still be there."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from tests.oracle.fields import Fields
from tests.oracle.model import Model


@dataclass
class World:
    """`main` is the space, `inbox` what waits for it, `other` a clone that went its own way since `base`.

    `used` are all words of texts so far, `told` those that went in; those in `ended` may be gone, because somebody asked
    for that by name, or a policy did; those in `erased` must be, those in `erasing` after
    the next write. `apart` are those that were ended in the clone. While `is_reading`, what was read from files may be anything.
    """

    main: Model = field(default_factory=Model)
    inbox: Model = field(default_factory=Model)
    other: Model | None = None
    base: dict[str, Fields] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    told: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    erased: set[str] = field(default_factory=set)
    files: dict[str, dict[str, str]] = field(default_factory=dict)
    apart: set[str] = field(default_factory=set)
    erasing: set[str] = field(default_factory=set)
    rejected: list[tuple[tuple[str, Any], str]] = field(default_factory=list)
    is_reading: bool = False
    exports: dict[str, list[Fields]] = field(default_factory=dict)

    def copy(self) -> World:
        return deepcopy(self)

    def words(self, found: Any) -> set[str]:
        """The words that a value holds."""
        held = str(found)
        return {word for word in self.used if word in held}

    def end(self, memories: list[Fields], *, erased: bool = False) -> None:
        """Lets the texts of these memories go, and what they quote of others in conflict with them."""
        self.ended |= self.words(memories)
        if erased:
            texts = [(memory.get("raw"), memory.get("metadata", {}).get("conflicts")) for memory in memories]
            self.erased |= self.words(texts)
