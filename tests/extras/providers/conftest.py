"""What the tests of providers share. Without the SDKs they are skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from memcli.extras.providers.model import ProviderModel
from memcli.model.conversation import Prompt, model_name
from memcli.model.memory import Json
from memcli.model.usage import TokenUsage
from tests.conftest import NOW
from tests.extras.providers.server import KEY, SCHEMA, Script, serving

for sdk in ("openai", "anthropic"):
    pytest.importorskip(sdk, reason="the extra `llm` is not installed")

VARIABLES = (
    "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS",
    "OPENAI_ADMIN_KEY", "OPENAI_LOG", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_LOG", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OLLAMA_HOST", "OLLAMA_API_KEY",
    "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy",
    "https_proxy", "all_proxy", "no_proxy",
)  # fmt: skip


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of an SDK or a proxy from outside."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Script]:
    with serving() as script:
        yield script


class FakeMeter:
    """Lets every call pass, and keeps what it is told: the most that a call costs, and what it has cost or None."""

    def __init__(self) -> None:
        self.calls: list[tuple[TokenUsage, TokenUsage | None]] = []

    def reserve(self, task: str, most: TokenUsage) -> Callable[[TokenUsage], None]:
        number = len(self.calls)
        self.calls.append((most, None))

        def settle(usage: TokenUsage) -> None:
            self.calls[number] = most, usage

        return settle


Environ = dict[str, str]
WIRES = ("openai:m", "anthropic:m")


def environ_for(url: str, key: str = KEY) -> Environ:
    """An environment in which every provider is the server at `url`."""
    return {
        "OPENAI_BASE_URL": f"{url}/v1", "ANTHROPIC_BASE_URL": url, "MEMCLI_GOOGLE_BASE_URL": f"{url}/v1",
        "MEMCLI_HUGGINGFACE_BASE_URL": f"{url}/v1", "MEMCLI_CUSTOM_BASE_URL": f"{url}/v1", "OLLAMA_HOST": url,
        "OPENAI_API_KEY": key, "ANTHROPIC_API_KEY": key, "GEMINI_API_KEY": key, "HF_TOKEN": key,
    }  # fmt: skip


@contextmanager
def playing(patch: pytest.MonkeyPatch, name: str = "openai:gpt-5-mini") -> Iterator[Script]:
    """A server that is every provider, with a model of it as the configured one."""
    with serving() as server:
        for variable, value in {**environ_for(server.url), "MEMCLI_SEMANTIC_MODEL": name}.items():
            patch.setenv(variable, value)
        yield server


class Asked:
    """A model on the server, and how it is asked."""

    def __init__(self, server: Script, name: str, **environ: str) -> None:
        self.meter, self.slept = FakeMeter(), list[float]()
        self.model = ProviderModel(
            model_name(name), environ_for(server.url) | environ, self.meter.reserve,
            lambda text: text.replace("hunter2", "[REDACTED]"), lambda: NOW, sleep=self.slept.append,
        )  # fmt: skip

    def ask(
        self,
        within: float = 60,
        read: Callable[[Json], Json] = lambda data: data,
        text: str = "Which kind?",
        **more: Any,
    ) -> Json:
        prompt = Prompt(task="kinds/1", system="Say a kind.", text=text, schema=SCHEMA, max_tokens=300, **more)
        return self.model.ask(prompt, read, within)
