"""Every endpoint: what it answers to whom."""

from __future__ import annotations

import pytest

from memcli.model.space import ADMIN, READER, ROLES, WRITER
from tests.extras.serve.conftest import Server

FIELDS = {"raw": "We chose PostgreSQL over MySQL: we need JSONB.", "path": "decisions/database", "kind": "decision"}

# method, path, body, the role that is needed, the status then
TABLE = [
    ("GET", "/apps", None, READER, 200),
    ("GET", "/apps/main", None, READER, 200),
    ("GET", "/apps/main/memories", None, READER, 200),
    ("GET", "/apps/main/memories?kind=decision&tag=nothing&all=true&limit=1", None, READER, 200),
    ("GET", "/apps/main/memories?under=nowhere", None, READER, 404),
    ("GET", "/apps/main/memories?limit=0", None, READER, 422),
    ("GET", "/apps/main/memories/{id}", None, READER, 200),
    ("GET", "/apps/main/memories/mem_none", None, READER, 404),
    ("GET", "/apps/other/memories/{id}", None, READER, 404),
    ("POST", "/apps/main/memories", FIELDS | {"path": "decisions/cache"}, WRITER, 200),
    ("POST", "/apps/main/memories", {"raw": ""}, WRITER, 422),
    ("POST", "/apps/main/memories", {"nonsense": 1}, WRITER, 422),
    ("POST", "/apps/main/memories", [], WRITER, 422),
    ("POST", "/apps/main/memories?supersedes=mem_none", FIELDS, WRITER, 404),
    ("PATCH", "/apps/main/memories/{id}", {"tags": ["sql"]}, WRITER, 200),
    ("PATCH", "/apps/main/memories/{id}", {"importance": 7}, WRITER, 422),
    ("PATCH", "/apps/main/memories/{id}", {"id": "mem_other"}, WRITER, 422),
    ("PATCH", "/apps/main/memories/{id}", {}, WRITER, 422),
    ("PATCH", "/apps/main/memories/mem_none", {"tags": []}, WRITER, 404),
    ("DELETE", "/apps/main/memories/mem_none", None, WRITER, 404),
    ("DELETE", "/apps/main/memories/mem_none?purge=true", None, ADMIN, 404),
    ("DELETE", "/apps/none/memories", None, ADMIN, 404),
    ("DELETE", "/apps/main?memories=keep", None, ADMIN, 200),
    ("DELETE", "/apps/main", None, ADMIN, 422),
    ("DELETE", "/apps/main?memories=perhaps", None, ADMIN, 422),
    ("PATCH", "/apps/main/policy", {"set": ["gaps=true"]}, ADMIN, 200),
    ("PATCH", "/apps/main/policy", {"set": ["ttl_days=never"]}, ADMIN, 422),
    ("PATCH", "/apps/main/policy", {"set": ['pii_redaction=["email"]', "quota.openai.tokens_per_day=5"]}, ADMIN, 200),
    ("PATCH", "/apps/main/policy", {"unset": ["quota.openai.tokens_per_day", "pii_redaction"]}, ADMIN, 200),
    ("GET", "/api/recall?topic=which+database", None, READER, 200),
    ("GET", "/api/recall?topic=database&limit=many", None, READER, 422),
    ("GET", "/api/recall", None, READER, 422),
    ("POST", "/api/recall", {"topic": "which database", "format": "prompt"}, READER, 200),
    ("POST", "/api/recall", {"topic": "x", "topics": "/etc/passwd"}, READER, 422),
    ("GET", "/api/search?query=database", None, READER, 200),
    ("POST", "/api/search", {"query": "database", "under": "decisions"}, READER, 200),
    ("GET", "/api/context?query=database&no_session=true", None, READER, 200),
    ("POST", "/api/context", {"query": "database", "total": 4000}, READER, 200),
    ("GET", "/api/tree?depth=1", None, READER, 200),
    ("GET", "/api/graph", None, READER, 200),
    ("GET", "/api/graph?ref=decisions/database&depth=1", None, READER, 200),
    ("GET", "/api/verify", None, READER, 200),
    ("GET", "/api/usage", None, READER, 200),
    ("GET", "/api/gaps", None, READER, 200),
    ("GET", "/api/audit?limit=5", None, READER, 200),
    ("GET", "/api/audit?verify=true", None, READER, 200),
    ("POST", "/api/feedback", {"refs": ["decisions/database"], "helpful": True}, WRITER, 200),
    ("POST", "/api/feedback", {"refs": ["1"], "helpful": True}, WRITER, 422),
    ("POST", "/api/links", {"start": "decisions/database", "end": "decisions/queue"}, WRITER, 200),
    ("DELETE", "/api/links?start=decisions/database&end=decisions/queue", None, WRITER, 200),
    ("GET", "/api/inbox", None, READER, 200),
    ("POST", "/api/inbox/accept", {"refs": ["mem_none"]}, WRITER, 404),
    ("POST", "/api/inbox/reject", {"all": True}, WRITER, 200),
    ("GET", "/api/sessions", None, READER, 200),
    ("POST", "/api/sessions", {"title": "A talk"}, WRITER, 201),
    ("GET", "/api/sessions/{session}", None, READER, 200),
    ("GET", "/api/sessions/{session}?from_=0", None, READER, 422),
    ("GET", "/api/sessions/ses_none", None, READER, 404),
    ("POST", "/api/sessions/{session}/messages", {"text": "We use uv now.", "role": "user"}, WRITER, 201),
    ("POST", "/api/sessions/{session}/messages", {"role": "user"}, WRITER, 422),
    ("GET", "/api/sessions/{session}/arc", None, READER, 200),
    ("POST", "/api/sessions/{session}/end", {"outcome": "done"}, WRITER, 200),
    ("DELETE", "/api/sessions/ses_none", None, ADMIN, 404),
    ("POST", "/api/gc", {"dry_run": True}, ADMIN, 200),
    ("GET", "/api/tokens", None, ADMIN, 200),
    ("POST", "/api/tokens", {"name": "x", "role": "king"}, ADMIN, 422),
    ("DELETE", "/api/tokens/nobody", None, ADMIN, 404),
    ("POST", "/api/login", {}, READER, 201),
    ("GET", "/openapi.json", None, READER, 200),
]


@pytest.fixture(scope="module")
def names(server: Server) -> dict[str, str]:
    """The memory and the session that paths speak of."""
    found = {"id": server.remember(**FIELDS)}
    server.remember(raw="We queue jobs in Redis.", path="decisions/queue")
    found["session"] = server.ask("POST", "/api/sessions", {}).json["id"]
    server.ask("POST", f"/api/sessions/{found['session']}/messages", {"text": "Hello."})
    return found


@pytest.mark.parametrize(("method", "path", "body", "role", "status"), TABLE)
def test_roles_and_statuses(
    server: Server, names: dict[str, str], method: str, path: str, body: object, role: str, status: int
) -> None:
    path = path.format(**names)
    assert server.ask(method, path, body, token=None).status == 401
    for lower in ROLES[: ROLES.index(role)]:
        refused = server.ask(method, path, body, server.by_role[lower])
        assert refused.status == 403, refused
        assert "needs the role" in refused.json["title"]
    answer = server.ask(method, path, body, server.by_role[role])
    assert answer.status == status or (status == 200 and answer.status == 201), answer
    if status >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json["status"] == status
        assert answer.json["title"]


def test_the_table_has_every_endpoint(server: Server) -> None:
    tested = {(method, _template(path)) for method, path, *_ in TABLE}
    described = {
        (method.upper(), path)
        for path, methods in server.get("/openapi.json").json["paths"].items()
        for method in methods
    }
    untested = {(method, path) for method, path in described if (method, _anonymous(path)) not in tested}
    assert untested <= {("GET", "/health"), ("GET", "/metrics")}


def _template(path: str) -> str:
    path = path.partition("?")[0].replace("{session}", "{}").replace("{id}", "{}")
    for name in ("main", "other", "none", "mem_none", "ses_none", "nobody"):
        path = f"{path}/".replace(f"/{name}/", "/{}/")[:-1]
    return path


def _anonymous(path: str) -> str:
    import re

    return re.sub(r"\{\w+\}", "{}", path)


def test_every_endpoint_has_a_verb_and_describes_itself(server: Server) -> None:
    described = server.get("/openapi.json").json
    for path, methods in described["paths"].items():
        for method, one in methods.items():
            assert one["summary"], (method, path)
            assert path == "/health" or {"401", "403", "422"} <= one["responses"].keys(), (method, path)


def test_health_needs_no_token_and_says_no_more(server: Server) -> None:
    answer = server.get("/health", token=None)
    assert (answer.status, answer.json) == (200, {"status": "ok"})


@pytest.mark.parametrize(
    "address", ["recall?topic=x&min_score=nan", "tree?depth=9007199254740992", "recall?topic=x&recency_bias=1e999"]
)
def test_numbers_that_cannot_be_meant(server: Server, address: str) -> None:
    assert server.get(f"/api/{address}").status == 422


def test_a_list_has_pages(server: Server) -> None:
    for number in range(5):
        server.remember("pages", raw=f"Page {number} is numbered.", path=f"pages/{number}")
    found, path = [], "/apps/pages/memories?limit=2"
    while path:
        answer = server.get(path)
        found += [memory["path"] for memory in answer.json["memories"]]
        path = answer.headers.get("link", "").partition(">")[0].removeprefix("<")
    assert found == [f"pages/{number}" for number in range(5)]


def test_a_list_has_the_text_of_each_memory(server: Server) -> None:
    server.remember("texts", raw="The first rule.\nIt has two lines.", path="rules/a")
    server.remember("texts", content={"goal": "ship"}, path="rules/b")
    found = server.get("/apps/texts/memories").json["memories"]
    assert [(one["raw"], one.get("content")) for one in found] == [
        ("The first rule.\nIt has two lines.", None), ("", {"goal": "ship"}),
    ]  # fmt: skip
    for one in found:
        whole = server.get(f"/apps/texts/memories/{one['id']}").json
        assert {name: whole.get(name) for name in one} == one


def test_a_space_is_purged(server: Server) -> None:
    ids = [server.remember("purged", raw=f"Fact {number} holds.", path=f"facts/{number}") for number in range(3)]
    one = server.ask("DELETE", f"/apps/purged/memories/{ids[0]}?purge=true")
    assert (one.status, one.json) == (200, {"success": True})
    kept = server.ask("DELETE", "/apps/purged?memories=keep")
    assert kept.json == {"success": True, "memories": "keep", "deletedCount": 0}
    assert len(server.get("/apps/purged/memories").json["memories"]) == 2
    purged = server.ask("DELETE", "/apps/purged/memories")
    assert purged.json == {"success": True, "deletedCount": 2}
    assert server.get("/apps/purged/memories").json["memories"] == []
    again = server.ask("DELETE", "/apps/purged?memories=purge")
    assert again.json == {"success": True, "memories": "purge", "deletedCount": 0}


def test_a_forgotten_memory_is_kept(server: Server) -> None:
    name = server.remember("forgotten", raw="We deploy on Fridays.", path="ops/deploy")
    assert server.ask("DELETE", f"/apps/forgotten/memories/{name}").json == {"success": True}
    assert server.get("/apps/forgotten/memories").json["memories"] == []
    assert server.get("/apps/forgotten/memories?all=true").json["memories"][0]["id"] == name


def test_what_is_stored_says_how(server: Server) -> None:
    new = server.ask("POST", "/apps/how/memories", {"raw": "We use tabs."})
    assert new.status == 201
    assert server.get(new.headers["location"]).json["raw"] == "We use tabs."
    assert server.ask("POST", "/apps/how/memories", {"raw": "We use tabs."}).status == 200
    waits = server.ask("POST", "/apps/how/memories?propose=true", {"raw": "We use spaces."})
    assert waits.status == 202
    accepted = server.ask("POST", "/api/inbox/accept", {"all": True, "space": "how"})
    assert accepted.json[0]["status"] == "created"


def test_a_memory_keeps_what_a_session_said_about_it(server: Server) -> None:
    session = server.ask("POST", "/api/sessions", {"title": "Talk", "space": "kept"}).json["id"]
    said = {"text": "Tabs are one byte, spaces are four.", "space": "kept"}
    assert server.ask("POST", f"/api/sessions/{session}/messages", said).status == 201
    fields = {"content": {"indent": "tabs"}, "path": "style/indent"}
    stored = server.ask("POST", f"/apps/kept/memories?context=100&session={session}", fields)
    assert stored.json["context_tokens"] > 0
    found = server.get(f"/apps/kept/memories/{stored.json['id']}").json
    assert [one["source"] for one in found["context"]] == [f"{session}#1"]
    assert server.ask("POST", "/apps/kept/memories?context=0", fields).status == 422
    assert server.ask("POST", "/apps/kept/memories?context=9&session=ses_none", fields).status == 404
