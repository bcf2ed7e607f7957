"""The server in this process, asked by the client of the SDK in both of its protocols."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from memcli import Memory
from memcli.errors import UsageError
from memcli.extras.mcp.methods import MOST_TOKENS, ResultPages
from memcli.extras.mcp.offer import INSTRUCTIONS
from memcli.model.tokens import count_tokens
from memcli.store.trust import switch
from tests.conftest import Golden
from tests.extras.mcp.conftest import answered, in_process, text

GOLDEN = Path(__file__).parent / "golden"
DEFAULT = ["recall", "remember", "get", "context", "feedback"]
MODES = ["auto", "legacy"]
pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("project")]


@pytest.mark.parametrize("tools", ["default", "all"])
async def test_the_list_of_tools_is_small_and_complete(tools: str, golden: Golden) -> None:
    async with in_process(tools=tools) as client:
        listed = (await client.list_tools()).tools
    found = [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in listed]
    assert len(INSTRUCTIONS.encode()) < 2_000
    size = len(json.dumps({"tools": found}, separators=(",", ":"), ensure_ascii=False).encode())
    names = [tool["name"] for tool in found]
    assert names[: len(DEFAULT)] == DEFAULT
    if tools == "default":
        assert names == DEFAULT
        assert size < 6_000
    assert len(names) <= 12
    for tool in found:
        assert len(tool["description"].encode()) < 400
        hints = tool["annotations"]
        assert hints.keys() == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
        assert hints["destructiveHint"] == (tool["name"] == "forget")
        assert hints["idempotentHint"] == (tool["name"] not in ("remember", "feedback"))
        assert not hints["openWorldHint"]
        assert hints["readOnlyHint"] == (tool["name"] not in ("remember", "forget", "tag", "link", "feedback"))
    assert [tool["name"] for tool in found if tool.get("_meta")] == ["recall"]
    golden(GOLDEN / f"{tools}.json", json.dumps(found, indent=2, ensure_ascii=False) + "\n")


@pytest.mark.parametrize("mode", MODES)
async def test_a_session(mode: str) -> None:
    async with in_process(mode, tools="all") as client:

        async def ask(tool: str, **arguments: Any) -> str:
            return text(await client.call_tool(tool, arguments))

        made = await ask("remember", text="We use uv, not pip.", kind="decision", path="tools/uv")
        assert made.startswith("created mem_")
        name = made.split()[1]
        found = await ask("recall", topic="do we use uv?", limit=3, kind=["decision"])
        assert (found.startswith("<memory-"), f"[{name}]" in found) == (True, True)
        refs = {"refs": ["tools/uv"]}
        assert "We use uv" in await ask("get", **refs)
        assert name in await ask("search", query="uv", under="tools")
        assert await ask("feedback", **refs, helpful=True, reason="it fits") == f"helpful {name} tools/uv"
        assert name in await ask("list")
        assert "review" in await ask("tag", **refs, add=["review"])
        assert await ask("verify") == "0 anchors"
        assert "forgotten" in await ask("forget", refs=[name])
        assert name not in await ask("list")


@pytest.mark.parametrize("content", [{"goal": "ship 1.0", "done": [1, 2]}, '{"goal": "ship 1.0", "done": [1, 2]}'])
async def test_a_json_value_is_stored_with_its_context(memory: Memory, content: Any) -> None:
    session = memory.session_start()["id"]
    memory.session_add(session, "We ship 1.0 once the goal is reached.")
    arguments = {"content": content, "path": "goals/ship", "context": 1000, "session": session}
    assert (await answered("remember", arguments)).startswith("created mem_")
    stored = memory.get("goals/ship")
    assert stored["content"] == {"goal": "ship 1.0", "done": [1, 2]}
    assert [one["source"] for one in stored["context"]] == [f"{session}#1"]


ERRORS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("get", {"refs": ["no/where"]}, "no memory 'no/where' in space 'main' (`memcli list` lists the memories)"),
    ("get", {}, "get needs refs"),
    ("feedback", {"refs": [2], "helpful": True}, "no answer of recall that a number could refer to"),
    ("recall", {}, "recall needs topic (The question"),
    ("recall", {"topic": "x", "fil": 1}, "recall has no parameter 'fil' (it has topic,"),
    ("recall", {"topic": "x", "from_diff": "/etc/passwd"}, "recall has no parameter 'from_diff'"),
    ("recall", {"topic": "x", "limit": "many"}, "limit must be a whole number, not str"),
    ("recall", {"topic": "x", "limit": "0"}, "--limit must be between 1 and 10000, not 0"),
    ("recall", {"topic": "x", "limit": 0}, "--limit must be between 1 and 10000, not 0"),
    ("recall", {"topic": "x", "cursor": "x"}, "no cursor 'x' (use the one at the end of a result, or none)"),
    ("recall", {"topic": "x", "cursor": "5-abc"}, "the result of this cursor is no longer kept"),
    ("forget", {"refs": ["x"], "cursor": "5-abc"}, "the result of this cursor is no longer kept"),
    ("remember", {"path": "a"}, "remember needs text or content"),
    ("remember", {"content": {"a": 1}, "context": 0}, "--context must be between 1 and 100000, not 0"),
    ("remember", {"content": {"a": 1}, "context": 9, "session": "ses_none"}, "no session 'ses_none'"),
    ("remember", {"text": "-"}, "there is no standard input to read"),
    ("remember", {"text": ["x"]}, "text must be text, not list"),
    ("remember", {"text": "x", "supersedes": "no/where"}, "no memory 'no/where'"),
    ("nonsense", {}, "no tool 'nonsense' (tools: recall, remember"),
)


async def test_an_error_is_a_result_with_a_hint(memory: Memory) -> None:
    """A bad ref does not hide the good ones."""
    memory.remember("We use uv, not pip.", path="tools/uv")
    async with in_process(tools="all") as client:
        for tool, arguments, message in ERRORS:
            done = await client.call_tool(tool, arguments)
            found = text(done)
            assert (tool, arguments, done.is_error, found[: len(message)]) == (tool, arguments, True, message)
            assert "\n" not in found
        for tool, more in (("get", {}), ("feedback", {"helpful": True}), ("tag", {"add": ["x"]}), ("forget", {})):
            done = await client.call_tool(tool, {"refs": ["no/where", "tools/uv"], **more})
            good, bad, _ = text(done).partition("no memory 'no/where' in space 'main'")
            assert (tool, done.is_error, "tools/uv" in good, bool(bad)) == (tool, False, True, True)


@pytest.mark.parametrize("mode", MODES)
async def test_without_a_store_a_read_says_how_to_make_one_and_makes_none(mode: str, project: Path) -> None:
    async with in_process(mode) as client:
        assert len((await client.list_tools()).tools) == len(DEFAULT)
        for tool, arguments in (
            ("recall", {"topic": "x"}), ("get", {"refs": ["x"]}), ("feedback", {"refs": ["x"], "helpful": True}),
            ("context", {"query": "x"}),
        ):  # fmt: skip
            done = await client.call_tool(tool, arguments)
            assert (tool, done.is_error, "memcli init" in text(done)) == (tool, True, True)
        for read in (client.read_resource("memcli://tree"), client.get_prompt("memory", {"topic": "x"})):
            with pytest.raises(MCPError, match="memcli init"):
                await read
    assert ".memory" not in os.listdir(project)


async def test_a_context_window_says_what_was_left_out(memory: Memory) -> None:
    for n in range(4):
        memory.remember(f"Rule {n}: jobs of the queue are retried {n} times.", path=f"queue/rule{n}")
    session = memory.session_start()["id"]
    for n in range(8):
        memory.session_add(session, f"Step {n}: we look at the queue.")
    query = {"query": "how often are jobs of the queue retried?", "session": session, "total": 500}
    told = await answered("context", query)
    assert told.startswith("<memory-")
    parts = ("Step 7: we look at the queue.", "of 500 tokens used", "Left out: ")
    assert [part for part in parts if part not in told] == []


@pytest.mark.parametrize("mode", MODES)
async def test_resources_and_the_prompt(memory: Memory, mode: str) -> None:
    name = memory.remember("We use uv, not pip.", path="tools/uv")["id"]
    memory.space_create("notes")
    async with in_process(mode) as client:
        listed = {resource.uri for resource in (await client.list_resources()).resources}
        assert listed == {"memcli://spaces", "memcli://tree"}
        templates = {one.uri_template for one in (await client.list_resource_templates()).resource_templates}
        assert templates == {"memcli://spaces/{name}", "memcli://tree/{path}", "memcli://memory/{id}"}
        for uri, part in (
            ("spaces", "notes"), ("tree", "uv"), ("tree/tools", "uv"), (f"memory/{name}", "We use uv"),
            ("memory/tools%2Fuv", "We use uv"), ("spaces/notes", "policy"),
        ):  # fmt: skip
            (content,) = (await client.read_resource(f"memcli://{uri}")).contents
            assert (uri, part in content.text) == (uri, True)
        for uri in ("nonsense", "memory/", "memory/nonsense"):
            with pytest.raises(MCPError):
                await client.read_resource(f"memcli://{uri}")
        (prompt,) = (await client.list_prompts()).prompts
        assert [argument.name for argument in prompt.arguments or ()] == ["topic"]
        (message,) = (await client.get_prompt("memory", {"topic": "do we use uv?"})).messages
        assert name in message.content.text
        with pytest.raises(MCPError):
            await client.get_prompt("nonsense", {})


async def test_what_agents_store_can_wait_for_review(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    for word, review, proposes, status in (
        ("uv", False, "", "created"), ("ruff", True, "", "proposed"), ("mypy", False, "1", "proposed"),
    ):  # fmt: skip
        memory.space_policy(set={"review": review})
        monkeypatch.setenv("MEMCLI_PROPOSE", proposes)
        assert (await answered("remember", {"text": f"We use {word}."})).startswith(status), word


@pytest.mark.parametrize("by", ["switch", "variable"])
async def test_while_memory_is_off_agents_neither_store_nor_read(
    memory: Memory, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("The database is PostgreSQL.")
    before = memory.list()
    if by == "switch":
        switch(".memory", on=False)
    else:
        monkeypatch.setenv("MEMCLI_OFF", "1")
    for name, arguments in (("recall", {"topic": "database"}), ("remember", {"text": "The cache is Redis."})):
        async with in_process() as client:
            done = await client.call_tool(name, arguments)
        assert (done.is_error, "memory is off" in text(done), "PostgreSQL" in text(done)) == (True, True, False)
    assert memory.list() == before


async def test_a_long_result_comes_in_pages(memory: Memory) -> None:
    memory.remember(file=" ".join(f"word{n}" for n in range(30_000)).encode(), path="long/text")
    pages: list[str] = []
    async with in_process() as client:
        while not pages or "call again with cursor" in pages[-1]:
            cursor = pages[-1].rsplit('"', 2)[1] if pages else None
            done = await client.call_tool("get", {"refs": ["long/text"], "cursor": cursor})
            assert not done.is_error
            pages.append(text(done))
    assert len(pages) > 3
    assert all(count_tokens(one) <= MOST_TOKENS for one in pages)
    whole = "".join(one.rsplit("\n[There is more", 1)[0] for one in pages)
    assert all(f"word{n}" in whole for n in range(0, 30_000, 997))


def _walked(pages: ResultPages, whole: str) -> list[str]:
    """All pages of a text, which is searched for once."""
    found, cursor, searches = [], None, 0

    def search() -> str:
        nonlocal searches
        searches += 1
        return whole

    while True:
        found.append(pages.read("key", cursor, search, 'call again with cursor "%s"'))
        if "\n[There is more" not in found[-1]:
            assert searches == 1
            return found
        cursor = found[-1].rsplit('"', 2)[1]


def test_pages_are_the_text_and_are_searched_for_once() -> None:
    lines = "\n".join(f"line {n} of a text with some words" for n in range(3_000))
    for whole in (lines, "x" * 200_000, "a\n" * 20_000, "\u6f22" * 20_000, ""):
        found = _walked(ResultPages(lambda: 0), whole)
        assert all(count_tokens(one) <= MOST_TOKENS for one in found)
        assert "".join(one.partition("\n[There is more")[0] for one in found) == whole


def test_a_page_is_kept_until_the_memory_changes() -> None:
    state = 0
    pages = ResultPages(lambda: state)

    def read(text: str, cursor: str | None = None, key: str = "key") -> str:
        return pages.read(key, cursor, lambda: text, '"%s"')

    cursors = [read(f"{n} text\n" * 20_000, key=f"key {n}").rsplit('"', 2)[1] for n in range(9)]
    assert read("", cursors[8], "key 8").startswith("8 text\n")
    with pytest.raises(UsageError, match="no longer kept"):  # the oldest made room
        read("", cursors[0], "key 0")
    with pytest.raises(UsageError, match="belongs to another call"):
        read("", cursors[8], "key 7")
    with pytest.raises(UsageError, match="belongs to another call"):
        read("", f"{10**9}-{cursors[8].partition('-')[2]}", "key 8")
    state = 1
    with pytest.raises(UsageError, match="no longer kept"):
        read("", cursors[8], "key 8")


async def test_the_project_is_that_of_the_first_root_or_of_the_environment(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mcp_types import ListRootsResult, Root

    other = tmp_path / "a b"
    other.mkdir()
    Memory(other).init()
    Memory(other).remember("The other project.", path="here/other")

    async def roots(_: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri="file:///nonsense"), Root(uri=(other).as_uri())])

    with monkeypatch.context() as patch:
        patch.setenv("CLAUDE_PROJECT_DIR", str(other))
        assert "here/other" in await answered("search", {}, tools="all")
    Memory(project).init()
    monkeypatch.chdir(project)
    assert "here/other" in await answered("search", {}, "legacy", "all", list_roots_callback=roots)
