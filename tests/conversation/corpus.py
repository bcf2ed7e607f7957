"""Labelled conversations: `# title`, then messages `u:`, `a:` and `t:` (user, assistant, tool), then `= kind first-last`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from memcli.model.conversation import Message

_ROLES = {"u": "user", "a": "assistant", "t": "tool"}
_SAID = re.compile(r"([uat])(?: \((\w+)\))?: (.*)")


class Labelled(NamedTuple):
    title: str
    messages: list[Message]
    episodes: list[tuple[str, int, int]]


def read(name: str) -> list[Labelled]:
    """The conversations of one file of this folder."""
    text = (Path(__file__).parent / name).read_text("utf-8").strip()
    return [_conversation(part.split("\n")) for part in re.split(r"\n\n(?=# )", text)]


def _conversation(lines: list[str]) -> Labelled:
    said: list[tuple[str, str, str]] = []
    episodes = []
    for line in lines[1:]:
        if match := _SAID.match(line):
            said.append((_ROLES[match[1]], match[2] or "", match[3]))
        elif line.startswith("= "):
            kind, _, turns = line[2:].partition(" ")
            first, _, last = turns.partition("-")
            episodes.append((kind, int(first), int(last or first)))
        else:
            role, who, text = said.pop()
            said.append((role, who, f"{text}\n{line}"))
    messages = [Message(n, role, text, speaker=who) for n, (role, who, text) in enumerate(said, 1)]
    return Labelled(lines[0].removeprefix("# "), messages, episodes)


def talk(*texts: str) -> list[Message]:
    """What a user and an assistant say in turn."""
    return [Message(n, "user" if n % 2 else "assistant", text) for n, text in enumerate(texts, 1)]
