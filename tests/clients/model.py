"""A model on this machine that coding agents can talk to: it does what a plan says, and keeps what reached it.

It speaks four protocols: messages of Anthropic, responses and chat completions of OpenAI, generateContent of Gemini.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

Json = Mapping[str, Any]
_USAGE = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
_ROUTER = {
    "model_choice": "pro", "next_speaker": "user", "reasoning": "x", "complexity_score": 50, "complexity_reasoning": "x",
}  # fmt: skip


@dataclass(frozen=True)
class Step:
    """What the model answers: a text, or else a call of a tool with arguments, or with one text as it is (`patch`)."""

    text: str = ""
    tool: str = ""
    arguments: Json = field(default_factory=dict)
    patch: str = ""
    namespace: str = ""


class Model:
    """A server on loopback that answers the request with N results of tools since the last prompt by step N of its plan."""

    def __init__(self) -> None:
        self.plan: Sequence[Step] = (Step("Done."),)
        self.requests: list[str] = []
        """The texts of each request that offered tools, in the order in which they came."""
        self._ids = count(1)
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                """Prints nothing."""

            def do_GET(self) -> None:
                ids = ("gpt-5", "gpt-5.5", "claude-sonnet-4-5", "mock")
                listed = [{"id": name, "object": "model", "owned_by": "mock"} for name in ids]
                self._send(json.dumps({"object": "list", "data": listed, "models": []}).encode(), "application/json")

            do_HEAD = do_GET  # noqa: N815 - the name that the server calls

            def do_POST(self) -> None:
                try:
                    body = json.loads(self._body())
                except ValueError:
                    body = {}
                data, kind = model._answer(self.path.split("?")[0], body if isinstance(body, dict) else {})
                self._send(data, kind)

            def _body(self) -> bytes:
                data = b""
                if "chunked" in self.headers.get("Transfer-Encoding", ""):
                    while size := int(self.rfile.readline().split(b";")[0], 16):
                        data += self.rfile.read(size)
                        self.rfile.readline()
                    self.rfile.readline()
                else:
                    data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                return gzip.decompress(data) if self.headers.get("Content-Encoding") == "gzip" else data

            def _send(self, data: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Ends the server."""
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, path: str, body: dict[str, Any]) -> tuple[bytes, str]:
        protocols = (
            ("/messages", _turns_of_messages, self._messages),
            ("/responses", _turns_of_responses, self._responses),
            ("/chat/completions", _turns_of_chat, self._chat),
            ("enerateContent", _turns_of_gemini, self._gemini),
        )
        for ending, turns, render in protocols:
            if path.endswith(ending):
                step = Step("A short title")
                if body.get("tools"):
                    self.requests.append("\n".join(_strings(body)))
                    found = list(turns(body))
                    last = max((n for n, is_result in enumerate(found) if not is_result), default=-1)
                    step = self.plan[min(sum(found[last + 1 :]), len(self.plan) - 1)]
                events, is_named = render(step, body)
                if body.get("stream") or "stream" in path:
                    lines = [
                        (f"event: {e['type']}\n" if is_named else "") + f"data: {json.dumps(e)}\n\n" for e in events
                    ]
                    end = "data: [DONE]\n\n" if ending == "/chat/completions" else ""
                    return ("".join(lines) + end).encode(), "text/event-stream"
                return json.dumps(events[-1].get("response", events[-1])).encode(), "application/json"
        return json.dumps({"input_tokens": 100, "totalTokens": 100}).encode(), "application/json"

    def _id(self, kind: str) -> str:
        return f"{kind}_{next(self._ids):06d}"

    def _messages(self, step: Step, body: Json) -> tuple[list[dict[str, Any]], bool]:
        base = {
            "id": self._id("msg"),
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "usage": _USAGE,
        }
        if step.text:
            block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": step.text}
            whole, reason = {"type": "text", "text": step.text}, "end_turn"
        else:
            block = {"type": "tool_use", "id": self._id("toolu"), "name": step.tool, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(step.arguments)}
            whole, reason = {**block, "input": step.arguments}, "tool_use"
        stop = {"stop_reason": reason, "stop_sequence": None}
        if not body.get("stream"):
            return [{**base, "content": [whole], **stop}], True
        return [
            {"type": "message_start", "message": {**base, "content": [], "stop_reason": None, "stop_sequence": None}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": stop, "usage": _USAGE},
            {"type": "message_stop"},
        ], True

    def _responses(self, step: Step, body: Json) -> tuple[list[dict[str, Any]], bool]:
        item: dict[str, Any]
        if step.text:
            part = {"type": "output_text", "text": step.text, "annotations": []}
            item = {"type": "message", "id": self._id("msg"), "role": "assistant", "content": [part]}
        elif step.patch:
            item = {"type": "custom_tool_call", "id": self._id("ctc"), "name": step.tool, "input": step.patch}
        else:
            arguments = json.dumps(step.arguments)
            item = {"type": "function_call", "id": self._id("fc"), "name": step.tool, "arguments": arguments}
        if not step.text:
            item["call_id"] = self._id("call")
        if step.namespace:
            item["namespace"] = step.namespace
        item["status"] = "completed"
        response = {"id": self._id("resp"), "object": "response", "created_at": 0, "model": body.get("model")}
        done = {**response, "status": "completed", "output": [item], "usage": _USAGE}
        events = [
            {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
            *({"type": f"response.output_item.{end}", "output_index": 0, "item": item} for end in ("added", "done")),
            {"type": "response.completed", "response": done},
        ]
        return [{**event, "sequence_number": n} for n, event in enumerate(events)], True

    def _chat(self, step: Step, body: Json) -> tuple[list[dict[str, Any]], bool]:
        message: dict[str, Any] = {"role": "assistant", "content": step.text or None}
        if not step.text:
            function = {"name": step.tool, "arguments": json.dumps(step.arguments)}
            message["tool_calls"] = [{"index": 0, "id": self._id("call"), "type": "function", "function": function}]
        end = "stop" if step.text else "tool_calls"
        base = {"id": self._id("chat"), "created": 0, "model": body.get("model")}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": end}
            return [{**base, "object": "chat.completion", "choices": [choice]}], False
        parts = [{"index": 0, "delta": message, "finish_reason": None}, {"index": 0, "delta": {}, "finish_reason": end}]
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        return [{**base, "object": "chat.completion.chunk", "choices": [part], "usage": usage} for part in parts], False

    def _gemini(self, step: Step, body: Json) -> tuple[list[dict[str, Any]], bool]:
        part: dict[str, Any] = {"text": step.text}
        if not step.text:
            part = {"functionCall": {"name": step.tool, "args": step.arguments}}
        if (body.get("generationConfig") or {}).get("responseMimeType") == "application/json":
            part = {"text": json.dumps(_ROUTER)}  # the program asks itself which model to take, and who speaks next
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}
        return [{"candidates": [candidate], "usageMetadata": usage, "modelVersion": "mock"}], False


def _turns_of_messages(body: Json) -> Iterator[bool]:
    """For each turn of the user and each result of a tool whether it is the latter; so for the other protocols."""
    for message in body.get("messages", []):
        if message.get("role") == "user":
            content = message.get("content")
            parts = content if isinstance(content, list) else []
            results = [part for part in parts if part.get("type") == "tool_result"]
            yield from [True] * len(results) or [False]


def _turns_of_responses(body: Json) -> Iterator[bool]:
    for item in body.get("input", []):
        if str(item.get("type", "")).endswith("_output"):
            yield True
        elif item.get("role") == "user":
            yield False


def _turns_of_chat(body: Json) -> Iterator[bool]:
    for message in body.get("messages", []):
        if message.get("role") in ("tool", "user"):
            yield message["role"] == "tool"


def _turns_of_gemini(body: Json) -> Iterator[bool]:
    for content in body.get("contents", []):
        results = [part for part in content.get("parts", []) if "functionResponse" in part]
        if results or content.get("role") == "user":
            yield from [True] * len(results) or [False]


def _strings(value: object) -> Iterator[str]:
    """All texts of a request but the descriptions of its tools."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in ("tools", "encrypted_content"):
                yield from _strings(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _strings(inner)
