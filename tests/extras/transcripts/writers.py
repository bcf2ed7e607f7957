"""Files of conversations with known content, as each program writes them, with the noise that comes with it.

A turn is what was said; a writer gives the bytes of a file in which it was said. Nothing here was said by anybody.
"""

from __future__ import annotations

import io
import json
import sqlite3
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple

DAY = "2026-01-02"
FOLDER = "/home/ann/shop"


class Turn(NamedTuple):
    """What was said by `user` or `assistant`, or the command that a `tool` ran and how it failed, if it did."""

    role: str
    text: str
    failure: str = ""

    @property
    def expected(self) -> tuple[str, str]:
        """The role and text of the message that is to be read."""
        if self.role != "tool":
            return self.role, self.text
        return "tool", f"ran: {self.text}" + (f" (failed): {self.failure}" if self.failure else "")


def at(number: int) -> str:
    """The time of the turn with a number."""
    return f"{DAY}T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}.250Z"


def line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def plain(turns: Iterable[Turn]) -> Iterator[bytes]:
    """Messages with role and content; calls as chat completions have them."""
    for number, turn in enumerate(turns):
        if turn.role != "tool":
            yield line({"role": turn.role, "content": turn.text, "timestamp": at(number)})
            continue
        call = {"id": f"c{number}", "function": {"name": "bash", "arguments": json.dumps({"command": turn.text})}}
        yield line({"role": "assistant", "content": None, "tool_calls": [call]})
        failed, content = bool(turn.failure), turn.failure or "fine"
        yield line({"role": "tool", "tool_call_id": f"c{number}", "is_error": failed, "content": content})


def plain_noise(number: int) -> Iterator[bytes]:
    yield line({"role": "system", "content": f"Be brief {number}."})
    yield line({"event": "heartbeat", "number": number})
    yield line({"role": "oracle", "content": "unknown"})


def claude_code(turns: Iterable[Turn], session: str = "s1") -> Iterator[bytes]:
    """Lines of Claude Code: each answer in two lines under one id, calls below the answer before them."""
    before: str | None = None

    def told(role: str, key: str, content: Any) -> bytes:
        group = f"msg{number}" if role == "assistant" else ""
        return _claude_line(role, key, before, content, number, session, group)

    for number, turn in enumerate(turns):
        key = f"u{number}"
        if turn.role == "user":
            yield told("user", key, turn.text)
            before = key
        elif turn.role == "assistant":
            blocks = ({"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": turn.text})
            for part, block in enumerate(blocks):
                yield told("assistant", f"{key}-{part}", [block])
                before = f"{key}-{part}"
        else:
            call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": turn.text}}
            yield told("assistant", key, [call])
            before, failed, content = key, bool(turn.failure), turn.failure or "fine " * 50
            output = {"type": "tool_result", "tool_use_id": f"t{number}", "content": content, "is_error": failed}
            yield told("user", f"{key}-r", [output])
            before = f"{key}-r"


def _claude_line(
    role: str, key: str, parent: str | None, content: Any, number: int, session: str, group: str = "", **more: Any
) -> bytes:
    message = {"role": role, "content": content, **({"id": group, "model": "m", "usage": {}} if group else {})}
    envelope = {"sessionId": session, "cwd": FOLDER, "version": "2.1.240", "gitBranch": "main", "isSidechain": False}
    own = {"type": role, "message": message, "uuid": key, "timestamp": at(number)}
    return line({"parentUuid": parent, **envelope, **own, **more})


def claude_noise(number: int) -> Iterator[bytes]:
    hook = {"type": "hook_additional_context", "content": ["Recalled notes."], "hookEvent": "UserPromptSubmit"}
    key = f"n{number}"
    yield line({"type": "file-history-snapshot", "messageId": key, "snapshot": {}})
    yield line({"type": "queue-operation", "operation": "enqueue", "sessionId": "s1"})
    yield line({"type": "attachment", "uuid": f"{key}-h", "parentUuid": None, "sessionId": "s1", "attachment": hook})
    yield _claude_line("user", f"{key}-s", None, "Look for it.", number, "s1", isSidechain=True)
    found = [{"type": "text", "text": "Found."}]
    yield _claude_line("assistant", f"{key}-t", f"{key}-s", found, number, "s1", isSidechain=True)


def codex(turns: Iterable[Turn]) -> Iterator[bytes]:
    """A rollout of Codex: every message as an item and as an event."""
    yield _codex_line(0, "session_meta", {"id": "r1", "timestamp": at(0), "cwd": FOLDER, "cli_version": "0.150.0"})
    for number, turn in enumerate(turns):
        if turn.role == "tool":
            arguments = json.dumps({"command": ["bash", "-lc", turn.text]})
            output = json.dumps({"output": turn.failure or "fine", "metadata": {"exit_code": int(bool(turn.failure))}})
            call = {"type": "function_call", "name": "shell", "arguments": arguments, "call_id": f"k{number}"}
            yield _codex_item(number, call)
            yield _codex_item(number, {"type": "function_call_output", "call_id": f"k{number}", "output": output})
        else:
            kind, event = ("input_text", "user_message") if turn.role == "user" else ("output_text", "agent_message")
            content = [{"type": kind, "text": turn.text}]
            yield _codex_item(number, {"type": "message", "role": turn.role, "content": content})
            yield _codex_line(number, "event_msg", {"type": event, "message": turn.text})


def codex_flat(turns: Iterable[Turn]) -> Iterator[bytes]:
    """A rollout of the first versions, whose items stand alone."""
    yield line({"id": "r0", "timestamp": at(0), "instructions": None})
    for data in codex(turns):
        value = json.loads(data)
        if value["type"] == "response_item":
            yield line(value["payload"])


def codex_events(turns: Iterable[Turn]) -> Iterator[bytes]:
    """A rollout without items."""
    for data in codex(turn for turn in turns if turn.role != "tool"):
        if json.loads(data)["type"] != "response_item":
            yield data


def codex_noise(number: int) -> Iterator[bytes]:
    context = f"<environment_context>\n  <cwd>{FOLDER}</cwd>\n</environment_context>"
    instructions = "# AGENTS.md instructions for /home\n\n<INSTRUCTIONS>x</INSTRUCTIONS>"
    for role, text in (("user", context), ("user", instructions), ("developer", "Be safe.")):
        yield _codex_item(number, {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]})
    yield _codex_item(number, {"type": "reasoning", "summary": [], "encrypted_content": "x"})
    yield _codex_line(number, "event_msg", {"type": "token_count", "info": None})
    yield _codex_line(number, "turn_context", {"cwd": FOLDER, "model": "m"})
    yield _codex_line(number, "compacted", {"message": "So far: things."})


def _codex_item(number: int, payload: Mapping[str, Any]) -> bytes:
    return _codex_line(number, "response_item", payload)


def _codex_line(number: int, kind: str, payload: Mapping[str, Any]) -> bytes:
    return line({"timestamp": at(number), "type": kind, "payload": payload})


def gemini(turns: Iterable[Turn]) -> Iterator[bytes]:
    """A session of Gemini CLI: every call is written again with its outcome, every prompt with what a hook added."""
    yield line({"sessionId": "g-1", "projectHash": "0a", "startTime": at(0), "lastUpdated": at(0), "kind": "main"})
    for number, turn in enumerate(turns):
        key = f"u{number}"
        if turn.role == "user":
            added = {"text": "<hook_context>&lt;memory-1&gt;\nRecalled notes.\n&lt;/memory-1&gt;</hook_context>"}
            yield _gemini_line(number, key, "user", [{"text": turn.text}, added])
        elif turn.role == "assistant":
            yield _gemini_line(number, key, "gemini", turn.text, thoughts=[{"subject": "Hm."}], model="m")
        else:
            call = {
                "id": f"c-{key}",
                "name": "run_shell_command",
                "args": {"command": turn.text},
                "status": "executing",
            }
            yield _gemini_line(number, key, "gemini", "", toolCalls=[call])
            response = {"error": turn.failure} if turn.failure else {"output": "fine"}
            result = [{"functionResponse": {"response": response}}]
            ended = {"status": "error" if turn.failure else "success", "result": result}
            yield _gemini_line(number, key, "gemini", "", toolCalls=[{**call, **ended}])
        yield line({"$set": {"lastUpdated": at(number)}})


def gemini_noise(number: int) -> Iterator[bytes]:
    key = f"n{number}"
    yield _gemini_line(number, f"{key}-i", "info", "Compressed.")
    context = [{"text": "<session_context>\nToday is Friday.\n</session_context>"}]
    yield _gemini_line(number, f"{key}-s", "user", context)
    yield _gemini_line(number, f"{key}-t", "gemini", [{"text": "Hm.", "thought": True}])
    summary = {"id": f"{key}-x", "timestamp": at(number), "type": "user", "content": [{"text": "So far: things."}]}
    yield line({"$set": {"messages": [summary]}})
    yield line({"$rewindTo": f"{key}-none"})


def _gemini_line(number: int, key: str, kind: str, content: Any, **more: Any) -> bytes:
    return line({"id": key, "timestamp": at(number), "type": kind, "content": content, **more})


def copilot(turns: Iterable[Turn]) -> Iterator[bytes]:
    """The events of a session of Copilot CLI."""
    start = {"sessionId": "p-1", "startTime": at(0), "context": {"cwd": FOLDER, "gitRoot": FOLDER}}
    yield _copilot_line(0, "start", "session.start", start)
    for number, turn in enumerate(turns):
        key = f"u{number}"
        if turn.role == "user":
            sent = f"<current_datetime>x</current_datetime>\n\n{turn.text}"
            yield _copilot_line(number, key, "user.message", {"content": turn.text, "transformedContent": sent})
        elif turn.role == "assistant":
            yield _copilot_line(number, key, "assistant.message", {"content": turn.text, "toolRequests": []})
        else:
            call = {"toolCallId": f"c{key}", "name": "bash", "arguments": {"command": turn.text}, "type": "function"}
            yield _copilot_line(number, key, "assistant.message", {"content": "", "toolRequests": [call]})
            started = {"toolCallId": f"c{key}", "toolName": "bash"}
            yield _copilot_line(number, f"{key}-s", "tool.execution_start", started)
            outcome = {"error": {"message": turn.failure}} if turn.failure else {"result": {"content": "fine"}}
            ended = {"toolCallId": f"c{key}", "success": not turn.failure, **outcome}
            yield _copilot_line(number, f"{key}-e", "tool.execution_complete", ended)


def copilot_noise(number: int) -> Iterator[bytes]:
    key = f"n{number}"
    recalled = {"hookType": "sessionStart", "success": True, "output": {"additionalContext": "Recalled notes."}}
    yield _copilot_line(number, f"{key}-h", "hook.end", recalled)
    yield _copilot_line(number, f"{key}-s", "system.message", {"role": "system", "content": "You are a terminal."})
    yield _copilot_line(number, f"{key}-k", "user.message", {"content": "How to read a PDF.", "source": "skill-pdf"})
    inner = {"content": "Found it.", "toolRequests": [], "parentToolCallId": "c9"}
    yield _copilot_line(number, f"{key}-a", "assistant.message", inner)
    yield _copilot_line(number, f"{key}-t", "assistant.turn_end", {"turnId": "0"})


def _copilot_line(number: int, key: str, kind: str, data: Mapping[str, Any]) -> bytes:
    return line({"type": kind, "data": data, "id": key, "timestamp": at(number), "parentId": None})


def cline(turns: Sequence[Turn], key: str = "l1") -> dict[str, Any]:
    """A session of Cline, with what a hook added to it."""
    messages: list[dict[str, Any]] = []

    def add(number: int, role: str, block: Mapping[str, Any], **more: Any) -> None:
        own = {"id": f"{key}-{len(messages)}", "role": role, "content": [block], "ts": _milliseconds(number)}
        messages.append({**own, **more})

    for number, turn in enumerate(turns):
        if turn.role == "user":
            add(number, "user", {"type": "text", "text": f'<user_input mode="act">{turn.text}</user_input>'})
            context = f'<hook_context source="PreToolUse">\nRecalled notes {number}.\n</hook_context>'
            add(number, "user", {"type": "text", "text": context}, metadata={"displayRole": "system"})
        elif turn.role == "assistant":
            add(number, "assistant", {"type": "text", "text": turn.text}, modelInfo={"id": "m"})
        else:
            call = {"type": "tool_use", "id": f"{key}-t{number}", "name": "bash", "input": {"command": turn.text}}
            add(number, "assistant", call)
            answer = {"content": turn.failure or "fine", "is_error": bool(turn.failure)}
            add(number, "user", {"type": "tool_result", "tool_use_id": f"{key}-t{number}", "name": "bash", **answer})
    return {"version": 1, "agent": "lead", "sessionId": key, "messages": messages, "system_prompt": "You are an agent."}


OPENCODE = """
CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text NOT NULL, revert text,
  time_created integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, time_created integer NOT NULL, data text NOT NULL);
"""


def opencode(path: str, talks: Mapping[str, Iterable[Turn]], folder: str = FOLDER, **more: str) -> None:
    """Adds sessions to a database of opencode: each turn is a message with a step, what was said or run, and its end."""
    with closing(sqlite3.connect(path)) as database, database:
        if not database.execute("SELECT 1 FROM sqlite_master").fetchone():
            database.executescript(OPENCODE)
        for session, turns in talks.items():
            about = {"id": session, "directory": folder, "title": f"Chat {session}", "time_created": _milliseconds(0)}
            row = {**about, **more}
            places = ", ".join("?" * len(row))
            database.execute(f"INSERT INTO session ({', '.join(row)}) VALUES ({places})", [*row.values()])
            for number, turn in enumerate(turns):
                _opencode_turn(database, session, number, turn)


def _opencode_turn(database: sqlite3.Connection, session: str, number: int, turn: Turn) -> None:
    time, message = _milliseconds(number), f"msg_{session}_{number:06d}"
    data: dict[str, Any] = {"type": "text", "text": turn.text}
    if turn.role == "tool":
        failed = {"status": "error", "error": turn.failure}
        outcome = failed if turn.failure else {"status": "completed", "output": "fine"}
        data = {"type": "tool", "tool": "bash", "callID": "c", "state": {"input": {"command": turn.text}, **outcome}}
    elif turn.role == "user":
        data["text"] += '\n\n<memory-1a2b3c4d space="main">\nRecalled notes.\n</memory-1a2b3c4d>'
    role = {"role": "user" if turn.role == "user" else "assistant"}
    database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (message, session, time, json.dumps(role)))
    for place, part in enumerate(({"type": "step-start"}, data, {"type": "step-finish"})):
        key = f"prt_{session}_{number:06d}{place}"
        database.execute("INSERT INTO part VALUES (?, ?, ?, ?)", (key, message, time, json.dumps(part)))


def _milliseconds(number: int) -> int:
    return 1_767_312_000_000 + number * 1_000


def chatgpt(turns: Sequence[Turn], key: str = "g1") -> dict[str, Any]:
    """A conversation of a ChatGPT export, with a hidden message and an answer that was made again."""
    nodes: dict[str, dict[str, Any]] = {"root": {"id": "root", "parent": None, "children": [], "message": None}}

    def text(*parts: str) -> dict[str, Any]:
        return {"content_type": "text", "parts": parts}

    last = _node(nodes, "hidden", "root", "system", text(""), 0)
    for number, turn in enumerate(turns):
        name = f"{key}-{number}"
        if turn.role == "tool":
            code = {"content_type": "code", "language": "unknown", "text": turn.text}
            last = _node(nodes, name, last, "assistant", code, number, recipient="container.exec")
            kind = "system_error" if turn.failure else "execution_output"
            output = {"content_type": kind, "text": turn.failure or "fine"}
            last = _node(nodes, f"{name}-r", last, "tool", output, number, name="container.exec")
            continue
        if turn.role == "assistant":
            _node(nodes, f"{name}-x", last, "assistant", text("Left out."), number)
            thoughts = {"content_type": "thoughts", "thoughts": []}
            last = _node(nodes, f"{name}-t", last, "assistant", thoughts, number)
        last = _node(nodes, name, last, turn.role, text(turn.text), number)
    about = {"title": f"Chat {key}", "create_time": 1_767_312_000.5, "conversation_id": key}
    return {**about, "mapping": nodes, "current_node": last}


def _node(
    nodes: dict[str, Any], key: str, parent: str, role: str, content: Any, number: int, recipient: str = "all",
    name: str | None = None,
) -> str:  # fmt: skip
    message = {
        "id": key, "author": {"role": role, "name": name, "metadata": {}}, "create_time": 1_767_312_000.0 + number,
        "content": content, "status": "finished_successfully", "weight": 1.0, "metadata": {}, "recipient": recipient,
        "channel": None,
    }  # fmt: skip
    nodes[parent]["children"].append(key)
    nodes[key] = {"id": key, "parent": parent, "children": [], "message": message}
    return key


def claude_ai(turns: Sequence[Turn], key: str = "a1") -> dict[str, Any]:
    """A conversation of a Claude.ai export."""
    messages = []
    for number, turn in enumerate(turns):
        content: list[Any] = [None, {"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": turn.text}]
        if turn.role == "tool":
            name, output = f"{key}-t{number}", [{"type": "text", "text": turn.failure or "fine"}]
            content = [
                {"type": "tool_use", "id": name, "name": "bash", "input": {"command": turn.text}},
                {"type": "tool_result", "tool_use_id": name, "content": output, "is_error": bool(turn.failure)},
            ]
        sender = "human" if turn.role == "user" else "assistant"
        own = {"uuid": f"{key}-{number}", "text": "", "content": content, "sender": sender, "created_at": at(number)}
        messages.append({**own, "attachments": [], "files": []})
    about = {"uuid": key, "name": f"Chat {key}", "created_at": at(0), "updated_at": at(0), "account": {}}
    return {**about, "chat_messages": messages}


def archive(files: Mapping[str, Any]) -> bytes:
    """A zip of JSON files."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as made:
        for name, value in files.items():
            made.writestr(name, json.dumps(value))
    return data.getvalue()


LINES: Mapping[str, tuple[Callable[[Iterable[Turn]], Iterator[bytes]], Callable[[int], Iterator[bytes]]]] = {
    "jsonl": (plain, plain_noise), "claude-code": (claude_code, claude_noise), "codex": (codex, codex_noise),
    "gemini": (gemini, gemini_noise), "copilot": (copilot, copilot_noise),
}  # fmt: skip
"""A writer and what writes noise, by format."""
EXPORTS: Mapping[str, Callable[[Sequence[Turn], str], dict[str, Any]]] = {
    "chatgpt": chatgpt, "claude-ai": claude_ai, "cline": cline,
}  # fmt: skip
