"""Requests that wait: whoever writes a space makes the changes that others ask for along with its own.

A writer that finds the space held puts its request into a table and waits. The holder takes all requests, makes their
changes in its one transaction and writes the answers beside them; when it commits, all who wait go on at once. Where a
holder dies, its transaction is undone, and one of those who wait takes its place. So the work under the lock is shared,
however far away the server is.
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

BARRIER = "SELECT seize(%s, 'memories', true)"
"""Waits for the mutex of a space, which whoever writes it holds to the end of its transaction."""
IF_HELD = "AND EXISTS (SELECT FROM mutex WHERE space = %s AND name = 'memories' FOR UPDATE SKIP LOCKED)"
_MOST = 64
_LONGEST = 400
# Neither is acknowledged: a request by its answer alone, and an answer was read before it is removed.
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
    """What a request, or a write, is known by to whoever has lost sight of it."""
    return UUID(bytes=os.urandom(16))


def place(connection: Connection, space: str, token: UUID, request: Json) -> None:
    """Puts a request where the next writer finds it, once, however often it is placed."""
    connection.execute("BEGIN")
    connection.execute(_PLACE, [space, token, encode_line(request)])
    connection.execute("COMMIT")


def take(connection: Connection, space: str) -> Cursor:
    """Asks for the tokens and bodies of the requests that wait for a space, which this writer holds."""
    return connection.execute(_TAKE, [space, space, _MOST])


def answer(connection: Connection, space: str, answers: Mapping[UUID, Json], own: UUID | None) -> None:
    """Answers requests, in the transaction that makes their changes. `own` is of who makes them, and knows its answer."""
    others = {token: encode_line(said) for token, said in answers.items() if token != own}
    if own in answers:
        connection.execute(_FORGET, [space, own])
    if others:
        connection.execute(_ANSWER, [list(others), list(others.values()), space])
        connection.execute(_CLEAR, [space])


def wait(connection: Connection, space: str, token: UUID) -> Json:
    """The answer to a request when somebody has given it. None when nobody has: then the transaction holds the space.

    Raises StoreError when the request is gone.
    """
    is_known, said = connection.execute(_AWAIT, [space, token]).fetchone() or (False, None)
    if not is_known:
        raise StoreError("its answer was removed after an hour", "check with `memcli recall`")
    if said is None:
        return None
    connection.execute(f"{_QUICK} {_FORGET} AND EXISTS (SELECT FROM quick)", [space, token])
    return decode(said, "an answer")


def take_back(connection: Connection, space: str, token: UUID) -> Json:
    """Takes a request back, also one that may still be on its way; or else the answer to it."""
    (said,) = connection.execute(_TAKE_BACK, [space, token]).fetchone() or (b"null",)
    return decode(said, "an answer")


def read(said: Json) -> tuple[Json, Receipt]:
    """What an answer says. Raises the error that it tells of, in words of another process that are screened."""
    if "error" in said:
        from memcli.safety.injection import quotable

        said = {"error": {name: quotable(str(text), _LONGEST) for name, text in said["error"].items()}}
    return read_answer(said)


def wanted_by(space: str, requests: Iterable[Json]) -> tuple[dict[str, None], dict[str, None], dict[str, None]]:
    """The ids, paths and hashes of texts that these requests will probably look up. A lookup that is not foreseen is made when
    it comes."""
    ids: dict[str, None] = {}
    paths: dict[str, None] = {}
    hashes: dict[str, None] = {}
    for request in requests:
        with suppress(KeyError, TypeError, ValueError, AttributeError):  # one that is no request is refused later
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
