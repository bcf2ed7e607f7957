"""What the routes call: verbs, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from memcli.serve.access import Caller


class Backend(Protocol):
    """Runs verbs on the store that is served."""

    async def call(self, verb: str, options: Mapping[str, Any], caller: Caller) -> Any:
        """What `memcli VERB --json` prints, as a value: `verb` such as `recall` or `space list`, `options` the names of
        its arguments and options as in the Python interface, and `space`. None for nothing.

        Raises MemcliError. What a caller may not see or do is for the routes to refuse.
        """
