"""Render bundles as text. To add a format, add a file here and a line in RENDERERS."""

from __future__ import annotations

from collections.abc import Callable, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memcli.ports import Renderer


def _json() -> Renderer:
    from memcli.render.as_json import render

    return render


def _markdown() -> Renderer:
    from memcli.render.as_text import render_markdown as render

    return render


def _prompt() -> Renderer:
    from memcli.render.as_prompt import render

    return render


def _table() -> Renderer:
    from memcli.render.as_text import render_table as render

    return render


def _text() -> Renderer:
    from memcli.render.as_text import render

    return render


RENDERERS: Mapping[str, Callable[[], Renderer]] = {
    "json": _json, "md": _markdown, "prompt": _prompt, "table": _table, "text": _text,
}  # fmt: skip
