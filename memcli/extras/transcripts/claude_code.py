"""Sessions of Claude Code: a file is a tree of lines, each with one block of a message; its main line is read."""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from memcli.extras.transcripts import reasons
from memcli.extras.transcripts.content import OpenCalls, is_command, split, without_reminders
from memcli.extras.transcripts.files import object_on, open_file, read_lines, stem_of
from memcli.extras.transcripts.transcript import RawMessage, Transcript, number_of, parsed
from memcli.extras.transcripts.values import MAX_BYTES, dict_of, list_of, moment, text_of

if TYPE_CHECKING:
    import numpy

    Numbers = numpy.ndarray[Any, Any]


BETWEEN, MESSAGE, RESULTS, QUIET_RESULTS, SIDE = range(5)
"""The kinds of nodes: no message, a message, results of tools, results without an error, and part of a side chain."""


class Nodes:
    """The nodes of a tree in the order of the file, as columns of numbers: hashes of ids, offsets in the file, kinds."""

    # Numbers alone, as the lines of a large file would take too much memory.

    def __init__(self) -> None:
        self.ids = array("Q")
        self.parents = array("Q")
        self.groups = array("Q")
        self.offsets = array("Q")
        self.kinds = array("B")

    def add(self, offset: int, kind: int, key: str, parent: str, group: str) -> None:
        """Appends a node; the nodes of one group are one message."""
        self.ids.append(number_of(key))
        self.parents.append(number_of(parent) if parent else 0)
        self.groups.append(number_of(group) if group else 0)
        self.offsets.append(offset)
        self.kinds.append(kind)

    def main_line(self, skipped: Counter[str]) -> Iterator[tuple[int, ...]]:
        """The offsets of the lines of each message on the main line, in order; messages on other branches are counted."""
        if not self.ids:
            return
        import numpy as np

        tree = _Tree(self, skipped)
        rank, kinds = tree.ranks(skipped), tree.kinds
        has_text = (kinds == MESSAGE) | (kinds == RESULTS)
        skipped[reasons.BRANCH] += int(((rank < 0) & tree.is_main & has_text).sum())
        skipped[reasons.SIDE] += int((kinds == SIDE).sum())
        chosen = np.flatnonzero((rank >= 0) & has_text)
        offsets: list[int] = []
        group = 0
        for node in array("q", chosen[np.lexsort((chosen, rank[chosen]))].astype(np.int64).tobytes()):
            if offsets and not (group and self.groups[node] == group):
                yield tuple(offsets)
                offsets = []
            group = self.groups[node]
            offsets.append(self.offsets[node])
        if offsets:
            yield tuple(offsets)


class _Tree:
    """The nodes as arrays. A node whose id another one has before it in the file is no part of the tree."""

    def __init__(self, nodes: Nodes, skipped: Counter[str]) -> None:
        import numpy as np

        ids = np.frombuffer(nodes.ids, np.uint64)
        parents = np.frombuffer(nodes.parents, np.uint64)
        self.groups = np.frombuffer(nodes.groups, np.uint64)
        self.kinds = np.frombuffer(nodes.kinds, np.uint8)
        self.size = len(ids)
        unique, first = np.unique(ids, return_index=True)
        skipped[reasons.DUPLICATE] += self.size - len(unique)
        is_first = np.zeros(self.size, bool)
        is_first[first] = True
        self.is_main = is_first & (self.kinds != SIDE)
        place = np.minimum(np.searchsorted(unique, parents), len(unique) - 1)
        is_known = (unique[place] == parents) & (parents != 0)
        self.is_message = self.is_main & (self.kinds != BETWEEN)
        # For each node the message before it in the file, or -1.
        latest = np.maximum.accumulate(np.where(self.is_message, np.arange(self.size), -1))
        self.before = np.concatenate([[-1], latest[:-1]])
        # Where the line of the parent is lost, the message before it in the file takes its place.
        self.parent = np.where(is_known, first[place], np.where(parents == 0, -1, self.before))

    def ranks(self, skipped: Counter[str]) -> Numbers:
        """The place of each node on the main line, or -1."""
        import numpy as np

        chain = self._chain(self._last_leaf(), skipped)
        rank = np.full(self.size, -1, np.int64)
        rank[chain] = np.arange(len(chain))
        # All nodes of a group take the first place of one of them.
        groups, first = np.unique(self.groups[chain], return_index=True)
        if len(groups):
            place = np.minimum(np.searchsorted(groups, self.groups), len(groups) - 1)
            is_joined = (groups[place] == self.groups) & (self.groups != 0) & self.is_main
            rank[is_joined] = first[place[is_joined]]
        # Of calls made at once, only one result is an ancestor of what follows.
        is_result = (self.kinds == RESULTS) & self.is_main & (rank < 0) & (self.parent >= 0)
        rank[is_result] = rank[self.parent[is_result]]
        return rank

    def _last_leaf(self) -> int:
        """The last message in the file that no other one follows in the tree."""
        import numpy as np

        if not self.is_message.any():
            return -1
        # From each node to the next message above it, by steps that double: a chain of all nodes takes log2(size) steps.
        above = np.append(np.where(self.is_message, np.arange(self.size), self.parent), -1)
        for _ in range(self.size.bit_length()):
            above = above[above]
        is_followed = np.zeros(self.size + 1, bool)
        is_followed[above[self.parent[self.is_message]]] = True
        leaves = np.flatnonzero(self.is_message & ~is_followed[:-1])
        return int((leaves if len(leaves) else np.flatnonzero(self.is_message))[-1])

    def _chain(self, leaf: int, skipped: Counter[str]) -> Numbers:
        """The nodes from the root to the leaf. A cycle is left at its end for the message before it in the file."""
        import numpy as np

        parent = array("q", self.parent.astype(np.int64).tobytes())
        chain = array("q")
        is_seen = bytearray(self.size)
        node = leaf
        while node >= 0:
            is_seen[node] = True
            chain.append(node)
            above = parent[node]
            if above >= 0 and is_seen[above]:
                skipped[reasons.CYCLE] += 1
                above = int(self.before[node])
                if above >= 0 and is_seen[above]:
                    break
            node = above
        return np.frombuffer(chain, np.int64)[::-1] if chain else np.empty(0, np.int64)


SOURCE = "claude-code"
_TITLES = {"custom-title": "customTitle", "agent-name": "agentName", "ai-title": "aiTitle", "summary": "summary"}
"""The types of lines with a title, each with its field, the best first."""
_LOST = "lost"
"""The parent of a line whose real parent is not in the file."""


def read_claude_code(path: str) -> Transcript:
    """The session in a file. A first pass stores the tree, a second one reads its messages. Raises what `open_file` raises."""
    nodes, before, titles = Nodes(), Counter[str](), dict[str, str]()
    session = started_at = cwd = ""
    for offset, line in read_lines(path, before):
        line_type = text_of(line.get("type"))
        if title := text_of(line.get(_TITLES.get(line_type, ""))):
            titles[line_type] = title
        key = text_of(line.get("uuid"))
        if not key:
            before[reasons.META] += 1
            continue
        kind, reason = _kind(line)
        if reason:
            before[reason] += 1
        if kind != SIDE:
            session = text_of(line.get("sessionId")) or session
            cwd = cwd or text_of(line.get("cwd"))
            started_at = started_at or moment(line.get("timestamp"))
        # Each block of an answer is a line of its own, with the same id of the message.
        group = text_of(dict_of(line.get("message")).get("id")) if line_type == "assistant" else ""
        parent = text_of(line.get("parentUuid")) or text_of(line.get("logicalParentUuid"))
        # The first line after a compaction may have no parent, though it continues the conversation.
        is_compaction = line.get("subtype") == "compact_boundary" or line.get("isCompactSummary") is True
        nodes.add(offset, kind, key, parent or (_LOST if is_compaction else ""), group)
    with suppress(OSError):  # most sessions have no folder of subagents
        names = os.listdir(os.path.join(os.path.splitext(path)[0], "subagents"))
        before[reasons.SUBAGENT] += sum(name.startswith("agent-") and name.endswith(".jsonl") for name in names)

    def read(skipped: Counter[str]) -> Iterator[RawMessage]:
        skipped.update(before)
        return _read(path, nodes, skipped)

    title = next((titles[name] for name in _TITLES if titles.get(name)), "")
    return parsed(SOURCE, session or stem_of(path), read, title=title, started_at=started_at, cwd=cwd)


def _kind(line: Mapping[str, Any]) -> tuple[int, str]:
    """The kind of a line as a node, and the reason why it gives no message; "" if it may give one."""
    kind = line.get("type")
    if line.get("isSidechain") is True:
        return SIDE, ""
    if kind == "attachment":
        return (MESSAGE, "") if _queued(line) is not None else (BETWEEN, reasons.INJECTED)
    if kind not in ("user", "assistant"):
        return BETWEEN, reasons.META
    content = dict_of(line.get("message")).get("content")
    results = [block for block in list_of(content) if dict_of(block).get("type") == "tool_result"]
    if kind == "assistant" or not results:
        return MESSAGE, ""
    # A result without an error adds nothing: its call has a message of its own.
    if len(results) < len(list_of(content)) or any(block.get("is_error") is True for block in results):
        return RESULTS, ""
    return QUIET_RESULTS, ""


def _queued(line: Mapping[str, Any]) -> Any:
    """The prompt in an attachment, which the user wrote while the model was at work; None for other attachments."""
    attachment = dict_of(line.get("attachment"))
    if attachment.get("type") != "queued_command" or attachment.get("commandMode", "prompt") != "prompt":
        return None
    return attachment.get("prompt") if _is_human(attachment) and attachment.get("isMeta") is not True else None


def _is_human(values: Mapping[str, Any]) -> bool:
    """Whether a person wrote a line or an attachment; True in older versions, which do not record that."""
    return dict_of(values.get("origin")).get("kind", "human") == "human" and values.get("promptSource") != "system"


def _read(path: str, nodes: Nodes, skipped: Counter[str]) -> Iterator[RawMessage]:
    """The messages on the main line, each read from the offsets of its lines."""
    calls = OpenCalls(skipped)
    with open_file(path) as file:
        for offsets in nodes.main_line(skipped):
            lines = []
            for offset in offsets:
                file.seek(offset)
                line = object_on(file.readline(MAX_BYTES + 1), skipped, is_first=offset == 0)
                if line is not None:
                    lines.append(line)
            if lines:
                is_answer = lines[0].get("type") == "assistant"
                yield from (_answer if is_answer else _prompt)(lines, calls, skipped)
    yield from calls.flush()


def _answer(lines: list[dict[str, Any]], calls: OpenCalls, skipped: Counter[str]) -> Iterator[RawMessage]:
    """The message and the calls of the model in the lines of one group."""
    first = lines[0]
    # What the program itself says in the name of the model, such as an error of the network.
    if first.get("isApiErrorMessage") is True or dict_of(first.get("message")).get("model") == "<synthetic>":
        skipped[reasons.COMMAND] += len(lines)
        return
    contents = [split(dict_of(line.get("message")).get("content"), skipped) for line in lines]
    # Some versions write a block again when the next one arrives.
    texts = list(dict.fromkeys(content.text for content in contents if content.text))
    if texts:
        yield from calls.flush()
        yield RawMessage("assistant", "\n\n".join(texts), first.get("timestamp"), key=text_of(first.get("uuid")))
    for line, content in zip(lines, contents, strict=True):
        for key, what in content.calls:
            yield from calls.begin(key, what, line.get("timestamp"))


def _prompt(lines: list[dict[str, Any]], calls: OpenCalls, skipped: Counter[str]) -> Iterator[RawMessage]:
    """The prompt or the results of tools in a line of the user."""
    (line,) = lines
    queued = _queued(line) if line.get("type") == "attachment" else None
    content = split(dict_of(line.get("message")).get("content") if queued is None else queued, skipped)
    for call, output, failed in content.results:
        calls.finish(call, output, failed=failed)
    if line.get("isCompactSummary") is True:
        skipped[reasons.COMPACTION] += 1
    elif line.get("isMeta") is True or not _is_human(line):
        skipped[reasons.INJECTED] += 1
    elif is_command(content.text):
        skipped[reasons.COMMAND] += 1
    elif text := without_reminders(content.text).strip():
        yield from calls.flush()
        yield RawMessage("user", text, line.get("timestamp"), key=text_of(line.get("uuid")))
    elif content.text:
        skipped[reasons.INJECTED] += 1
