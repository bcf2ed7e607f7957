"""Who is let in, and what a token that is for some spaces shows of others: nothing."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from memcli.errors import StoreError
from memcli.extras.serve.access import Caller
from memcli.extras.serve.tokens import Tokens
from memcli.model.space import ADMIN, READER, WRITER
from memcli.store.layout import Layout, make_root
from tests.conftest import NOW, Run
from tests.extras.serve.conftest import Answer, Server, Start

HIDDEN = "zanzibar"


def test_the_first_token_is_for_its_user_alone(server: Server) -> None:
    path = server.private / "serve-token"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    others = path.with_name("serve-tokens.json")
    assert stat.S_IMODE(others.stat().st_mode) == 0o600
    assert not any(token in others.read_text() for token in server.by_role.values())


def test_tokens_over_http(server: Server, run: Run) -> None:
    made = server.ask("POST", "/api/tokens", {"name": "board", "role": "reader", "spaces": ["main"]})
    assert made.status == 201
    assert server.get("/apps", made.json["token"]).status == 200
    assert server.ask("POST", "/api/tokens", {"name": "board", "role": "reader"}).status == 409
    listed = server.get("/api/tokens")
    assert made.json["token"] not in listed.body.decode()
    assert {"name": "board", "role": "reader"}.items() <= listed.json["tokens"][-1].items()
    assert server.ask("DELETE", "/api/tokens/board").status == 200
    assert server.get("/apps", made.json["token"]).status == 401
    token = server.create(READER, name="leaving")
    assert server.get("/apps", token).status == 200
    assert run("serve", "token", "revoke", "leaving", "--root", str(server.folder)).code == 0
    assert server.get("/apps", token).status == 401


def test_tokens_on_the_command_line(run: Run, tmp_path: Path) -> None:
    run("init")
    made = run("serve", "token", "create", "--role", "writer", "--space", "main,notes", "--name", "ci", "--json")
    assert made.code == 0, made.err
    told = json.loads(made.out)
    assert (told["name"], told["role"], told["spaces"]) == ("ci", "writer", ["main", "notes"])
    assert told["token"] not in (tmp_path / ".memory/local/serve-tokens.json").read_text()
    for words, code in ((("--name", "ci"), 4), (("--role", "king"), 2), (("--space", "../etc"), 2)):
        assert run("serve", "token", "create", *words).code == code
    assert run("serve", "token", "create").out.startswith("mct_")
    listed = run("serve", "token", "list").out
    assert "reader-1" in listed
    assert told["token"] not in listed
    assert [run("serve", "token", "revoke", *names).code for names in ((), ("nobody",), ("ci",))] == [2, 3, 0]
    assert run("serve", "tokens").code == 2


def test_a_missing_extra_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.extras.serve.command.find_spec", lambda _: None)
    run("init")
    done = run("serve")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "pip install" in done.err


@pytest.mark.skipif(os.name == "nt", reason="modes and links of POSIX")
def test_a_token_file_that_cannot_be_trusted(run: Run, tmp_path: Path) -> None:
    run("init")
    path = tmp_path / ".memory" / "local" / "serve-token"
    path.parent.mkdir(exist_ok=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mct_known\n")
    spoilt: dict[str, Callable[[], object]] = {
        "a link": lambda: path.symlink_to(elsewhere), "a folder": path.mkdir,
        "a mode": lambda: (path.write_text("mct_known\n"), path.chmod(0o644)),
        "a text": lambda: (path.write_text("known\n"), path.chmod(0o600)),
    }  # fmt: skip
    for name, spoil in spoilt.items():
        spoil()
        done = run("serve", "token", "list")
        assert (name, done.code in (6, 8), done.err.count("\n")) == (name, True, 1)
        assert elsewhere.read_text() == "mct_known\n"
        path.rmdir() if path.is_dir() else path.unlink()


def test_the_first_token_is_read_where_nothing_can_be_written(tmp_path: Path) -> None:
    layout = Layout(str(tmp_path / ".memory"))
    make_root(layout.root)
    first = Tokens(layout).make_first()
    lock = Path(layout.lock("serve"))
    lock.unlink(missing_ok=True)
    lock.mkdir(parents=True)
    with pytest.raises(StoreError):
        Tokens(layout).create(Caller("ann", READER), NOW)
    assert Tokens(layout).make_first() == first


def test_tokens_that_cannot_be_read_do_not_say_where_they_are(start: Start) -> None:
    server = start("--workers", "1")
    path = server.private / "serve-tokens.json"
    path.write_text("{")
    path.chmod(0o600)
    for page, kind in (("/apps", "application/json"), ("/", "text/html")):
        answer = server.get(page, Accept=kind)
        assert answer.status == 500
        assert str(server.folder).encode() not in answer.body
        assert b"he tokens cannot be read" in answer.body
    server.stop()
    assert any(str(path) in line for line in server.lines)


def enter(server: Server, link: str) -> Answer:
    """What a link of the server, which logs in, answers."""
    return server.get(link.removeprefix(server.address), token=None)


def test_a_link_works_once_and_its_session_is_bound_to_the_token(server: Server) -> None:
    link = server.ask("POST", "/api/login", token=server.create(WRITER, name="browser")).json["url"]
    entered = enter(server, link)
    cookie = entered.headers["set-cookie"]
    assert (entered.status, "HttpOnly" in cookie, "samesite=strict" in cookie.lower()) == (303, True, True)
    assert enter(server, link).status == 403
    session = cookie.partition(";")[0]
    assert server.get("/apps", token=None, Cookie=session).status == 200
    assert server.ask("POST", "/api/login", token=None, Cookie=session).status == 403
    server.tokens.revoke("browser")
    assert server.get("/apps", token=None, Cookie=session).status == 401
    first = enter(server, server.link).headers["set-cookie"].partition(";")[0]
    assert server.get("/api/tokens", token=None, Cookie=first).status == 200, "the printed link is of the first token"


def test_a_session_needs_its_mark_to_change_anything(server: Server) -> None:
    from memcli.extras.serve.tokens import csrf_of

    link = server.ask("POST", "/api/login").json["url"]
    cookie = enter(server, link).headers["set-cookie"].partition(";")[0]
    mark = csrf_of(cookie.partition("=")[2])
    body = {"raw": "Forms bear a mark."}
    post = ("POST", "/apps/csrf/memories", body, None)
    for headers, status in (
        ({}, 403), ({"X_Memcli_Csrf": "wrong"}, 403), ({"X_Memcli_Csrf": mark, "Origin": "http://evil.example"}, 403),
        ({"X_Memcli_Csrf": mark, "Sec_Fetch_Site": "cross-site"}, 403), ({"X_Memcli_Csrf": mark, "Origin": server.address}, 201),
    ):  # fmt: skip
        assert (headers, server.ask(*post, Cookie=cookie, **headers).status) == (headers, status)
    form = f"csrf={mark}".encode()
    out = server.ask("POST", "/logout", form, None, Cookie=cookie, Content_Type="application/x-www-form-urlencoded")
    assert out.status == 303
    assert server.get("/apps", token=None, Cookie=cookie).status == 401


@pytest.fixture(scope="module")
def bound(server: Server) -> dict[str, str]:
    """Two spaces that refer to each other, a session, gaps and proposals in both; tokens for one of them."""
    for space in ("open", "closed"):
        server.ask("POST", f"/apps/{space}/memories", {"raw": f"The first word of {space}."})
    server.ask("PATCH", "/apps/closed/policy", {"set": ["gaps=true"]})
    mine = server.remember("open", raw="The gate opens at nine.", path="gate/open", tags=["hours"])
    theirs = server.remember("closed", raw=f"The gate of {HIDDEN} opens at ten.", path=f"gate/{HIDDEN}", tags=[HIDDEN])
    for start, end in ((f"open:{mine}", f"closed:{theirs}"), (f"closed:{theirs}", f"open:{mine}")):
        made = server.ask("POST", "/api/links", {"start": start, "end": end, "relation": "depends_on"})
        assert made.status == 200, made
    session = server.ask("POST", "/api/sessions", {"title": HIDDEN, "space": "closed"}).json["id"]
    said = f"We decided to visit {HIDDEN} because we love it."
    server.ask("POST", f"/api/sessions/{session}/messages", {"text": said, "space": "closed"})
    assert server.ask("POST", f"/api/sessions/{session}/end", {"space": "closed"}).json["facts"]
    server.get(f"/api/recall?topic=when+was+{HIDDEN}+founded+quixotic&space=closed")
    server.ask("POST", "/apps/closed/memories?propose=true", {"raw": f"Proposal about {HIDDEN}."})
    tokens = {role: server.create(role, "open") for role in (READER, WRITER, ADMIN)}
    return {**tokens, "mine": mine, "theirs": theirs, "session": session}


READS = [
    "/apps", "/apps/open", "/apps/open/memories?all=true", "/apps/open/memories/{mine}", "/api/recall?topic=gate+opens",
    "/api/recall?topic=" + HIDDEN, "/api/search?query=gate", "/api/context?query=gate&no_session=true", "/api/tree",
    "/api/graph", "/api/graph?ref=gate/open&depth=5", "/api/verify", "/api/usage?usage=true", "/api/gaps", "/api/audit?limit=0",
    "/api/inbox", "/api/sessions?limit=0", "/api/recall?topic=gate&space=open&include_metadata=true&include_raw=true",
]  # fmt: skip


def test_nothing_of_other_spaces_is_shown(server: Server, bound: dict[str, str], subtests: pytest.Subtests) -> None:
    for path in READS:
        with subtests.test(path=path):
            answer = server.get(path.format(**bound), bound[READER])
            assert answer.status == 200, answer
            text = answer.body.decode().lower()
            assert text.count(HIDDEN) <= 2 * path.count(HIDDEN), text  # the question itself comes back
            assert [word for word in (bound["theirs"], '"closed', "journal@closed") if word in text] == []
    for path in ("/apps/open/memories/{theirs}", "/api/sessions/{session}", "/api/sessions/{session}/arc"):
        answer = server.get(path.format(**bound), bound[READER])
        assert (path, answer.status, "closed" in answer.body.decode()) == (path, 404, False)


REFUSED = [
    ("GET", "/apps/closed", None), ("GET", "/apps/closed/memories", None), ("GET", "/apps/closed/memories/{theirs}", None),
    ("GET", "/apps/nowhere/memories", None), ("GET", "/api/recall?topic=gate&space=closed", None),
    ("GET", "/api/sessions?space=closed", None), ("GET", "/api/audit?space=closed", None),
    ("GET", "/api/graph?ref=closed:{theirs}", None), ("GET", "/api/inbox?space=closed", None),
    ("POST", "/apps/closed/memories", {"raw": "x"}), ("PATCH", "/apps/closed/memories/{theirs}", {"tags": []}),
    ("DELETE", "/apps/closed/memories/{theirs}?purge=true", None), ("DELETE", "/apps/closed/memories", None),
    ("DELETE", "/apps/closed?memories=purge", None), ("PATCH", "/apps/closed/policy", {"set": ["gaps=false"]}),
    ("POST", "/api/links", {"start": "gate/open", "end": "closed:{theirs}"}),
    ("POST", "/apps/open/memories", {"raw": "x", "links": [{"to": "closed:{theirs}", "relation": "relates_to"}]}),
    ("PATCH", "/apps/open/memories/{mine}", {"links": [{"to": "closed:mem_x", "relation": "relates_to"}]}),
    ("POST", "/apps/open/memories?supersedes=closed:{theirs}", {"raw": "x"}),
    ("POST", "/api/inbox/accept", {"all": True, "space": "closed"}), ("POST", "/api/gc", {"space": "closed"}),
    ("POST", "/api/sessions/{session}/end", {"space": "closed"}),
    ("GET", "/apps/journal@closed/memories", None), ("GET", "/api/recall?topic=gate&space=journal", None), ("GET", "/api/tokens", None),
    ("POST", "/api/tokens", {"name": "wide", "role": "admin"}), ("DELETE", "/api/tokens/first", None),
    ("POST", "/api/feedback", {"refs": ["closed:{theirs}"], "helpful": True}),
]  # fmt: skip


def test_other_spaces_are_refused(server: Server, bound: dict[str, str], subtests: pytest.Subtests) -> None:
    for method, path, body in REFUSED:
        with subtests.test(method=method, path=path):
            filled = json.loads(json.dumps(body).replace("{theirs}", bound["theirs"])) if body is not None else None
            answer = server.ask(method, path.format(**bound), filled, bound[ADMIN])
            assert (answer.status, HIDDEN in answer.body.decode()) == (403, False)


def test_what_a_session_of_its_space_yields_is_the_callers(server: Server, bound: dict[str, str]) -> None:
    admin = bound[ADMIN]
    session = server.ask("POST", "/api/sessions", {"title": "Doors"}, admin).json["id"]
    text = {"text": "We decided to paint the doors green because they fade."}
    assert server.ask("POST", f"/api/sessions/{session}/messages", text, admin).status == 201
    assert server.ask("POST", f"/api/sessions/{session}/end", {}, admin).json["facts"][0]["space"] == "journal@open"
    (found,) = server.get("/api/search?query=doors&under=decisions", admin).json["sections"]
    assert found["space"] == "journal@open"
    assert server.get(f"/apps/open/memories/{found['id']}", admin).json["raw"] == text["text"]
    assert server.ask("PATCH", f"/apps/open/memories/{found['id']}", {"tags": ["doors"]}, admin).status == 200
    assert "green" not in server.get("/api/recall?topic=doors").body.decode()
    assert server.ask("DELETE", f"/api/sessions/{session}", None, admin).status == 200
    assert server.get(f"/apps/open/memories/{found['id']}", admin).status == 404


def test_purging_a_space_takes_what_its_sessions_yielded(server: Server) -> None:
    session = server.ask("POST", "/api/sessions", {"title": "Shelves", "space": "shelves"}).json["id"]
    text = {"text": "We decided to buy shelves because books fall.", "space": "shelves"}
    server.ask("POST", f"/api/sessions/{session}/messages", text)
    server.ask("POST", f"/api/sessions/{session}/end", {"space": "shelves"})
    assert server.get("/apps/shelves/memories").json["memories"]
    assert server.ask("DELETE", "/apps/shelves?memories=purge").json["deletedCount"] > 0
    assert server.get("/apps/journal@shelves/memories?all=true").json["memories"] == []


def test_a_token_for_two_spaces_names_one(server: Server, bound: dict[str, str]) -> None:
    token = server.create(READER, "open", "closed")
    assert server.get("/api/tree", token).status == 422
    assert server.get("/api/tree?space=closed", token).status == 200
    names = [one["space"] for one in server.get("/apps", token).json["spaces"]]
    assert [name for name in names if "@" not in name] == ["closed", "open"]
    assert {name for name in names if "@" in name} <= {"journal@closed", "journal@open"}


def test_a_bound_token_has_nothing_of_the_user_wide_store(server: Server, bound: dict[str, str]) -> None:
    wide = {"raw": f"A {HIDDEN} rule is for all.", "scope": "global", "path": "rules/wide"}
    assert server.ask("POST", "/apps/open/memories", wide, bound[ADMIN]).status == 403
    assert server.ask("POST", "/apps/open/memories", wide).status == 201
    assert HIDDEN in server.get("/api/recall?topic=rule").body.decode()
    for path in ("/api/recall?topic=rule", "/api/tree", "/apps/open/memories"):
        assert HIDDEN not in server.get(path, bound[READER]).body.decode()
    assert server.get("/apps/open/memories/rules%2Fwide", bound[READER]).status == 404
