"""A real HTTP server on the loopback that plays the APIs of OpenAI and Anthropic, and their faults, as a script says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

KEY = "-".join(["the", "key", "of", "these", "tests", str(7431 * 31)])
ANSWER = {"kind": "fact", "tags": ["db"]}
SCHEMA = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": ["fact", "log"]},
        "tags": {"type": "array", "items": {"type": "string", "minLength": 1}},
    },
    "required": ["kind", "tags"],
}
CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"


class Request:
    """What the server got."""

    def __init__(self, path: str, headers: dict[str, str], body: bytes) -> None:
        self.path, self.headers, self.raw = path, headers, body
        self.body: Any = json.loads(body or b"null")

    @property
    def text(self) -> str:
        """The last text of the user."""
        return str(self.body["messages"][-1]["content"])


class Script:
    """How the server answers: each request takes the next step, the last one again and again."""

    def __init__(self) -> None:
        self.steps: list[Callable[[Handler], None]] = [reply()]
        self.requests: list[Request] = []
        self.is_over = Event()
        self.url = ""

    def play(self, *steps: Callable[[Handler], None]) -> None:
        self.steps = list(steps)
        self.requests.clear()


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    script: Script

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        script = self.script
        script.requests.append(Request(self.path, {n.lower(): v for n, v in self.headers.items()}, body))
        step = script.steps.pop(0) if len(script.steps) > 1 else script.steps[0]
        try:
            step(self)
        except OSError:  # the client has gone
            self.close_connection = True

    do_GET = do_POST  # noqa: N815 - as the class wants it

    def log_message(self, *_: object) -> None:
        pass

    def send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)


Step = Callable[[Handler], None]


@contextmanager
def serving() -> Iterator[Script]:
    """A server that runs while the block does."""
    script = Script()

    class Bound(Handler):
        pass

    Bound.script = script
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bound)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield script
    finally:
        script.is_over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def reply(answer: object = ANSWER, ending: str = "", usage: object = (11, 7), refusal: str | None = None) -> Step:
    """An answer: JSON, or a text as it is."""
    text = answer if isinstance(answer, str) else json.dumps(answer)

    def step(handler: Handler) -> None:
        is_chat = handler.path.endswith("/chat/completions")
        handler.send(200, json.dumps((chat if is_chat else messages)(text, ending, usage, refusal)).encode())

    return step


def chat(text: str, ending: str, usage: Any, refusal: str | None) -> dict[str, Any]:
    told = {} if usage is None else {"usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1]}}
    message = {"role": "assistant", "content": None if refusal else text, "refusal": refusal}
    ending = {"cut": "length", "refused": "content_filter"}.get(ending, "stop")
    choice = {"index": 0, "message": message, "finish_reason": ending}
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], **told}


def messages(text: str, ending: str, usage: Any, refusal: str | None) -> dict[str, Any]:
    told = {} if usage is None else {"usage": {"input_tokens": usage[0], "output_tokens": usage[1]}}
    ending = {"cut": "max_tokens", "refused": "refusal"}.get("refused" if refusal else ending, "end_turn")
    content = [] if refusal else [{"type": "text", "text": text}]
    return {
        "id": "m1", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": ending,
        "stop_sequence": None, **told,
    }  # fmt: skip


def fail(status: int, message: str = "no", code: str = "", **headers: str) -> Step:
    """An error, told as both providers do."""
    error = {"type": code or "an_error", "code": code or None, "message": message}

    def step(handler: Handler) -> None:
        handler.send(status, json.dumps({"type": "error", "error": error}).encode(), **headers)

    return step


def raw(body: bytes, status: int = 200, **headers: str) -> Step:
    """A response of these bytes."""
    return lambda handler: handler.send(status, body, **headers)


def echo(status: int) -> Step:
    """An error that repeats the key, as a careless server may."""

    def step(handler: Handler) -> None:
        fail(status, f"the header was {handler.headers['authorization']}")(handler)

    return step


def begin(handler: Handler, size: int) -> None:
    """The head of a response of this size."""
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", str(size))
    handler.end_headers()


def cut(handler: Handler) -> None:
    """Half of a response."""
    begin(handler, 1000)
    handler.wfile.write(b'{"choices": [{"mess')
    handler.close_connection = True


def hang(handler: Handler) -> None:
    """No response, until the server ends."""
    handler.script.is_over.wait(60)
    handler.close_connection = True


def drip(handler: Handler) -> None:
    """A response a byte at a time, which never ends."""
    begin(handler, 100_000)
    while not handler.script.is_over.wait(0.05):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def huge(handler: Handler) -> None:
    """An answer of 10 MB."""
    reply("x" * 10_000_000)(handler)
