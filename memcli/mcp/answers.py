"""Answers to the requests of agents, in pages: the one place that caps what a result may hold."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from memcli.errors import NotFoundError, UsageError
from memcli.mcp.tools import CURSOR, Offer, Resource, Tool
from memcli.model.tokens import cut_tokens, end_of_tokens
from memcli.record import Record

MOST_TOKENS = 8_000
"""The most that one result has; the rest is on further pages."""
_NOTE_TOKENS = 100
"""For the line that has the cursor."""
_ERROR_TOKENS = 1_000
_MOST_KEPT, _MOST_CHARACTERS = 8, 1 << 26
_KEPT_SECONDS = 600.0
_DIGEST = 8
_QUERY = f"?{CURSOR}="


class PagedOffer:
    """Answers each request with a page of its result. The methods raise what the tools of the offer raise, NotFoundError for
    a tool, resource or prompt that there is not, and UsageError for a cursor that leads nowhere."""

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._tools = {tool.name: tool for tool in offer.tools}
        self._pages = ResultPages(offer.state)

    def call_tool(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The result of a tool."""
        if name not in self._tools:
            raise NotFoundError(f"no tool {name[:_SHOWN]!r}", f"tools: {', '.join(self._tools)}")
        return self._call(self._tools[name], arguments)

    def get_prompt(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The text of the prompt, which users ask for: it has no further pages."""
        prompt = self._offer.prompt
        if name != prompt.name:
            raise NotFoundError(f"no prompt {name[:_SHOWN]!r}", f"there is {prompt.name}")
        return cut_tokens(prompt.call(arguments), MOST_TOKENS - _NOTE_TOKENS)

    def read_resource(self, uri: str) -> tuple[str, str]:
        """The text of the resource with this URI, and its media type."""
        uri, _, cursor = uri.partition(_QUERY)
        one, value = self._find(uri)
        how = f'read this resource with "{_QUERY}%s" at the end of its URI'
        return self._pages.read(uri, cursor, lambda: one.read(value), how), one.mime_type

    def report(self, error: Exception) -> str:
        """The error in a line."""
        return cut_tokens(self._offer.report(error), _ERROR_TOKENS)

    def _call(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        given = {name: value for name, value in arguments.items() if name != CURSOR}
        key = json.dumps([tool.name, given], sort_keys=True)
        how = f'call again with {CURSOR} "%s"'
        return self._pages.read(key, arguments.get(CURSOR), lambda: tool.call(given), how, writes=not tool.reads_only)

    def _find(self, uri: str) -> tuple[Resource, str]:
        """The resource with this URI, and the value in it."""
        for one in self._offer.resources:
            start = one.uri.partition("{")[0]
            if uri == one.uri or (one.is_template and uri.startswith(start) and len(uri) > len(start)):
                return one, unquote(uri[len(start) :])
        known = ", ".join(one.uri for one in self._offer.resources)
        raise NotFoundError(f"no resource {uri[:_SHOWN]!r}", f"resources: {known}")


class _Kept(Record):
    """A result of several pages: what asked for it, its text, the state of the memory then, and the time."""

    key: str
    text: str
    state: object
    since: float


class ResultPages:
    """The pages of results. What does not fit on one is kept until the memory changes, for some minutes: a further page
    repeats no search."""

    def __init__(self, state: Callable[[], object]) -> None:
        self._state = state
        self._kept: dict[str, _Kept] = {}

    def read(self, key: str, cursor: Any, run: Callable[[], str], how: str, *, writes: bool = False) -> str:
        """The first page of what `run` gives for a request with this `key`, or the page of it that `cursor` leads to. If there
        is more, its last line says `how` to get there, with the next cursor in the place of `%s`. `run` may change the memory
        itself if it `writes`. Raises UsageError."""
        if cursor:
            digest, start, kept = self._at(key, str(cursor))
            return _page(kept.text, start, digest, how)
        state = self._state()
        text = run()
        digest = hashlib.sha256(f"{key}\n{text}".encode("utf-8", "replace")).hexdigest()[:_DIGEST]
        first = _page(text, 0, digest, how)
        if first != text:
            self._keep(digest, _Kept(key, text, self._state() if writes else state, time.monotonic()))
        return first

    def _keep(self, digest: str, kept: _Kept) -> None:
        """Keeps a result in the place of the oldest."""
        self._kept = {**{name: one for name, one in self._kept.items() if name != digest}, digest: kept}
        while len(self._kept) > 1 and (
            len(self._kept) > _MOST_KEPT or sum(len(one.text) for one in self._kept.values()) > _MOST_CHARACTERS
        ):
            del self._kept[next(iter(self._kept))]

    def _at(self, key: str, cursor: str) -> tuple[str, int, _Kept]:
        number, _, digest = cursor.partition("-")
        if not (number.isascii() and number.isdigit() and len(number) < _SHOWN):
            raise UsageError(f"no {CURSOR} {cursor[:_SHOWN]!r}", "use the one at the end of a result, or none")
        self._drop_outdated()
        kept = self._kept.get(digest)
        if kept is None:
            raise UsageError(
                f"the result of this {CURSOR} is no longer kept: the memory changed, or some time has passed",
                f"call again without a {CURSOR}",
            )
        if kept.key != key or int(number) >= len(kept.text):
            raise UsageError(f"the {CURSOR} belongs to another call", f"repeat the arguments, or omit the {CURSOR}")
        return digest, int(number), kept

    def _drop_outdated(self) -> None:
        state, now = self._state(), time.monotonic()
        self._kept = {
            digest: one for digest, one in self._kept.items() if one.state == state and now - one.since < _KEPT_SECONDS
        }


def _page(text: str, start: int, digest: str, how: str) -> str:
    """As many lines of `text` from `start` as fit into a result; if there is more, its last line says how to get there."""
    if end_of_tokens(text, MOST_TOKENS, start) == len(text):
        return text[start:]
    end = end_of_tokens(text, MOST_TOKENS - _NOTE_TOKENS, start)
    line = text.rfind("\n", start, end) + 1
    if line > start:
        end = line
    elif end == start:  # a word of more than a page
        end = min(len(text), start + MOST_TOKENS // 2)
    return f"{text[start:end]}\n[There is more: {how % f'{end}-{digest}'}.]"


_SHOWN = 40
"""How much of a wrong name an error repeats."""
