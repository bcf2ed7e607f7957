"""The forms that change a memory, each with the digest of the memory as its page showed it; and the page Inbox: proposed
memories, and memories that contradict each other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response

from memcli.errors import ChangedError, UsageError
from memcli.extras.serve.access import Backend, Caller
from memcli.extras.serve.inspector import catalogue, pages
from memcli.extras.serve.inspector.detail import read_memory
from memcli.model.memory import Memory
from memcli.record import Record

_FAILED_PRECONDITION = 412
_EDITED = ("text", "kind", "importance", "confidence", "valid_until")
Text = Annotated[str, Form()]


class Target(Record):
    """The memory that a form changes; `digest` is that of the version that the page of the form showed."""

    request: Request
    caller: Caller
    space: str
    name: str
    digest: str


def add_routes(router: APIRouter, backend: Backend) -> None:
    @router.post("/change/pin/{space}/{name:path}")
    async def pin(request: Request, caller: pages.Writer, space: str, name: str, digest: Text, pin: Text) -> Response:
        target = Target(request, caller, space, name, digest)
        is_pinned = pin == "yes"
        return await _apply(backend, target, "edit", "pinned" if is_pinned else "unpinned", {"pinned": is_pinned})

    @router.post("/change/tags/{space}/{name:path}")
    async def tags(
        request: Request, caller: pages.Writer, space: str, name: str, digest: Text, tags: Text = ""
    ) -> Response:
        fields = {"tags": list(dict.fromkeys(tags.replace(",", " ").split()))}
        return await _apply(backend, Target(request, caller, space, name, digest), "edit", "tagged", fields)

    @router.post("/change/edit/{space}/{name:path}")
    async def edit(request: Request, caller: pages.Writer, space: str, name: str, digest: Text) -> Response:
        form = await request.form()
        given = {field: str(form.get(field, "")) for field in _EDITED}
        target = Target(request, caller, space, name, digest)
        # Checked before `_apply` does, since the fields that were changed are those that differ from the version shown.
        now, current, _ = await read_memory(backend, caller, space, name)
        if current != digest:
            return _conflict(target, now, current, given)
        fields = changed(given, now)
        if not fields:
            return pages.see(_back(target, "same"))
        return await _apply(backend, target, "edit", "saved", fields, given)

    @router.post("/change/forget/{space}/{name:path}")
    async def forget(
        request: Request, caller: pages.Writer, space: str, name: str, digest: Text, forget: Text
    ) -> Response:
        target = Target(request, caller, space, name, digest)
        if forget != "yes":
            return await _apply(backend, target, "edit", "remembered", {"active": True})
        return await _apply(backend, target, "forget", "forgotten")

    @router.post("/change/feedback/{space}/{name:path}")
    async def feedback(
        request: Request, caller: pages.Writer, space: str, name: str, judgement: Text, reason: Text = ""
    ) -> Response:
        pages.checked(caller, space)
        if judgement not in ("helpful", "unhelpful"):
            raise UsageError(f"no judgement {judgement[:40]!r}", "choose helpful or unhelpful")
        options = {"refs": [name], judgement: True, "reason": reason, "space": space}
        await backend.call("feedback", options, caller)
        return pages.see(_back(Target(request, caller, space, name, ""), judgement))


async def _apply(
    backend: Backend, target: Target, verb: str, done: str, fields: Mapping[str, Any] | None = None,
    given: Mapping[str, str] | None = None,
) -> Response:  # fmt: skip
    """Runs a verb on the memory if it is still as its page showed it, and goes back there with `done` as the outcome.

    `fields` are set by `edit`. If the memory has changed, a page shows it beside `given`, the fields of the form.
    """
    space = pages.checked(target.caller, target.space)
    # The verb compares the digest again while it holds the lock of the space, so that no change comes in between.
    options = {"refs": [target.name], "if_digest": target.digest, "space": space, **({"set": fields} if fields else {})}
    try:
        await backend.call(verb, options, target.caller)
    except ChangedError:
        now, current, _ = await read_memory(backend, target.caller, space, target.name)
        return _conflict(target, now, current, given)
    return pages.see(_back(target, done))


def changed(given: Mapping[str, str], memory: Memory) -> dict[str, Any]:
    """The fields of a form that differ from those of the memory. Raises UsageError for what is not a number."""
    text = given["text"].replace("\r\n", "\n")  # browsers send the lines of a form with CRLF
    fields: dict[str, Any] = {"raw": text} if text.strip() and text != memory.raw else {}
    for name in ("importance", "confidence"):
        if not given[name].strip():
            continue
        try:
            number = float(given[name])
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise UsageError(f"{name} is not a number: {given[name][:40]!r}", "give a number from 0 to 1")
        if number != getattr(memory, name):
            fields[name] = number
    kind, until = given["kind"].strip(), given["valid_until"].strip()
    if kind and kind != memory.kind:
        fields["kind"] = kind
    if until != (memory.valid_until or ""):
        fields["valid_until"] = until or None
    return fields


def _conflict(target: Target, now: Memory, digest: str, given: Mapping[str, str] | None) -> Response:
    """The page that reports that somebody else has changed the memory; it shows the fields of the form again."""
    return pages.render(
        target.request, "conflict.html", _FAILED_PRECONDITION, space=target.space, memory=now, digest=digest,
        given=given,
    )  # fmt: skip


def _back(target: Target, done: str) -> str:
    return f"{pages.memory(target.space, target.name)}?done={done}"


_PAGE = 30


def add_inbox_routes(router: APIRouter, backend: Backend) -> None:
    @router.get("/inbox")
    async def inbox(request: Request, caller: pages.Reader, space: str = "", show: str = "", page: int = 1) -> Response:
        home = pages.chosen(caller, space)
        if show == "contradictions":
            # A dry run of maintenance finds the memories in a space that contradict or repeat each other.
            options = {"only": ["review"], "dry_run": True, "space": home}
            found = (await backend.call("store maintain", options, caller))["spaces"]
            steps = [step for one in found if one["space"] == home for step in one["steps"]]
            return pages.render(request, "contradictions.html", space=home, steps=steps)
        listed = await backend.call("inbox", {"action": "list", "space": home}, caller) or []
        first = (max(1, page) - 1) * _PAGE
        proposals = listed[first : first + _PAGE]
        if proposals:
            # The list has no texts, and not the memories that a proposal contradicts or repeats.
            options = {"action": "show", "refs": [one["id"] for one in proposals], "space": home}
            whole = {one["id"]: one for one in await backend.call("inbox", options, caller)}
            blank: dict[str, Any] = {"contradicts": [], "duplicates": [], "untrusted": [], "provenance": {}, "raw": ""}
            proposals = [{**blank, **whole.get(one["id"], {}), **one} for one in proposals]
        return pages.render(
            request, "inbox.html", space=home, spaces=await catalogue.spaces(backend, caller), page=max(1, page),
            proposals=proposals, count=len(listed), has_more=len(listed) > first + _PAGE,
        )  # fmt: skip

    @router.post("/inbox/{action}")
    async def decide(
        caller: pages.Writer,
        action: str,
        space: Annotated[str, Form()],
        name: Annotated[str, Form()],
        text: Annotated[str, Form()] = "",
        path: Annotated[str, Form()] = "",
    ) -> Response:
        pages.checked(caller, space)
        if action not in ("accept", "reject", "edit"):
            raise UsageError(f"no action {action[:40]!r}", "choose accept, reject or edit")
        options: dict[str, Any] = {"action": action, "refs": [name], "space": space}
        if action == "edit":
            fields = {"raw": text.replace("\r\n", "\n"), "path": path.strip()}
            options["set"] = {field: value for field, value in fields.items() if value.strip()}
        await backend.call("inbox", options, caller)
        done = {"accept": "accepted", "reject": "rejected", "edit": "saved"}[action]
        return pages.see(pages.query("/inbox", {"space": space, "done": done}))
