"""Operations: verbs as paths and methods, made into routes with their parameters, bodies and OpenAPI."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Path, Query
from pydantic import BaseModel, ConfigDict, Field, create_model
from starlette.responses import Response

from memcli.model.roles import READER
from memcli.record import Record
from memcli.serve.access import Caller, needs
from memcli.serve.answers import answer, problems
from memcli.serve.backend import Backend

_LONGEST = 100_000


class Param(Record, kw_only=True):
    """A parameter of an operation. `name` is that of the option of the verb; callers may know it by another, `shown`."""

    name: str
    type: type = str
    many: bool = False
    help: str = ""
    low: float | None = None
    high: float | None = None
    is_required: bool = False
    shown: str = ""


class Operation(Record, kw_only=True):
    """A verb as a method of a path. `{name}` in the path is a parameter; the others are in the query, or in the body of
    what is not GET. `fixed` are options that a caller has no say in, `defaults` those that it need not give. `status` is that of success."""

    verb: str
    method: str
    path: str
    summary: str
    role: str = READER
    params: Sequence[Param] = ()
    fixed: Mapping[str, Any] = {}
    defaults: Mapping[str, Any] = {}
    status: int = 200
    in_query: bool = False
    """Whether the parameters are in the query although the method is not GET."""
    media: str = ""
    """The type of a result that is a text."""


def add_operations(router: APIRouter, operations: Sequence[Operation], backend: Backend) -> None:
    """Adds a route for each operation."""
    for operation in operations:
        router.add_api_route(
            operation.path,
            _endpoint(operation, backend),
            methods=[operation.method],
            status_code=operation.status,
            summary=operation.summary,
            operation_id=_identifier(operation),
            responses=problems(operation.status),
            response_class=Response,
            tags=[operation.verb.partition(" ")[0]],
        )


def _endpoint(operation: Operation, backend: Backend) -> Callable[..., Any]:
    """A function whose signature has the parameters of the operation."""

    async def endpoint(**given: Any) -> Response:
        caller: Caller = given.pop("caller")
        body: BaseModel | None = given.pop("body", None)
        options = {**given, **(body.model_dump(exclude_unset=True) if body is not None else {})}
        options = {name: value for name, value in options.items() if value is not None and value != []}
        value = await backend.call(operation.verb, {**operation.defaults, **options, **operation.fixed}, caller)
        return answer(value, operation.status, media=operation.media)

    endpoint.__signature__ = inspect.Signature(_parameters(operation))  # type: ignore[attr-defined]
    return endpoint


def _parameters(operation: Operation) -> list[inspect.Parameter]:
    def parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)

    found = [parameter("caller", Annotated[Caller, Depends(needs(operation.role))])]
    inside = [one for one in operation.params if f"{{{one.shown or one.name}}}" in operation.path]
    others = [one for one in operation.params if one not in inside]
    found += [
        parameter(one.name, Annotated[str, Path(alias=one.shown or None, description=one.help, max_length=500)])
        for one in inside
    ]
    if operation.method == "GET" or operation.in_query:
        for one in others:
            told: Any = Query(alias=one.shown or None, description=one.help, **_limits(one))
            found.append(parameter(one.name, Annotated[_type(one), told], *(() if one.is_required else (None,))))
    elif others:
        found.append(parameter("body", Annotated[_model(operation, others), Body()]))
    return found


def _model(operation: Operation, params: Sequence[Param]) -> type[BaseModel]:
    fields: dict[str, Any] = {
        one.name: (
            _type(one),
            Field(... if one.is_required else None, alias=one.shown or None, description=one.help, **_limits(one)),
        )
        for one in params
    }
    return create_model(_identifier(operation), __config__=ConfigDict(extra="forbid"), **fields)


def _type(one: Param) -> Any:
    kind: Any = list[one.type] if one.many else one.type  # type: ignore[name-defined]
    return kind if one.is_required else kind | None


def _limits(one: Param) -> dict[str, Any]:
    if one.many:
        return {"max_length": 1000}
    if one.type is str:
        return {"max_length": _LONGEST}
    limits: dict[str, Any] = {name: value for name, value in (("ge", one.low), ("le", one.high)) if value is not None}
    return limits | ({"allow_inf_nan": False} if one.type is float else {})


def _identifier(operation: Operation) -> str:
    words = [word for word in operation.path.replace("{", "").replace("}", "").split("/") if word]
    return "_".join([operation.method.lower(), *words])
