"""Every page, by role and with hostile texts: statuses, and that stored text never becomes markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from memcli.extras.serve.inspector import pages
from tests.cli.conftest import git
from tests.extras.serve.inspector import hostile_store
from tests.extras.serve.inspector.site import CSRF, OneStore, fill, make_site

PAGES = (
    "/", "/?q=how+long+do+tokens+live", "/?q=tokens&why=1&state=all&kind=decision&tag=auth", "/?space=main&under=auth",
    "/?space=main&page=2", "/?q=nothing+of+this+zebra", "/?part=1&q=tokens", "/tree?space=main&path=auth&part=1",
    "/graph", "/graph?ref=auth", "/graph/list?space=main", "/graph.json?space=main", "/sessions", "/sessions?space=journal",
    "/usage", "/gaps", "/audit", "/audit?verify=1", "/audit?about=auth/tokens&since=2020-01-01", "/inbox",
)  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OneStore]:
    root = tmp_path_factory.mktemp("site")
    fill(root).close()
    backend = OneStore(root)
    yield backend
    backend.memory.close()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[OneStore]:
    """A store that a test may change."""
    backend = OneStore(tmp_path)
    backend.memory.init()
    yield backend
    backend.memory.close()


@cache
def client(backend: OneStore, role: str = "writer", spaces: tuple[str, ...] = ()) -> TestClient:
    return TestClient(make_site(backend, role, spaces), headers={"Accept": "text/html"}, follow_redirects=False)


def test_every_page_is_there_for_every_role(store: OneStore, subtests: pytest.Subtests) -> None:
    for role in ["reader", "writer", "admin"]:
        for path in PAGES:
            with subtests.test(role=ascii(role), path=ascii(path)):
                answer = client(store, role).get(path)
                assert answer.status_code == 200, answer.text
                assert "undefined" not in answer.text.lower()
                forms = re.findall(r'<form[^>]*method="post"[^>]*action="([^"]*)"', answer.text)
                if role == "reader":
                    assert set(forms) <= {"/logout"}
                for form in re.findall(r'<form[^>]*method="post".*?</form>', answer.text, re.DOTALL):
                    assert f'name="csrf" value="{CSRF}"' in form


def test_what_a_page_says_of_a_memory(store: OneStore) -> None:
    for path, part, texts in (
        ("auth/tokens", "", ("Contradicts",)), ("auth/tokens", "?show=links", ("relates to",)),
        ("auth/tokens", "?show=history", ("remember",)), ("auth/tokens", "?show=anchors", ("stale",)),
        ("auth/tokens", "?show=links&part=1", ("relates to",)), ("auth/signing", "", ("<b>Supersedes</b>",)),
        ("imported/note", "", ("<b>Untrusted.</b>",)), ("team/reviews", "", ("<b>Forgotten.</b>", "Make active")),
    ):  # fmt: skip
        page = client(store).get(f"/memory/main/{store.memory.get(path, no_usage=True)['id']}{part}")
        missing = [text for text in texts if text not in page.text]
        assert (path, part, page.status_code, missing) == (path, part, 200, [])
    page = client(store).get("/?q=how+long+do+tokens+live").text
    assert "<mark>tokens</mark> <mark>live</mark> for 15 minutes" in page
    assert 'class="why"' not in page
    assert '<dl class="why"' in client(store).get("/?q=how+long+do+tokens+live&why=1").text


def test_a_search_says_that_its_evidence_is_weak(own: OneStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.model.recall.ANSWERED", 0.8)  # in a store of one memory most answers are sure
    own.memory.remember("The port of PostgreSQL is 5432, as everywhere.")
    found = {q: client(own).get(f"/?q={q}").text for q in ("everywhere+in+the+world", "postgresql+port", "zxqv")}
    assert {q: "Weak evidence" in text for q, text in found.items()} == {
        "everywhere+in+the+world": True, "postgresql+port": False, "zxqv": False,
    }  # fmt: skip


def test_a_search_leaves_no_usage_and_no_gap(own: OneStore) -> None:
    own.memory.space_policy(set={"gaps": True})
    own.memory.remember("We chose PostgreSQL.", path="decisions/database")
    for query in ("postgresql", "zebra"):
        assert client(own).get(f"/?q={query}").status_code == 200
    assert own.memory.feedback_gaps()["gaps"] == []
    assert own.memory.status(stats=True, usage=True)["usage"]["read"] == 0


def test_the_date_of_a_commit_is_when_it_was_made(own: OneStore) -> None:
    made = {"raw": "Add the queue.", "kind": "diff", "path": "code/queue", "created_at": "2023-02-03T10:00:00Z"}
    name = own.memory.remember(object=made)["id"]
    for path in ("/?kind=diff", "/?q=queue", "/", "/memory/main/{}"):
        page = client(own).get(path.format(name)).text
        dates = re.findall(r'<time[^>]*datetime="([^"]*)"', page.partition("<main")[2].partition("<details")[0])
        assert (path, [date[:10] for date in dates[:1]]) == (path, ["2023-02-03"])


def test_what_is_not_there_is_a_page_with_a_reason(store: OneStore) -> None:
    cases = ["/memory/main/none", "/memory/none/x", "/sessions/main/ses_none", "/?space=main&under=none", "/static/0/inspector.css",
     "/memory/main/..%2f..%2fetc", "/audit?since=never", "/tree?space=none&path=x"]  # fmt: skip
    for path in cases:
        answer = client(store).get(path)
        found = (path, answer.status_code in (404, 422), "<h1>" in answer.text, "Traceback" in answer.text)
        assert found == (path, True, True, False)
    for path in ("/?page=0", "/?page=x", "/?more=100000", f"/?q={'a' * 2000}", "/audit?limit=-1", "/graph?depth=99"):
        assert (path, client(store).get(path).status_code) == (path, 422)
    page, failed = pages.signed_out(), pages.failure(404, "no <b>memory", "look `elsewhere` <i>")
    assert (page.status_code, failed.status_code) == (401, 404)
    assert b"No &lt;b&gt;memory" in failed.body
    assert b"<code>elsewhere</code> &lt;i&gt;" in failed.body


WRITES = (
    ("/change/pin/main/{id}", {"pin": "yes"}), ("/change/tags/main/{id}", {"tags": "a b"}),
    ("/change/edit/main/{id}", {"text": "new", "kind": "fact"}), ("/change/forget/main/{id}", {"forget": "yes"}),
    ("/change/feedback/main/{id}", {"judgement": "helpful"}), ("/gaps/close", {"space": "main", "topic": "x"}),
    ("/inbox/accept", {"space": "main", "name": "x"}), ("/inbox/reject", {"space": "main", "name": "x"}),
    ("/inbox/edit", {"space": "main", "name": "x"}),
)  # fmt: skip


def test_who_may_not_write_changes_nothing(own: OneStore, subtests: pytest.Subtests) -> None:
    name = own.memory.remember("We use uv.", path="tools/uv")["id"]
    before = own.memory.get(name, digest=True, no_usage=True)
    for role, spaces, status in (("reader", (), 403), ("writer", ("notes",), 404)):
        for path, form in WRITES:
            with subtests.test(role=role, path=path):
                answer = client(own, role, spaces).post(path.format(id=name), data={"digest": before["digest"], **form})
                assert answer.status_code == status
                assert own.memory.get(name, digest=True, no_usage=True) == before


def test_a_writer_steers_a_memory(own: OneStore) -> None:
    name = own.memory.remember("We use uv.", path="tools/uv", tag="python")["id"]

    def now() -> dict[str, Any]:
        return own.memory.get(name, digest=True, no_usage=True)  # type: ignore[no-any-return]

    def send(act: str, **form: str) -> str:
        answer = client(own).post(f"/change/{act}/main/{name}", data={"digest": now()["digest"], **form})
        assert answer.status_code == 303, answer.text
        assert client(own).get(answer.headers["location"]).status_code == 200
        return answer.headers["location"].rpartition("=")[2]

    assert (send("pin", pin="yes"), now()["pinned"]) == ("pinned", True)
    assert (send("pin", pin="no"), now()["pinned"]) == ("unpinned", False)
    assert (send("tags", tags="tools, build"), now()["tags"]) == ("tagged", ["tools", "build"])
    assert send("edit", text="We use uv and ruff.", kind="decision", confidence="0.5") == "saved"
    assert (now()["raw"], now()["kind"], now()["confidence"]) == ("We use uv and ruff.", "decision", 0.5)
    assert send("edit", text="We use uv and ruff.", kind="decision") == "same"
    assert (send("forget", forget="yes"), now()["active"]) == ("forgotten", False)
    assert (send("forget", forget="no"), "active" in now()) == ("remembered", False)
    assert send("feedback", judgement="helpful") == "helpful"
    assert own.memory.status(stats=True, usage=True)["usage"]["pending"] == {"helpful": 1}


def test_somebody_was_faster(own: OneStore) -> None:
    name = own.memory.remember("We use pip.", path="tools/uv")["id"]
    digest = own.memory.get(name, digest=True)["digest"]
    own.memory.edit(name, text="We use uv.")
    before = own.memory.get(name, no_usage=True)
    forms = {"pin": {"pin": "yes"}, "tags": {"tags": "x"}, "edit": {"text": "mine <b>"}, "forget": {"forget": "yes"}}
    for act, form in forms.items():
        answer = client(own).post(f"/change/{act}/main/{name}", data={"digest": digest, **form})
        assert (act, answer.status_code) == (act, 412)
        assert "Somebody else changed this memory" in answer.text
        assert act != "edit" or "mine &lt;b&gt;</textarea>" in answer.text  # what was typed is not lost
        assert own.memory.get(name, no_usage=True) == before


def test_the_inbox_is_worked_off(own: OneStore) -> None:
    names = [
        own.memory.remember(f"Proposal {word}.", propose=True, path=word)["id"] for word in ("one", "two", "three")
    ]
    writer = client(own)
    assert writer.get("/inbox").text.count("<article") == 3
    form = {"space": "main", "name": names[0]}
    assert writer.post("/inbox/edit", data={**form, "text": "Proposal edited.", "path": "one"}).status_code == 303
    assert "Proposal edited." in writer.get("/inbox").text
    assert writer.post("/inbox/accept", data=form).status_code == 303
    assert writer.post("/inbox/reject", data={"space": "main", "name": names[1]}).status_code == 303
    assert own.memory.get("one")["raw"] == "Proposal edited."
    assert [one["path"] for one in own.memory.inbox()] == ["three"]
    assert writer.post("/inbox/accept", data={"space": "main", "name": names[1]}).status_code == 404


def test_a_gap_is_closed(own: OneStore) -> None:
    own.memory.space_policy(set={"gaps": True})
    own.memory.remember("We use uv.")
    own.memory.recall("how are zebras fed?")
    assert "how are zebras fed?" in client(own).get("/gaps").text
    answer = client(own).post("/gaps/close", data={"space": "main", "topic": "how are zebras fed?"})
    assert answer.status_code == 303
    assert own.memory.feedback_gaps()["gaps"] == []


def test_a_log_that_was_changed_is_said_to_be(own: OneStore) -> None:
    own.memory.remember("We use uv.")
    own.memory.remember("We use ruff.")
    log = Path(own.memory.calls._options["root"] or "") / ".memory" / "local" / "audit" / "main.jsonl"
    log.write_text(log.read_text().replace('"command":"remember"', '"command":"mallory"', 1))
    assert "The log is intact" not in client(own).get("/audit?verify=1").text
    assert 'class="notice bad"' in client(own).get("/audit?verify=1").text


def test_a_history_shows_what_commits_changed(own: OneStore, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(own.memory.calls._options["root"] or "")
    git(root, "init", "-q")
    name = own.memory.remember("Tokens live for 15 minutes.", path="auth/tokens")["id"]
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Add <tokens>")
    own.memory.edit(name, text="Tokens live for 20 minutes.")
    page = client(own).get(f"/memory/main/{name}?show=history").text
    assert "Add &lt;tokens&gt;" in page
    assert "<del>15</del><ins>20</ins> minutes" in page
    assert "not committed yet" in page


# What a token for some spaces sees ----------------------------------------------------------------------------------


@pytest.fixture
def two_spaces(own: OneStore) -> OneStore:
    secret = own.memory.remember("The merger is called Aurora.", path="secret/merger", tag="aurora")["id"]
    own.memory.space_create("notes")
    mine = own.memory.remember("The merger has a page of notes.", path="open/merger", space="notes")["id"]
    own.memory.link(f"notes:{mine}", secret, relation="depends_on", space="notes")
    own.memory.session_start(title="Aurora talks")
    own.memory.remember("Aurora waits.", propose=True)
    return own


def test_a_bound_token_sees_nothing_of_other_spaces(two_spaces: OneStore, subtests: pytest.Subtests) -> None:
    for path in [*PAGES, "/?q=merger", "/?q=aurora&state=all"]:
        with subtests.test(path=ascii(path)):
            answer = client(two_spaces, "writer", ("notes",)).get(path.replace("q=aurora", "q=secret"))
            assert "aurora" not in answer.text.lower()
            assert "secret/merger" not in answer.text
            assert answer.status_code == (404 if "main" in path or "journal" in path or "under=" in path else 200)
    name = two_spaces.memory.get("open/merger", space="notes")["id"]
    bound, free = client(two_spaces, "writer", ("notes",)), client(two_spaces)
    for path in (f"/memory/notes/{name}", f"/memory/notes/{name}?show=links", "/graph.json?space=notes"):
        assert "secret/merger" not in bound.get(path).text, "links to other spaces are hidden"
    assert "secret/merger" in free.get(f"/memory/notes/{name}?show=links").text


# Hostile texts ------------------------------------------------------------------------------------------------------


class Parsed(HTMLParser):
    """The elements of a page, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


FOREIGN = frozenset("img svg iframe object embed style base b-foreign video audio math template".split())


def check_harmless(text: str) -> None:
    """No element, attribute or address that a stored text could have made."""
    for tag, attributes in Parsed(text).elements:
        assert tag not in FOREIGN, tag
        assert not [name for name in attributes if name.startswith("on") or name in ("style", "srcdoc")], attributes
        if tag == "script":
            assert (attributes.get("src") or "").startswith("/static/")
        for name in ("href", "src", "action", "data-load", "data-tree", "data-graph"):
            address = attributes.get(name)
            assert address is None or re.match(r"[/#?]", address), address
            assert address is None or not address.startswith("//")
    for bad in ("\u202e", "\u2066", "\x00", "\x1b", "\u200b", "\u2028"):
        assert bad not in text


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OneStore, list[str]]]:
    root = tmp_path_factory.mktemp("hostile")
    names = hostile_store.write(root)
    backend = OneStore(root)
    memory = backend.memory
    for n in range(len(hostile_store.ATTACKS)):
        text = hostile_store.hostile(n).replace("\x00", "")
        session = memory.session_start(title=text.replace("\u2028", " ").replace("\u2029", " "))["id"]
        memory.session_add(session, f"{text} We decided to use {text} because it works.", speaker=f"s{n}<b>")
        memory.session_end(session, outcome=text)
        memory.remember(f"{text} is proposed {n}", propose=True, path=f"proposed/{n}", no_check=True)
        memory.recall(f"zebra {n} {text[:60]}", space="main")
    yield backend, names
    memory.close()


def test_hostile_texts_stay_texts(hostile: tuple[OneStore, list[str]], subtests: pytest.Subtests) -> None:
    for path in [*PAGES, "/?q=zq+script&why=1&state=all", "/?space=main&state=all", "/?space=journal"]:
        with subtests.test(path=ascii(path)):
            answer = client(hostile[0]).get(path.replace("auth/tokens", "zq").replace("=auth", "=zq"))
            assert answer.status_code == 200, answer.text
            if answer.headers["content-type"].startswith("text/html"):
                check_harmless(answer.text)
            else:
                assert answer.headers["x-content-type-options"] == "nosniff"


def test_hostile_memories_and_sessions_stay_texts(hostile: tuple[OneStore, list[str]]) -> None:
    backend, names = hostile
    parts = ("", "?show=links", "?show=history", "?show=anchors", "?done=<script>")
    memories = [f"/memory/main/{name}{part}" for name in names for part in parts]
    sessions = [f"/sessions/main/{session['id']}" for session in backend.memory.session_list(limit=0)]
    for path in (*memories, *sessions):
        answer = client(backend).get(path)
        assert (path, answer.status_code, hostile_store.MARK in answer.text) == (path, 200, True)
        check_harmless(answer.text)


def test_hostile_questions_stay_texts(store: OneStore) -> None:
    """In every field; what they share is in all of them."""
    for attack in hostile_store.ATTACKS:
        fields = dict.fromkeys(("q", "space", "under", "kind", "tag", "state", "done"), attack)
        for params in (fields, *({name: attack} for name in ("q", "space", "done"))):
            check_harmless(client(store).get("/", params=params).text)
        for path in ("/graph", "/sessions", "/audit", "/gaps", "/usage"):
            check_harmless(client(store).get(path, params={"space": attack, "ref": attack, "about": attack}).text)


def test_a_text_begins_with_its_own_line_break(own: OneStore) -> None:
    own.memory.remember("\n\nsecond line", path="a/b", no_check=True)
    name = own.memory.get("a/b")["id"]
    raw = own.memory.get("a/b")["raw"]
    page = client(own).get(f"/memory/main/{name}").text
    assert f">\n{raw}</textarea>" in page  # the parser drops the first break


def test_all_templates_and_files_are_in_the_package() -> None:
    folder = Path(pages.__file__).parent
    assert {path.suffix for path in (folder / "templates").iterdir()} == {".html"}
    assert {path.name for path in (folder / "static").iterdir()} == {
        name for name, (place, _) in pages._FILES.items() if place == pages._OWN
    }
    for path in (folder / "templates").iterdir():
        text = path.read_text()
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|https?://(?!127\.0\.0\.1)|\|\s*safe|autoescape", text), (
            path.name
        )
        assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text)), path.name
