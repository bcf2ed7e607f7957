"""The only package that names concrete adapters: it finds the store, and constructs a workspace over it. Extras are imported by
name at run time, since nothing may depend on one."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def extra(name: str) -> Any:
    """Imports the module `memcli.extras.NAME`, such as `agents.setup`. Raises ImportError when a package that it needs is not
    installed."""
    return import_module(f"memcli.extras.{name}")
