"""The routes of the API: the endpoints that verbs declare, and those below `/apps/{space}/memories`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Body, Depends, Header, Path, Query, Request
from pydantic import BaseModel, ConfigDict, create_model
from pydantic import Field as BodyField
from starlette.responses import Response

from memcli.cli.binding import parameters
from memcli.cli.options import LARGEST, REQUIRED, CommonOptions, Field
from memcli.cli.verb import Http, Verb, all_verbs
from memcli.errors import ChangedError, NotFoundError
from memcli.extras.serve.access import Backend, Caller, needs
from memcli.extras.serve.problems import answer, problems
from memcli.model.space import ADMIN, READER, WRITER
from memcli.wiring import extra

_MAX_CHARACTERS = 100_000


def add_operations(router: APIRouter, backend: Backend) -> None:
    """Adds a route for each endpoint that a verb declares. Paths with a parameter come last, since the first route that
    matches a path answers."""
    declared = [(verb, http) for verb in all_verbs() for http in verb.http]
    for verb, http in sorted(declared, key=lambda one: "{" in one[1].path):
        for method in (http.method, "POST") if http.posted else (http.method,):
            words = [word for word in http.path.replace("{", "").replace("}", "").split("/") if word]
            identifier = "_".join([method.lower(), *words])
            router.add_api_route(
                http.path,
                _endpoint(verb, http, _parameters(verb, http, method, identifier), backend),
                methods=[method],
                status_code=http.status,
                summary=http.summary,
                operation_id=identifier,
                responses=problems(http.status),
                response_class=Response,
                tags=[verb.name.partition(" ")[0]],
            )


def _endpoint(verb: Verb, http: Http, signature: Sequence[inspect.Parameter], backend: Backend) -> Callable[..., Any]:
    """A route function with the parameters of `signature`, which runs the verb."""

    async def endpoint(**given: Any) -> Response:
        caller: Caller = given.pop("caller")
        body: BaseModel | None = given.pop("body", None)
        options = {**given, **(body.model_dump(exclude_unset=True) if body is not None else {})}
        options = {name: value for name, value in options.items() if value is not None and value != []}
        value = await backend.call(verb.name, {**http.defaults, **options, **http.fixed}, caller)
        return answer(value, http.status, media=http.media)

    # FastAPI reads the parameters of a route, and their types, from the signature of its function.
    endpoint.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
    return endpoint


def _parameters(verb: Verb, http: Http, method: str, identifier: str) -> list[inspect.Parameter]:
    """The parameters of an endpoint: the caller, those in the path, and the others in the query or in the body. Options have
    the names that `http` gives them; the space is always one of them."""
    parameter = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY)
    role = verb.role_for(http.fixed)
    assert role is not None, f"{verb.name} has an endpoint and no role"
    found = [parameter("caller", annotation=Annotated[Caller, Depends(needs(role))])]
    known = parameters(verb)
    fields = {http.renamed.get(name, name): known[name] for name in http.fields}
    body: dict[str, Any] = {}
    required = {name for name, field in fields.items() if field.name in http.required or field.default is REQUIRED}
    fields.setdefault("space", CommonOptions.FIELDS["space"])
    for shown, field in fields.items():
        is_required = shown in required
        about: dict[str, Any] = {"alias": shown if shown != field.name else None, "description": field.help}
        kind: Any = list[field.type] if field.many else field.type  # type: ignore[name-defined]
        kind = kind if is_required else kind | None
        if f"{{{shown}}}" in http.path:
            found.append(parameter(field.name, annotation=Annotated[str, Path(**about, max_length=500)]))
        elif method == "GET" or http.in_query:
            default = inspect.Parameter.empty if is_required else None
            annotation = Annotated[kind, Query(**about, **_limits(field))]
            found.append(parameter(field.name, annotation=annotation, default=default))
        else:
            body[field.name] = kind, BodyField(... if is_required else None, **about, **_limits(field))
    if body:
        model = create_model(identifier, __config__=ConfigDict(extra="forbid"), **body)
        found.append(parameter("body", annotation=Annotated[model, Body()]))
    return found


def _limits(field: Field) -> dict[str, Any]:
    """The bounds of the value of an option, as arguments of pydantic's fields."""
    if field.many:
        return {"max_length": 1000}
    if field.type is str:
        return {"max_length": _MAX_CHARACTERS}
    # A whole number of more than 64 bits cannot be stored, and JSON has no NaN: it would reach a worker as null.
    high = LARGEST if field.type is int and field.high is None else field.high
    limits: dict[str, Any] = {name: end for name, end in (("ge", field.low), ("le", high)) if end is not None}
    return limits | ({"allow_inf_nan": False} if field.type is float else {})


_MAX_LIMIT = 1000
# Each batch is a call of its own, which must end within the time limit of the pool.
_BATCH = 2_000
_STATUSES = {"created": 201, "proposed": 202}
_Reader = Annotated[Caller, Depends(needs(READER))]
_Writer = Annotated[Caller, Depends(needs(WRITER))]
_Admin = Annotated[Caller, Depends(needs(ADMIN))]
_Space = Annotated[str, Path(description="The name of a space", max_length=64)]
_Id = Annotated[str, Path(description="The id of a memory", max_length=200, alias="id")]
_Match = Annotated[str | None, Header(description="The ETag that the memory must still have: 412 if it has another")]
_NoneMatch = Annotated[str | None, Header(description="An ETag that is known: 304 if the memory still has it")]
_Object = Annotated[dict[str, Any], Body(description="Fields of a memory; `memcli schema object` describes them")]


def make_router(backend: Backend) -> APIRouter:
    """The routes of spaces, of their memories, and of one memory."""
    router = APIRouter(default_response_class=Response, tags=["memories"])

    @router.get("/apps", summary="List spaces", responses=problems(200))
    async def list_spaces(caller: _Reader) -> Response:
        return answer({"spaces": await backend.call("space list", {}, caller)})

    @router.get("/apps/{space}", summary="Show the counts, policy and metadata of a space", responses=problems(200))
    async def show_space(space: _Space, caller: _Reader) -> Response:
        return answer(await backend.call("space show", {"name": space, "space": space}, caller))

    @router.delete(
        "/apps/{space}", summary="Uninstall an app: keep its memories, or purge them", responses=problems(200)
    )
    async def uninstall(
        space: _Space,
        memories: Annotated[Literal["keep", "purge"], Query(description="What becomes of the memories")],
        caller: _Admin,
    ) -> Response:
        # `space show` raises NotFoundError for a space that does not exist, where the list of its memories is empty.
        await backend.call("space show", {"name": space, "space": space}, caller)
        count = await _purge_all(backend, space, caller) if memories == "purge" else 0
        return answer({"success": True, "memories": memories, "deletedCount": count})

    @router.delete("/apps/{space}/memories", summary="Purge all memories of a space", responses=problems(200))
    async def purge(space: _Space, caller: _Admin) -> Response:
        await backend.call("space show", {"name": space, "space": space}, caller)
        return answer({"success": True, "deletedCount": await _purge_all(backend, space, caller)})

    _add_memories(router, backend)
    _add_memory(router, backend)
    return router


def _add_memories(router: APIRouter, backend: Backend) -> None:
    @router.get(
        "/apps/{space}/memories", summary="List memories with their texts, newest first", responses=problems(200)
    )
    async def list_memories(
        request: Request,
        space: _Space,
        caller: _Reader,
        under: Annotated[str, Query(description="Only memories at or below this path", max_length=1000)] = "",
        kind: Annotated[list[str] | None, Query(description="Only memories of this kind; a,b matches either")] = None,
        tag: Annotated[list[str] | None, Query(description="Only memories with this tag; a,b requires both")] = None,
        all: Annotated[bool, Query(description="Include forgotten and superseded memories")] = False,  # noqa: A002
        limit: Annotated[int, Query(ge=1, le=_MAX_LIMIT)] = 100,
        offset: Annotated[int, Query(ge=0, le=1 << 31)] = 0,
    ) -> Response:
        # One memory more than the page has shows whether there is another page.
        options = {
            "path": under, "kind": kind or [], "tag": tag or [], "all": all, "offset": offset, "limit": limit + 1,
            "include_raw": True, "space": space,
        }  # fmt: skip
        found = await backend.call("list", options, caller)
        more = len(found) > limit
        given = [(name, value) for name, value in request.query_params.multi_items() if name != "offset"]
        links = {}
        if more:
            links["Link"] = f'<{request.url.path}?{urlencode([*given, ("offset", offset + limit)])}>; rel="next"'
        body = {"memories": found[:limit], "next_offset": offset + limit if more else None}
        return answer(body, headers=links)

    @router.post(
        "/apps/{space}/memories",
        summary="Store a memory: 201 if it is new, 202 if it waits for review, otherwise 200",
        responses=problems(201),
        openapi_extra={
            "requestBody": {"content": {"application/json": {"schema": extra("schema.schemas").SCHEMAS["object"]}}}
        },
    )
    async def remember(
        space: _Space,
        memory: _Object,
        caller: _Writer,
        supersedes: Annotated[str | None, Query(description="Replace this memory", max_length=1000)] = None,
        keep_both: Annotated[bool, Query(description="Accept a contradiction")] = False,
        merge: Annotated[bool, Query(description="Strengthen the memory that this one repeats")] = False,
        propose: Annotated[bool, Query(description="Put the memory into the inbox for review")] = False,
        context: Annotated[
            int | None, Query(description="Keep up to so many tokens of a session with it", ge=1, le=100_000)
        ] = None,
        session: Annotated[str | None, Query(description="That session; else the current one", max_length=64)] = None,
    ) -> Response:
        options = {
            "object": memory, "supersedes": supersedes, "keep_both": keep_both, "merge": merge, "propose": propose,
            "context": context, "session": session, "space": space,
        }  # fmt: skip
        done = await backend.call("remember", options, caller)
        where = {"Location": f"/apps/{space}/memories/{done['id']}"} if done.get("id") else {}
        return answer(done, _STATUSES.get(done.get("status", ""), 200), where)


def _add_memory(router: APIRouter, backend: Backend) -> None:
    path = "/apps/{space}/memories/{id}"

    @router.get(
        path, summary="Show a memory in full", responses=problems(200, extra("schema.schemas").SCHEMAS["object"], 304)
    )
    async def get(space: _Space, name: _Id, caller: _Reader, if_none_match: _NoneMatch = None) -> Response:
        memory, tag = await _get(backend, space, name, caller)
        headers = {"ETag": tag}
        if if_none_match is not None and _is_listed(tag, if_none_match, weakly=True):
            return Response(status_code=304, headers=headers)
        return answer(memory, headers=headers)

    @router.patch(path, summary="Set fields; null takes the default again", responses=problems(200, None, 412))
    async def edit(space: _Space, name: _Id, fields: _Object, caller: _Writer, if_match: _Match = None) -> Response:
        digest = await _expected(backend, space, name, caller, if_match)
        options = {"refs": [name], "set": fields, "if_digest": digest, "space": space}
        return answer(await backend.call("edit", options, caller))

    @router.delete(path, summary="Forget a memory, or purge it", responses=problems(200, None, 412))
    async def forget(
        space: _Space,
        name: _Id,
        caller: _Writer,
        purge: Annotated[bool, Query(description="Delete it; needs the role admin")] = False,
        if_match: _Match = None,
    ) -> Response:
        if purge:
            # The route needs a writer only, since the same path also forgets, which can be undone.
            caller.check(ADMIN)
        digest = await _expected(backend, space, name, caller, if_match)
        options = {"refs": [name], "purge": purge, "yes": purge, "if_digest": digest, "space": space}
        await backend.call("forget", options, caller)
        return answer({"success": True})


async def _get(backend: Backend, space: str, name: str, caller: Caller) -> tuple[dict[str, Any], str]:
    """The memory with this id, and its ETag. Raises NotFoundError."""
    memory = await backend.call("get", {"refs": [name], "digest": True, "space": space}, caller)
    if memory["id"] != name:  # `get` also takes a path, or the beginning of an id
        raise NotFoundError(f"no memory with this id in space {space!r}", "list the memories of the space")
    return memory, f'"{memory.pop("digest")}"'


async def _expected(backend: Backend, space: str, name: str, caller: Caller, if_match: str | None) -> str | None:
    """The digest that a memory must still have when it is changed; None if any will do. Raises NotFoundError, ChangedError."""
    _, tag = await _get(backend, space, name, caller)
    if if_match is None or if_match.strip() == "*":
        return None
    # A client may list several tags. The verb compares the one that matched again, while it holds the lock of the space.
    if not _is_listed(tag, if_match):
        raise ChangedError("the memory has changed", "read it again, and decide anew")
    return tag.strip('"')


def _is_listed(tag: str, given: str, *, weakly: bool = False) -> bool:
    """Whether an ETag is in the value of If-Match, or with `weakly` in that of If-None-Match (RFC 9110, 13.1)."""
    listed = [one.strip() for one in given.split(",")]
    return tag in [one.removeprefix("W/") if weakly else one for one in listed] or "*" in listed


async def _purge_all(backend: Backend, space: str, caller: Caller) -> int:
    """Purges all memories of a space in batches. Returns their number."""
    count = 0
    while True:
        found = await backend.call("list", {"all": True, "limit": _BATCH, "space": space}, caller)
        if not found:
            return count
        refs = [memory["id"] for memory in found]
        done = await backend.call("forget", {"refs": refs, "purge": True, "yes": True, "space": space}, caller)
        count += len(done["memories"])
