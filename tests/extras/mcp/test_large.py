"""Every tool, resource and prompt on a store of 1,500 memories: no result exceeds the cap, and pages lead through all of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random  # noqa: TID251 - drawn from a seed
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from memcli import Memory
from memcli.extras.mcp.methods import MOST_TOKENS
from memcli.model.tokens import count_tokens
from tests.extras.mcp.conftest import in_process, text

MANY = 1_500
WORDS = "auth cache queue token deploy index table retry limit worker shard schema".split()
pytestmark = pytest.mark.anyio
Ask = Callable[[str | None], Awaitable[str]]


def filled(project: Path) -> str:
    """Fills the store of the project; the id of a session with a long conversation."""
    dice = Random(1)
    memory = Memory(project)
    memory.init()
    memory.remember(
        batch="".join(
            f'{{"raw": "Rule {n}: the {WORDS[n % 12]} of module {n // 50} has {n} {" ".join(dice.choices(WORDS, k=9))}.", '
            f'"path": "module{n // 50}/{WORDS[n % 12]}/rule{n}", "kind": "fact", "tags": ["t{n % 7}"]}}\n'
            for n in range(MANY)
        ).encode(),
        no_check=True,
    )
    for n in range(120):
        memory.space_create(f"space{n}")
    session = str(memory.session_start()["id"])
    memory.session_add(session, "word " * 20_000)
    return session


async def pages_of(ask: Ask) -> list[str]:
    """All pages of a result. Each is at most as long as one may be."""
    found: list[str] = []
    cursor = None
    while True:
        found.append(await ask(cursor))
        assert count_tokens(found[-1]) <= MOST_TOKENS
        if "[There is more: " not in found[-1]:
            return found
        cursor = found[-1].rsplit('"', 2)[1].removeprefix("?cursor=")


@pytest.mark.slow
async def test_no_result_exceeds_the_cap(project: Path) -> None:
    session = filled(project)
    stored = Memory(project).list()
    refs = [memory["id"] for memory in stored]
    calls: dict[str, dict[str, Any]] = {
        "recall": {"topic": "retry limit of the worker queue", "limit": MANY},
        "remember": {"text": "One more rule. " * 4_000},
        "get": {"refs": refs},
        "context": {"query": "retry limit of the worker queue", "session": session, "total": 1_000_000},
        "feedback": {"refs": refs, "helpful": True},
        "search": {"limit": MANY},
        "list": {},
        "session": {"id": session},
        "forget": {"refs": ["module1", "module2", *(f"module{n}" for n in range(3, 30))], "recursive": True},
        "link": {"start": refs[-1], "end": refs[-2]},
        "tag": {"refs": refs[MANY // 2 :], "add": ["seen"]},
        "verify": {},
    }
    uris = [
        "memcli://spaces", "memcli://tree", "memcli://spaces/main", "memcli://tree/module1",
        f"memcli://memory/{refs[0]}",
    ]  # fmt: skip
    long = calls.keys() - {"recall", "remember", "link", "verify"}  # a recall has at most 60 candidates by words
    async with in_process(tools="all") as client:
        listed = await client.list_tools()
        assert {tool.name for tool in listed.tools} == calls.keys()
        templates = (await client.list_resource_templates()).resource_templates
        assert len(uris) == len((await client.list_resources()).resources) + len(templates)
        for name, arguments in calls.items():
            found = await pages_of(_tool(client, name, arguments))
            assert (len(found) > 1) == (name in long), name
        for uri in uris:
            found = await pages_of(_resource(client, uri))
            if uri == "memcli://tree":
                assert sum(page.count("rule") for page in found) >= MANY - 59 * 50
        (message,) = (await client.get_prompt("memory", {"topic": "retry limit"})).messages
        assert 100 < count_tokens(message.content.text) <= MOST_TOKENS
        for wrong in ("x" * 100_000, "mem_" + "x" * 100_000, "\u6f22" * 50_000):
            for name, arguments in (("get", {"refs": [wrong]}), (wrong, {}), ("recall", {wrong: 1})):
                done = await client.call_tool(name, arguments)
                assert done.is_error
                assert count_tokens(text(done)) <= MOST_TOKENS
            with pytest.raises(MCPError) as raised:
                await client.read_resource(f"memcli://memory/{wrong}")
            assert count_tokens(str(raised.value)) <= MOST_TOKENS


def _tool(client: Client, name: str, arguments: dict[str, Any]) -> Ask:
    async def ask(cursor: str | None) -> str:
        done = await client.call_tool(name, arguments | ({"cursor": cursor} if cursor else {}))
        assert not done.is_error, (name, text(done)[:300])
        return text(done)

    return ask


def _resource(client: Client, uri: str) -> Ask:
    async def ask(cursor: str | None) -> str:
        (content,) = (await client.read_resource(f"{uri}?cursor={cursor}" if cursor else uri)).contents
        return str(content.text)

    return ask
