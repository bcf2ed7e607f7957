"""Many at once, and what goes wrong meanwhile: nothing that was acknowledged is lost, nothing is done twice."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import until
from tests.conftest import Run, slow_but
from tests.extras.serve.conftest import PATIENCE, Answer, Server, Start
from tests.safety.secrets_corpus import secret

SECRET = secret("github_token", 902)[1]
WORKERS = 2


def command(server: Server, *arguments: str, space: str = "") -> Any:
    """What a command beside the server prints as JSON."""
    words = ["--json"] if arguments[0] in ("list", "recall", "check") else []
    place = ["-s", space] if space else []
    done = subprocess.run(
        [sys.executable, "-P", "-m", "memcli", *arguments, *words, *place, "--root", str(server.folder)],
        env=server.environ, cwd=server.folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout) if words else done.stdout


def paths(server: Server, space: str) -> set[str]:
    return {memory["path"] for memory in command(server, "list", space=space)}


def test_many_writers_lose_nothing(server: Server) -> None:
    def write(number: int) -> list[str]:
        made = []
        for step in range(2):
            body = {"raw": f"Writer {number} wrote in step {step}.", "path": f"writers/{number}/{step}"}
            answer = server.ask("POST", "/apps/crowd/memories?keep_both=true", body)
            assert answer.status == 201, answer
            made.append(body["path"])
        return made

    with ThreadPoolExecutor(16) as pool:
        own = pool.submit(command, server, "remember", "By hand.", "--path", "by/hand", "--keep-both", space="crowd")
        acknowledged = {path for made in pool.map(write, range(16)) for path in made}
        own.result()
    assert paths(server, "crowd") == acknowledged | {"by/hand"}
    assert command(server, "check", "store")["damaged"] == 0
    assert server.get("/api/audit?verify=true&space=crowd").status == 200


def test_of_two_who_change_a_memory_one_is_told(server: Server) -> None:
    name = server.remember("raced", raw="The limit is 1.", path="limit")
    path = f"/apps/raced/memories/{name}"
    for round_ in range(2):
        tag = server.get(path).headers["etag"]

        def change(writer: int, tag: str = tag, round_: int = round_) -> Answer:
            body = {"tags": [f"round-{round_}", f"writer-{writer}"]}
            return server.ask("PATCH", path, body, If_Match=tag)

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(change, range(8)))
        assert sorted(answer.status for answer in answers) == [200] + [412] * 7
        winner = next(n for n, answer in enumerate(answers) if answer.status == 200)
        assert server.get(path).json["tags"] == [f"round-{round_}", f"writer-{winner}"]


def test_conditions(server: Server) -> None:
    name = server.remember("etags", raw="The limit is 2.", path="limit")
    path = f"/apps/etags/memories/{name}"
    first = server.get(path)
    tag = first.headers["etag"]
    assert tag.startswith('"')
    assert server.get(path).headers["etag"] == tag
    unchanged = server.get(path, If_None_Match=f'"x", W/{tag}')
    assert (unchanged.status, unchanged.body, unchanged.headers["etag"]) == (304, b"", tag)
    assert server.ask("PATCH", path, {"kind": "fact"}, If_Match='"other"').status == 412
    assert server.ask("PATCH", path, {"tags": ["a"]}, If_Match=f"W/{tag}").status == 412
    command(server, "pin", name, space="etags")
    assert server.ask("PATCH", path, {"tags": ["a"]}, If_Match=tag).status == 412
    assert server.ask("DELETE", path, If_Match=tag).status == 412
    assert server.ask("DELETE", f"{path}?purge=true", If_Match=tag).status == 412
    now = server.get(path, If_None_Match=tag)
    assert now.status == 200
    assert "digest" not in now.json
    assert server.ask("PATCH", path, {"tags": ["a"]}, If_Match=now.headers["etag"]).status == 200
    assert server.ask("PATCH", path, {"tags": ["b"]}, If_Match="*").status == 200
    assert server.ask("DELETE", path, If_Match=server.get(path).headers["etag"]).status == 200


def test_a_memory_of_the_derived_space_is_changed_if_it_is_as_read(server: Server) -> None:
    note = server.folder / "note.md"
    note.write_text("# Ports\n\nThe service listens on port 8080.\n")
    command(server, "ingest", "note.md")
    memory = server.get("/apps/repo/memories").json["memories"][0]
    path = f"/apps/repo/memories/{memory['id']}"
    tag = server.get(path).headers["etag"]
    assert server.ask("PATCH", path, {"tags": ["ports"]}, If_Match='"other"').status == 412
    done = server.ask("PATCH", path, {"tags": ["ports"]}, If_Match=tag)
    assert done.status == 200, done
    assert server.get(f"/apps/main/memories/{done.json['id']}").json["tags"] == ["ports"]


def test_writes_are_redacted_and_audited_by_the_name_of_the_token(server: Server) -> None:
    token = server.create("writer", name="deployer")
    made = server.ask("POST", "/apps/audited/memories", {"raw": f"The deploy uses {SECRET}."}, token)
    assert made.json["redactions"] == {"github_token": 1}
    path = f"/apps/audited/memories/{made.json['id']}"
    assert SECRET not in server.get(path).body.decode()
    unknown = server.ask("POST", "/api/feedback", {"refs": [f"ops/{SECRET}"], "helpful": True}, token)
    assert unknown.status == 404
    assert SECRET not in unknown.body.decode()
    server.ask("PATCH", path, {"tags": ["a"]}, token)
    server.ask("DELETE", path, None, token)
    acts = server.get("/api/audit?space=audited").json
    assert {act["user"] for act in acts} == {"serve:deployer"}
    assert [act["command"] for act in acts] == ["remember", "edit", "forget"]
    held = [f for f in (server.folder / ".memory").rglob("*") if f.is_file() and SECRET.encode() in f.read_bytes()]
    assert held == []


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("number", slow_but((signal.SIGTERM,), (signal.SIGTERM, signal.SIGINT)))
def test_it_stops_under_load_and_loses_nothing(start: Start, number: int) -> None:
    server = start("--workers", "1")
    acknowledged: list[str] = []
    begun = threading.Event()

    def write(writer: int) -> None:
        for step in range(1000):
            path = f"ends/{writer}/{step}"
            try:
                answer = server.ask(
                    "POST", "/apps/ends/memories?keep_both=true", {"raw": f"{writer} at {step}.", "path": path}
                )
            except OSError:
                return
            if answer.status != 201:
                assert answer.status == 503
                return
            acknowledged.append(path)
            begun.set()

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(10)]
    for thread in threads:
        thread.start()
    assert begun.wait(PATIENCE)
    workers = server.workers()
    assert server.stop(number) == 0
    for thread in threads:
        thread.join()
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
    assert set(acknowledged) <= paths(server, "ends")
    assert command(server, "check", "store")["damaged"] == 0
    assert "Traceback" not in server.log()


def test_two_servers_on_one_store(start: Start, run: Run) -> None:
    first, second = start("--workers", "1"), start("--workers", "1")
    with ThreadPoolExecutor(8) as pool:
        stored = pool.map(
            lambda n: (first, second)[n % 2].remember(raw=f"Number {n} holds.", path=f"both/{n}"), range(8)
        )
    assert {memory["id"] for memory in second.get("/apps/main/memories").json["memories"]} == set(stored)
    assert first.token == second.token
    done = run("serve", "--port", str(first.port), "--root", str(first.folder))
    assert done.code == 2
    assert done.err == f"memcli: port {first.port} is in use (choose another --port; 0 is any free one)\n"
    assert run("serve", "--root", str(first.folder / "nowhere")).code == 3
    shutil.rmtree(first.folder / ".memory")
    for method, path in (("GET", "/apps"), ("GET", "/api/recall?topic=x"), ("POST", "/apps/main/memories")):
        answer = first.ask(method, path, {"raw": "x"} if method == "POST" else None)
        assert (answer.status, answer.json["title"]) == (503, "the store is gone")
    page = first.get("/", Accept="text/html")
    assert (page.status, page.headers["content-type"].split(";")[0]) == (503, "text/html")
    assert b"he store is gone" in page.body
    assert first.get("/health", token=None).status == 200
    assert not (first.folder / ".memory").exists()
    assert first.stop() == 0
    assert len(first.lines) == 4
    assert "Traceback" not in first.log()


def test_http_answers_what_the_command_prints(server: Server) -> None:
    server.remember("same", raw="We use Kafka for events.", path="events/queue", kind="decision")
    served = server.get("/api/search?query=kafka&space=same").json
    printed = command(server, "recall", "kafka", space="same")
    for bundle in (served, printed):
        del bundle["generated_at"]  # the one thing in which two moments differ
    assert served == printed
