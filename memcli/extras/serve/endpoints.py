"""What `memcli serve` offers: the endpoints that verbs declare, with the options that they declare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memcli.cli.binding import parameters
from memcli.cli.options import ASSIGNMENT, JSON, LARGEST, LINK, MEMORY, REQUIRED, CommonOptions, Field
from memcli.cli.verb import Http, Verb, all_verbs, find_verb
from memcli.extras.serve.operations import Operation, Param
from memcli.record import replace


def operations() -> list[Operation]:
    """The endpoints of all verbs; those with a parameter in the path come last, since the first that matches is taken."""
    found = [operation for verb in all_verbs() for http in verb.about.http for operation in _operations(verb, http)]
    return sorted(found, key=lambda one: "{" in one.path)


class DeclaredRules:
    """The rules that verbs declare. See `serve.rules.Rules` for the promises."""

    def role(self, verb: str, options: Mapping[str, Any]) -> str | None:
        try:
            return find_verb(verb).role_for(options)
        except LookupError:
            return None

    def reach(self, verb: str) -> str:
        return find_verb(verb).about.reach

    def references(self, verb: str, options: Mapping[str, Any]) -> Iterator[Any]:
        fields = find_verb(verb).options.FIELDS
        for name, value in options.items():
            kind = fields[name].kind if name in fields else ""
            if kind == LINK:
                yield [str(one).partition(":")[2] for one in (value if isinstance(value, list) else [value])]
            elif kind in (MEMORY, ASSIGNMENT, JSON):
                yield value


def _operations(verb: Verb, http: Http) -> Iterator[Operation]:
    fields = parameters(verb)
    params = [_param(fields[name], name in http.required, http.renamed.get(name, "")) for name in http.fields]
    if "space" not in http.renamed.values():
        params.append(_param(CommonOptions.FIELDS["space"], is_required=False, shown=""))
    role = verb.role_for(http.fixed)
    assert role is not None, f"{verb.name} has an endpoint and no role"
    made = Operation(
        verb=verb.name, method=http.method, path=http.path, summary=http.summary, role=role, params=params,
        fixed=http.fixed, defaults=http.defaults, status=http.status, in_query=http.in_query, media=http.media,
    )  # fmt: skip
    yield made
    if http.posted:
        yield replace(made, method="POST")


def _param(field: Field, is_required: bool, shown: str) -> Param:
    high = LARGEST if field.type is int and field.high is None else field.high
    return Param(
        name=field.name, type=field.type, many=field.many, help=field.help, low=field.low, high=high,
        is_required=is_required or field.default is REQUIRED, shown=shown,
    )  # fmt: skip
