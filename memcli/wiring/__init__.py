"""The one room that names concrete adapters: it finds the store and joins everything on it. Extras are found by name alone: nothing
imports one of them."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def extra(name: str) -> Any:
    """The module `memcli.extras.NAME`, such as `agents.setup`. Raises ImportError when it needs a package that is not installed."""
    return import_module(f"memcli.extras.{name}")
