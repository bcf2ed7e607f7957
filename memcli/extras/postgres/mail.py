"""Requests of writers that wait for a space on a server: its holder makes their changes along with its own.

A writer that finds the space locked puts its request into a table and waits. The holder takes all requests, makes their
changes in its own transaction, and writes the answers beside the requests; when it commits, all waiting writers go on. If a
holder dies, its transaction is rolled back, and one of the waiting writers becomes the holder. So many changes share one
round trip under the lock, however distant the server is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from uuid import UUID

from psycopg import Connection, Cursor

from memcli.codec.canonical import decode, encode_line
from memcli.errors import StoreError
from memcli.model.memory import Json
from memcli.model.names import marked, memory_id, short_digest
from memcli.model.space import Receipt
from memcli.store.journal import read_answer

# A row lock on `mutex`, which takes the right to write; an advisory lock any reader could hold.
BARRIER = "SELECT seize(%s, 'memories', true)"
"""Waits for the mutex of a space, which a writer holds to the end of its transaction."""
IF_HELD = "AND EXISTS (SELECT FROM mutex WHERE space = %s AND name = 'memories' FOR UPDATE SKIP LOCKED)"
_MOST = 64
_LONGEST = 400
# Without a flush to disk: a request that is lost was never answered, and an answer is removed only after it was read.
_QUICK = "WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))"
_PLACE = f"{_QUICK} INSERT INTO request (space, token, body) SELECT %s, %s, %s FROM quick ON CONFLICT DO NOTHING"
_AWAIT = "SELECT is_known, said FROM await_answer(%s, %s)"
_TAKE = f"""SELECT token, body FROM request WHERE space = %s AND answer IS NULL {IF_HELD} ORDER BY number LIMIT %s
    FOR UPDATE SKIP LOCKED"""
_ANSWER = """UPDATE request SET body = '', answer = given.answer FROM unnest(%s::uuid[], %s::bytea[]) AS given (t, answer)
    WHERE space = %s AND token = given.t"""
_CLEAR = "DELETE FROM request WHERE space = %s AND answer IS NOT NULL AND at < now() - interval '1 hour'"
_FORGET = "DELETE FROM request WHERE space = %s AND token = %s"
_TAKE_BACK = """INSERT INTO request (space, token, body, answer) VALUES (%s, %s, '', 'null')
    ON CONFLICT (space, token) DO UPDATE SET answer = coalesce(request.answer, 'null') RETURNING answer"""


def new_mark() -> UUID:
    """A random id for a request or a write, by which its fate can be looked up after the connection was lost."""
    return UUID(bytes=os.urandom(16))


def place(connection: Connection, space: str, token: UUID, request: Json) -> None:
    """Inserts a request for the next holder of the space. Idempotent for the same token."""
    connection.execute("BEGIN")
    connection.execute(_PLACE, [space, token, encode_line(request)])
    connection.execute("COMMIT")


def take(connection: Connection, space: str) -> Cursor:
    """Selects the tokens and bodies of at most 64 requests for a space, which this writer holds; they are not fetched yet."""
    return connection.execute(_TAKE, [space, space, _MOST])


def answer(connection: Connection, space: str, answers: Mapping[UUID, Json], own: UUID | None) -> None:
    """Writes the answers to requests, in the transaction that makes their changes; the writer's own request, with the token
    `own`, is only deleted."""
    others = {token: encode_line(one) for token, one in answers.items() if token != own}
    if own in answers:
        connection.execute(_FORGET, [space, own])
    if others:
        connection.execute(_ANSWER, [list(others), list(others.values()), space])
        connection.execute(_CLEAR, [space])


def wait(connection: Connection, space: str, token: UUID) -> Json:
    """Waits for the answer to a request and returns it; None if there is no answer and this transaction holds the space now.

    Raises StoreError if the request does not exist any more.
    """
    is_known, body = connection.execute(_AWAIT, [space, token]).fetchone() or (False, None)
    if not is_known:
        raise StoreError("its answer was removed after an hour", "check with `memcli recall`")
    if body is None:
        return None
    connection.execute(f"{_QUICK} {_FORGET} AND EXISTS (SELECT FROM quick)", [space, token])
    return decode(body, "an answer")


def take_back(connection: Connection, space: str, token: UUID) -> Json:
    """Withdraws a request and returns None; returns the answer if it has one already."""
    # An insert that counts as answered, since the request itself may arrive later, and would then be placed in vain.
    (body,) = connection.execute(_TAKE_BACK, [space, token]).fetchone() or (b"null",)
    return decode(body, "an answer")


def read(answered: Json) -> tuple[Json, Receipt]:
    """The result and the receipt in an answer. Raises the error that it has instead."""
    if "error" in answered:
        from memcli.safety.injection import quotable

        # The message comes from the process of somebody else, and a model must not take it for instructions.
        answered = {"error": {name: quotable(str(text), _LONGEST) for name, text in answered["error"].items()}}
    return read_answer(answered)


def wanted_by(space: str, requests: Iterable[Json]) -> tuple[dict[str, None], dict[str, None], dict[str, None]]:
    """The ids, paths and text hashes that these requests will probably look up, to read them in one round trip."""
    ids: dict[str, None] = {}
    paths: dict[str, None] = {}
    hashes: dict[str, None] = {}
    for request in requests:
        with suppress(
            KeyError, TypeError, ValueError, AttributeError
        ):  # an invalid request is refused by `fold_request`
            for candidate in request["candidates"] if request else ():
                given, digest = {**candidate["derived"], **candidate["given"]}, candidate["hash"]
                hashes[digest] = None
                path = given.get("path", "")
                for one in (path, marked(path, short_digest(digest, 8))):
                    paths[one] = None
                    ids[memory_id(space, one)] = None
                for name in (
                    *(link["to"] for link in given.get("links", ())),
                    *([given["id"]] if "id" in given else ()),
                ):
                    ids[name] = None
    return ids, paths, hashes
