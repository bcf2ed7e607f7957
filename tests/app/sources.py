"""A source whose candidates a test gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memcli.model.findings import Failure


@dataclass
class Given:
    """Yields what it was given."""

    fields: Sequence[Mapping[str, object]]
    skipped: Mapping[str, int] = field(default_factory=dict)
    failed: Sequence[Failure] = ()

    def candidates(self) -> Iterator[Mapping[str, object]]:
        yield from self.fields
