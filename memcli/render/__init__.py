"""Render bundles as text. To add a format, add a file here and a line in RENDERERS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.ports import Renderer


def _load(module: str, function: str = "render") -> Renderer:
    renderer: Renderer = getattr(import_module(f"memcli.render.{module}"), function)
    return renderer


# By name, so that a command imports the module of its own format alone; a test loads them all.
RENDERERS: Mapping[str, Callable[[], Renderer]] = {
    "json": partial(_load, "as_json"),
    "md": partial(_load, "as_text", "render_markdown"),
    "prompt": partial(_load, "as_prompt"),
    "table": partial(_load, "as_text", "render_table"),
    "text": partial(_load, "as_text"),
}
