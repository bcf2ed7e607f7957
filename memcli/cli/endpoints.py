"""What `memcli serve` offers: verbs as methods of paths, with the options that they declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.cli.binding import parameters
from memcli.cli.calls import find_verb
from memcli.cli.options import LARGEST, REQUIRED, CommonOptions, Field
from memcli.record import Record
from memcli.serve.access import ADMIN, READER, WRITER
from memcli.serve.operations import Operation, Param


class Endpoint(Record, kw_only=True):
    """A verb, where it is, and which of its options a caller may give. `renamed` has the names of parameters in the path;
    `posted` says that it can be asked by POST too, for what is too long for an address."""

    verb: str
    method: str = "GET"
    path: str
    summary: str
    role: str = READER
    fields: Sequence[str] = ()
    required: Sequence[str] = ()
    renamed: Mapping[str, str] = {}
    fixed: Mapping[str, object] = {}
    status: int = 200
    posted: bool = False
    in_query: bool = False
    media: str = ""


_SESSION = {"id": "id"}
ENDPOINTS = (
    Endpoint(
        verb="recall", path="/api/recall", summary="Recall the memories that best answer a question", posted=True,
        fields=(
            "topic", "limit", "raw_limit", "include_raw", "include_metadata", "format", "budget", "kind", "tag", "under",
            "since", "until", "at", "prefer_kind", "prefer_tag", "require_high_relevance", "min_score", "min_importance",
            "about", "include_inactive", "backend", "recency_bias", "deadline", "explain", "include_untrusted", "no_usage",
        ),
    ),
    Endpoint(
        verb="search", path="/api/search", summary="Rank the memories under a heading", posted=True,
        fields=("query", "under", "limit", "recency_bias"),
    ),
    Endpoint(
        verb="context", path="/api/context", summary="Assemble a context window within a token budget", posted=True,
        fields=("query", "session", "no_session", "total", "reserve_system", "reserve_working"), required=("query",),
    ),
    Endpoint(verb="tree", path="/api/tree", summary="Show the tree of paths", fields=("path", "depth")),
    Endpoint(verb="graph", path="/api/graph", summary="Show what memories are linked to",
             fields=("ref", "depth", "all", "clusters")),
    Endpoint(verb="verify", path="/api/verify", summary="Check memories against the code", fields=("paths",)),
    Endpoint(verb="stats", path="/api/usage", summary="Count the memories of a space, and how often they are shown",
             fields=("usage",)),
    Endpoint(verb="gaps", path="/api/gaps", summary="List questions that nothing answers"),
    Endpoint(verb="audit", path="/api/audit", summary="Show who changed what, and when",
             fields=("limit", "since", "id", "verify")),
    Endpoint(
        verb="feedback", method="POST", path="/api/feedback", summary="Say whether recalled memories helped", role=WRITER,
        fields=("refs", "helpful", "unhelpful", "rejected", "reason"),
    ),
    Endpoint(verb="link", method="POST", path="/api/links", summary="Link two memories", role=WRITER,
             fields=("start", "end", "relation", "weight")),
    Endpoint(verb="unlink", method="DELETE", path="/api/links", summary="Remove links", role=WRITER, in_query=True,
             fields=("start", "end", "relation")),
    Endpoint(verb="inbox", path="/api/inbox", summary="List proposed memories", fixed={"action": "list"}),
    Endpoint(verb="inbox", method="POST", path="/api/inbox/accept", summary="Accept proposed memories", role=WRITER,
             fields=("refs", "all"), fixed={"action": "accept"}),
    Endpoint(verb="inbox", method="POST", path="/api/inbox/reject", summary="Reject proposed memories", role=WRITER,
             fields=("refs", "all"), fixed={"action": "reject"}),
    Endpoint(verb="session list", path="/api/sessions", summary="List sessions", fields=("limit",)),
    Endpoint(verb="session start", method="POST", path="/api/sessions", summary="Start a session", role=WRITER,
             fields=("title",), status=201),
    Endpoint(verb="session show", path="/api/sessions/{id}", summary="Show the messages of a session",
             fields=("id", "from_", "to")),
    Endpoint(verb="session arc", path="/api/sessions/{id}/arc", summary="Show the episodes of a session", fields=("id",)),
    Endpoint(verb="session add", method="POST", path="/api/sessions/{id}/messages", summary="Add a message to a session",
             role=WRITER, fields=("id", "text", "role", "speaker", "at"), required=("text",), status=201),
    Endpoint(verb="session end", method="POST", path="/api/sessions/{id}/end", summary="End a session", role=WRITER,
             fields=("id", "outcome")),
    Endpoint(verb="session delete", method="DELETE", path="/api/sessions/{id}", summary="Delete a session", role=ADMIN,
             fields=("id", "keep_memories"), fixed={"yes": True}, in_query=True),
    Endpoint(verb="space policy", method="PATCH", path="/apps/{space}/policy", summary="Change the policy of a space",
             role=ADMIN, fields=("name", "set", "unset"), renamed={"name": "space"}),
    Endpoint(verb="gc", method="POST", path="/api/gc", summary="Delete expired memories", role=ADMIN,
             fields=("ttl_days", "dry_run")),
    Endpoint(verb="metrics", path="/metrics", summary="Metrics as Prometheus text", media="text/plain; version=0.0.4"),
)  # fmt: skip


def operations() -> list[Operation]:
    """The endpoints whose verbs there are."""
    found = [operation for one in ENDPOINTS if _exists(one.verb) for operation in _operations(one)]
    return sorted(found, key=lambda one: "{" in one.path)


def _exists(verb: str) -> bool:
    try:
        find_verb(verb)
    except (ModuleNotFoundError, StopIteration, KeyError):
        return False
    return True


def _operations(one: Endpoint) -> list[Operation]:
    fields = parameters(find_verb(one.verb))
    params = [_param(fields[name], name in one.required, one.renamed.get(name, "")) for name in one.fields]
    if "name" not in one.renamed:
        params.append(_param(CommonOptions.FIELDS["space"], is_required=False, shown=""))
    made = Operation(
        verb=one.verb, method=one.method, path=one.path, summary=one.summary, role=one.role, params=params,
        fixed=one.fixed, status=one.status, in_query=one.in_query, media=one.media,
    )  # fmt: skip
    return [made, *([_by_post(made)] if one.posted else [])]


def _by_post(operation: Operation) -> Operation:
    from memcli.record import replace

    return replace(operation, method="POST")


def _param(field: Field, is_required: bool, shown: str) -> Param:
    high = LARGEST if field.type is int and field.high is None else field.high
    return Param(
        name=field.name, type=field.type, many=field.many, help=field.help, low=field.low, high=high,
        is_required=is_required or field.default is REQUIRED, shown=shown,
    )  # fmt: skip
