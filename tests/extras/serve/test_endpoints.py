"""Every endpoint: what it answers to whom."""

from __future__ import annotations

import re

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
    ("GET", "/api/recall?topic=x&min_score=nan", None, READER, 422),
    ("GET", "/api/recall?topic=x&recency_bias=1e999", None, READER, 422),
    ("GET", "/api/tree?depth=9007199254740992", None, READER, 422),
]


@pytest.fixture(scope="module")
def names(server: Server) -> dict[str, str]:
    """The memory and the session that paths speak of."""
    found = {"id": server.remember(**FIELDS)}
    server.remember(raw="We queue jobs in Redis.", path="decisions/queue")
    found["session"] = server.ask("POST", "/api/sessions", {}).json["id"]
    server.ask("POST", f"/api/sessions/{found['session']}/messages", {"text": "Hello."})
    return found


def test_roles_and_statuses(server: Server, names: dict[str, str], subtests: pytest.Subtests) -> None:
    for method, template, body, role, status in TABLE:
        path = template.format(**names)
        with subtests.test(method=method, path=template):
            assert server.ask(method, path, body, token=None).status == 401
            for lower in ROLES[: ROLES.index(role)]:
                refused = server.ask(method, path, body, server.by_role[lower])
                assert (refused.status, "needs the role" in refused.json["title"]) == (403, True)
            answer = server.ask(method, path, body, server.by_role[role])
            assert answer.status == status or (status == 200 and answer.status == 201), answer
            if status >= 400:
                assert answer.headers["content-type"] == "application/problem+json"
                assert (answer.json["status"], bool(answer.json["title"])) == (status, True)


def test_the_table_has_every_endpoint_and_each_describes_itself(server: Server) -> None:
    def anonymous(path: str) -> str:
        return re.sub(r"(?<=/)(\{\w+\}|main|other|none|mem_none|ses_none|nobody)(?=/|$)", "{}", path.partition("?")[0])

    tested = {(method, anonymous(path)) for method, path, *_ in TABLE}
    described = {
        (method.upper(), path): one
        for path, methods in server.get("/openapi.json").json["paths"].items()
        for method, one in methods.items()
    }
    untested = {(method, path) for method, path in described if (method, anonymous(path)) not in tested}
    assert untested <= {("GET", "/health"), ("GET", "/metrics")}
    for (_, path), one in described.items():
        assert (path, bool(one["summary"])) == (path, True)
        assert path == "/health" or {"401", "403", "422"} <= one["responses"].keys(), path
    health = server.get("/health", token=None)
    assert (health.status, health.json) == (200, {"status": "ok"})


def test_a_list_has_pages_with_the_text_of_each_memory(server: Server) -> None:
    for number in range(4):
        server.remember("pages", raw=f"Page {number} is numbered.\nIt has two lines.", path=f"pages/{number}")
    server.remember("pages", content={"goal": "ship"}, path="pages/4")
    found, path = [], "/apps/pages/memories?limit=2"
    while path:
        answer = server.get(path)
        found += answer.json["memories"]
        path = answer.headers.get("link", "").partition(">")[0].removeprefix("<")
    found.sort(key=lambda memory: memory["path"])  # they come newest first, and may be of different seconds
    assert [memory["path"] for memory in found] == [f"pages/{number}" for number in range(5)]
    assert [(one["raw"], one.get("content")) for one in found[3:]] == [
        ("Page 3 is numbered.\nIt has two lines.", None), ("", {"goal": "ship"}),
    ]  # fmt: skip
    for one in found[3:]:
        whole = server.get(f"/apps/pages/memories/{one['id']}").json
        assert {name: whole.get(name) for name in one} == one


def test_what_is_forgotten_stays_and_what_is_purged_goes(server: Server) -> None:
    names = [server.remember("purged", raw=f"Fact {number} holds.", path=f"facts/{number}") for number in range(3)]

    def delete(path: str) -> object:
        return server.ask("DELETE", f"/apps/purged{path}").json

    def listed(query: str = "") -> list[str]:
        return [one["id"] for one in server.get(f"/apps/purged/memories{query}").json["memories"]]

    assert delete(f"/memories/{names[0]}?purge=true") == {"success": True}
    assert delete(f"/memories/{names[1]}") == {"success": True}
    assert (listed(), listed("?all=true")) == (names[2:], names[1:])
    assert delete("?memories=keep") == {"success": True, "memories": "keep", "deletedCount": 0}
    assert delete("/memories") == {"success": True, "deletedCount": 2}
    assert listed("?all=true") == []
    assert delete("?memories=purge") == {"success": True, "memories": "purge", "deletedCount": 0}


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
