"""Pages: templates filled with values, of which text only ever becomes text."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse

from memcli.clock import system_clock
from memcli.codec.canonical import encode
from memcli.model.roles import WRITER
from memcli.render.clean import clean
from memcli.serve.inspector import addresses, dates, files, pieces

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = os.path.join(os.path.dirname(__file__), "templates")
_SEE_OTHER = 303
NAVIGATION = (
    ("memories", "/", "Memories"), ("graph", "/graph", "Graph"), ("sessions", "/sessions", "Sessions"),
    ("usage", "/usage", "Usage"), ("gaps", "/gaps", "Gaps"), ("inbox", "/inbox", "Inbox"), ("audit", "/audit", "Audit"),
)  # fmt: skip
DONE: Mapping[str, str] = {
    "pinned": "Pinned: every recall includes this memory.", "unpinned": "Unpinned.", "tagged": "Tags saved.",
    "saved": "Saved.", "same": "Nothing changed.", "forgotten": "Forgotten: recall leaves this memory out.",
    "remembered": "Active again.", "helpful": "Noted as helpful; maintenance applies it to the confidence.",
    "unhelpful": "Noted as unhelpful; maintenance applies it to the confidence.",
    "accepted": "Accepted.", "rejected": "Rejected; it will not be proposed again.", "closed": "Question removed.",
}  # fmt: skip
"""What a page says after a form was sent; only these names come with an address."""


def render(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page for the caller of the request; with `part=1` in its address only the part that changes."""
    caller = request.state.caller
    given = {
        "now": system_clock(), "caller": caller, "may_write": caller.may(WRITER),
        "csrf": getattr(request.state, "csrf", ""), "is_part": request.query_params.get("part") == "1",
        "done": DONE.get(request.query_params.get("done", ""), ""),
    }  # fmt: skip
    return _page(template, status, {**given, **values})


def signed_out() -> HTMLResponse:
    """The page for a browser without a session: how to get one."""
    return _page("signed_out.html", 401, {})


def failure(status: int, title: str, hint: str = "") -> HTMLResponse:
    """The page that says what went wrong and what to do."""
    return _page("failure.html", status, {"status": status, "title": title, "hint": hint})


def see(address: str) -> RedirectResponse:
    """The answer to a form: to look at another page."""
    return RedirectResponse(address, _SEE_OTHER)


def _page(template: str, status: int, values: Mapping[str, Any]) -> HTMLResponse:
    text = _environment().get_template(template).render(values)
    page = HTMLResponse(text.encode("utf-8", "replace"), status)
    page.headers["Cache-Control"] = "private, no-cache"
    page.headers["Vary"] = "Cookie, Authorization"
    return page


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, finalize=_shown,
        trim_blocks=True, lstrip_blocks=True, auto_reload=False,
    )  # fmt: skip
    made.globals |= {
        "memory_url": addresses.memory, "session_url": addresses.session, "query_url": addresses.query,
        "static": files.address, "navigation": NAVIGATION,
    }  # fmt: skip
    made.filters |= {
        "ago": dates.ago, "date": dates.date, "marked": pieces.marked, "difference": pieces.difference,
        "words": _words, "number": _number, "json": _json, "count": _count,
    }  # fmt: skip
    return made


def _shown(value: Any) -> Any:
    """A value on its way into a page: text without characters that hide, reverse or control other text."""
    from markupsafe import Markup

    if isinstance(value, str) and not isinstance(value, Markup):
        return clean(value)
    return "" if value is None else value


def _words(name: str) -> str:
    """A name such as `problem_solved`, to read."""
    return str(name).replace("_", " ")


def _number(value: object) -> str:
    """A number with separators, a fraction to four digits."""
    if isinstance(value, float) and not value.is_integer():
        return f"{value:,.4f}".rstrip("0")
    return f"{int(value):,}" if isinstance(value, int | float) else str(value)


def _count(number: int, noun: str, plural: str = "") -> str:
    """Such as `1 memory` or `2 memories`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def _json(value: Any) -> str:
    """A JSON value to read: text as it is, everything else canonical."""
    return value if isinstance(value, str) else encode(value).decode("utf-8", "replace").rstrip("\n")
