"""What all pages share: templates, which escape all text; addresses, which quote names; times, and words that a query matches;
the spaces that a caller may see; and static files, whose addresses change with their content."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from memcli.clock import system_clock
from memcli.codec.canonical import encode
from memcli.digests import sha256
from memcli.errors import NotFoundError
from memcli.extras.serve.access import Caller, needs
from memcli.model.space import READER, WRITER
from memcli.present.changes import difference
from memcli.present.links import relation_words
from memcli.present.memory import count_of, parsed_time, readable_time
from memcli.render.clean import clean
from memcli.text.words import query_terms, terms

if TYPE_CHECKING:
    from jinja2 import Environment


_IN_PATH = "/:@+"
"""Characters of ids that need no quoting in a path."""


def memory(space: str, name: str, part: str = "") -> str:
    """The address of the page of a memory, or of a part of it such as `edit`."""
    end = f"?{urlencode({'show': part})}" if part else ""
    return f"/memory/{_quoted(space)}/{_quoted(name)}{end}"


def session(space: str, name: str) -> str:
    """The address of the page of a session."""
    return f"/sessions/{_quoted(space)}/{_quoted(name)}"


def query(path: str, values: Mapping[str, object], **changed: object) -> str:
    """The address of `path` with those parameters of `values` and `changed` that are not empty; `changed` has precedence."""
    given = {name: value for name, value in {**values, **changed}.items() if value not in (None, "", False, 0)}
    text = urlencode([(name, "1" if value is True else str(value)) for name, value in given.items()], errors="replace")
    return f"{path}?{text}" if text else path


def _quoted(name: str) -> str:
    return quote(name, safe=_IN_PATH, errors="replace")


# In seconds: up to which age a unit is used, and its length. A month is a twelfth of a year of 365.25 days.
_STEPS = (
    (60, 1, "second"), (3_600, 60, "minute"), (86_400, 3_600, "hour"), (7 * 86_400, 86_400, "day"),
    (35 * 86_400, 7 * 86_400, "week"), (365 * 86_400, 2_629_800, "month"),
)  # fmt: skip
_YEAR = 31_557_600


def ago(at: str, now: str) -> str:
    """How long before `now` the time `at` was, such as `3 days ago` or `in 2 hours`; `at` itself if it is not a time."""
    then, today = parsed_time(at), parsed_time(now)
    if then is None or today is None:
        return at
    seconds = (today - then).total_seconds()
    if abs(seconds) < 1:
        return "now"
    span, unit = next(((size, name) for end, size, name in _STEPS if abs(seconds) < end), (_YEAR, "year"))
    count = max(1, int(abs(seconds) // span))
    duration = f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{duration} ago" if seconds > 0 else f"in {duration}"


_WORDS = re.compile(r"\w+(?:[.'’_-]\w+)*")
# Each word is stemmed to be compared, which takes long for a text of the largest size.
_LONGEST = 20_000
"""In so many characters of a text the words of a query are marked."""


def marked(text: str, query: str) -> list[tuple[str, bool]]:
    """`text` in parts, each with whether it is a word of `query`, in any of its forms."""
    wanted = set(query_terms(query))
    if not wanted or not text:
        return [(text, False)]
    parts: list[tuple[str, bool]] = []
    end = 0
    for match in _WORDS.finditer(text, 0, _LONGEST):
        if wanted.isdisjoint(terms(match[0])):
            continue
        parts += [(text[end : match.start()], False), (match[0], True)]
        end = match.end()
    return [part for part in [*parts, (text[end:], False)] if part[0]]


_OWN = os.path.join(os.path.dirname(__file__), "static")
_GRAPH = os.path.join(os.path.dirname(__file__), "..", "..", "graph", "page")
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
_FILES = {
    **{name: (_OWN, name) for name in ("inspector.css", "theme.js", "inspector.js", "search.js", "graph.js", "icon.svg")},
    **{f"graph-{name}": (_GRAPH, name) for name in ("layout.js", "draw.js", "page.js", "controls.js", "page.css")},
}  # fmt: skip
"""The folder and file of each static file; those of the graph are what `memcli graph` puts into its page."""
_FOR_EVER = "public, max-age=31536000, immutable"


def address(name: str) -> str:
    """The address of a static file."""
    return f"/static/{_version()}/{name}"


def add_routes(router: APIRouter) -> None:
    @router.get("/static/{version}/{name}")
    def static(version: str, name: str) -> Response:
        # Browsers store a file for ever, so that the content of another version must not be stored at this address.
        if name not in _FILES or version != _version():
            raise NotFoundError(f"no file {name[:80]!r}", "load the page again")
        kind = _TYPES[os.path.splitext(name)[1]]
        return Response(_read(name), media_type=kind, headers={"Cache-Control": _FOR_EVER})


@cache
def _version() -> str:
    return sha256(b"".join(_read(name) for name in sorted(_FILES))).hexdigest()[:12]


@cache
def _read(name: str) -> bytes:
    with open(os.path.join(*_FILES[name]), "rb") as file:
        return file.read()


_TEMPLATES = os.path.join(os.path.dirname(__file__), "templates")
_SEE_OTHER = 303
NAVIGATION = (
    ("memories", "/", "Memories"), ("graph", "/graph", "Graph"), ("sessions", "/sessions", "Sessions"),
    ("usage", "/usage", "Usage"), ("gaps", "/gaps", "Gaps"), ("inbox", "/inbox", "Inbox"), ("audit", "/audit", "Audit"),
)  # fmt: skip
# The message of a page after a form, by the parameter `done` of its address: a link cannot make it show other words.
DONE: Mapping[str, str] = {
    "pinned": "Pinned: every recall includes this memory.", "unpinned": "Unpinned.", "tagged": "Tags saved.",
    "saved": "Saved.", "same": "Nothing changed.", "forgotten": "Forgotten: recall leaves this memory out.",
    "remembered": "Active again.", "helpful": "Noted as helpful; maintenance applies it to the confidence.",
    "unhelpful": "Noted as unhelpful; maintenance applies it to the confidence.",
    "accepted": "Accepted.", "rejected": "Rejected; it will not be proposed again.", "closed": "Question removed.",
}  # fmt: skip


def render(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page for the caller of a request. With `part=1` in the address, templates render only the part that changes."""
    caller = request.state.caller
    given = {
        "now": system_clock(), "caller": caller, "may_write": caller.may(WRITER),
        "csrf": getattr(request.state, "csrf", ""), "is_part": request.query_params.get("part") == "1",
        "done": DONE.get(request.query_params.get("done", ""), ""),
    }  # fmt: skip
    return _page(template, status, {**given, **values})


def signed_out() -> HTMLResponse:
    """The page for a browser without a session, which explains how to get one."""
    return _page("signed_out.html", 401, {})


def failure(status: int, title: str, hint: str = "") -> HTMLResponse:
    """The page that reports an error and what to do."""
    return _page("failure.html", status, {"status": status, "title": title, "hint": hint})


def see(address: str) -> RedirectResponse:
    """The response to a form: a redirect to another page."""
    return RedirectResponse(address, _SEE_OTHER)


def _page(template: str, status: int, values: Mapping[str, Any]) -> HTMLResponse:
    """A rendered template. Caches must not give it to another caller."""
    text = _environment().get_template(template).render(values)
    # A stored text may have half of a surrogate pair, which UTF-8 cannot encode.
    page = HTMLResponse(text.encode("utf-8", "replace"), status)
    page.headers["Cache-Control"] = "private, no-cache"
    page.headers["Vary"] = "Cookie, Authorization"
    return page


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        # Undefined names are errors, since Jinja shows nothing for them by default: a page would lack a field without a
        # word.
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, finalize=_shown,
        trim_blocks=True, lstrip_blocks=True, auto_reload=False,
    )  # fmt: skip
    made.globals |= {
        "memory_url": memory, "session_url": session, "query_url": query,
        "static": address, "navigation": NAVIGATION,
    }  # fmt: skip
    made.filters |= {
        "ago": ago, "date": readable_time, "marked": marked, "difference": difference,
        "words": relation_words, "number": _number, "json": _json, "count": count_of,
    }  # fmt: skip
    return made


def _shown(value: Any) -> Any:
    """A value as a page shows it: text without characters that hide, reverse or control other text; nothing for None."""
    from markupsafe import Markup

    if isinstance(value, str) and not isinstance(value, Markup):
        return clean(value)
    return "" if value is None else value


def _number(value: object) -> str:
    """A number with thousands separators, a fraction to four digits."""
    if isinstance(value, float) and not value.is_integer():
        return f"{value:,.4f}".rstrip("0")
    return f"{int(value):,}" if isinstance(value, int | float) else str(value)


def _json(value: Any) -> str:
    """A JSON value for people: text as it is, everything else as canonical JSON."""
    return value if isinstance(value, str) else encode(value).decode("utf-8", "replace").rstrip("\n")


Reader = Annotated[Caller, Depends(needs(READER))]
Writer = Annotated[Caller, Depends(needs(WRITER))]
_FIRST = ("main", "repo", "journal")


def sees(caller: Caller, space: str) -> bool:
    """Whether the caller may see the space."""
    return not caller.spaces or space in caller.reach


def checked(caller: Caller, space: str) -> str:
    """`space`, if the caller may see it. Raises NotFoundError otherwise, as if it did not exist."""
    if not sees(caller, space):
        # The same error as for a space that does not exist, so that a bound token cannot find out which others there
        # are.
        raise NotFoundError(f"no space {space[:80]!r}", "the list of spaces is on the page Memories")
    return space


def chosen(caller: Caller, space: str) -> str:
    """`space`, or if it is empty the first that the caller may see. Raises NotFoundError."""
    known = [*_FIRST, *caller.spaces]
    return checked(caller, space or next(name for name in known if sees(caller, name)))


def seen(caller: Caller, found: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The spaces of a list that the caller may see: those of every store first, the others by name."""
    order = {name: place for place, name in enumerate(_FIRST)}
    shown = [one for one in found if sees(caller, str(one["space"]))]
    return sorted(shown, key=lambda one: (order.get(one["space"], len(order)), one["space"]))
