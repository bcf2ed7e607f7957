"""Conversations of ChatGPT and Claude.ai, and sessions of Cline: which messages were said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.extras.transcripts import writers
from tests.extras.transcripts.conftest import Found, read_bytes
from tests.extras.transcripts.writers import Turn

TALK = [Turn("user", "a"), Turn("assistant", "b"), Turn("user", "c")]


def read_one(folder: Path, chat: dict[str, Any]) -> Found:
    return read_bytes(folder, json.dumps([chat]).encode())


def chatgpt_with(**fields: Any) -> dict[str, Any]:
    """A conversation in which these fields of the answer are others."""
    chat = writers.chatgpt(TALK, "k")
    chat["mapping"]["k-1"]["message"].update(fields)
    return chat


LEFT_OUT: tuple[tuple[dict[str, Any], str], ...] = (
    ({"metadata": {"is_visually_hidden_from_conversation": True}}, "hidden"), ({"weight": 0.0}, "hidden"),
    ({"author": {"role": "system"}}, "system"), ({"author": {"role": "oracle"}}, "unknown role"),
    ({"content": {"content_type": "user_editable_context", "user_profile": "x"}}, "injected context"),
    ({"content": {"content_type": "reasoning_recap", "content": "Thought for 3s"}}, "thinking"),
    ({"channel": "analysis"}, "thinking"), ({"content": None}, ""),
)  # fmt: skip


def test_what_chatgpt_does_not_show_is_no_message(tmp_path: Path) -> None:
    for fields, reason in LEFT_OUT:
        found = read_one(tmp_path, chatgpt_with(**fields))
        assert (fields, found.texts, not reason or found.skipped[reason] >= 1) == (fields, ["a", "c"], True)
    for content, expected in CONTENTS:
        assert (content, read_one(tmp_path, chatgpt_with(content=content)).texts[1]) == (content, expected)


CONTENTS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"content_type": "text", "parts": ["x", "", "y"]}, "x\n\ny"),
    ({"content_type": "multimodal_text", "parts": [{"content_type": "audio_transcription", "text": "hi"}, {"content_type": "audio_asset_pointer"}]}, "hi"),
    ({"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}, "look"]}, "look"),
    ({"content_type": "code", "language": "python", "text": "x = 1"}, "```python\nx = 1\n```"),
    ({"content_type": "text", "parts": ["So \ue200cite\ue202turn0search0\ue201it is."]}, "So it is."),
)  # fmt: skip


def test_a_broken_tree_is_read_by_time(tmp_path: Path) -> None:
    for node, parent in (("k-1", "gone"), ("hidden", "k-2")):
        chat = writers.chatgpt(TALK, "k")
        chat["mapping"][node]["parent"] = parent
        del chat["mapping"]["k-1-x"]
        chat["mapping"] = dict(sorted(chat["mapping"].items(), reverse=True))
        found = read_one(tmp_path, chat)
        assert (found.texts, found.skipped["broken order"]) == (["a", "b", "c"], 1)
    chat = writers.chatgpt(TALK, "k")
    del chat["current_node"]
    assert read_one(tmp_path, chat).texts == ["a", "b", "c"], "the latest leaf"


def test_wrong_times_are_dropped_and_the_order_kept(tmp_path: Path) -> None:
    for time in (None, "soon", -1e300, 1e300, 0, True, float(10**18), [], "0001-01-01T00:00:00+14:00"):
        chat = chatgpt_with(create_time=time)
        chat["create_time"] = time
        found = read_one(tmp_path, chat)
        assert (found.texts, found.messages[0][1].at, found.transcripts[0].started_at) == (["a", "b", "c"], "", "")
    assert read_one(tmp_path, chatgpt_with(create_time=1_767_312_000_500)).messages[0][1].at == "2026-01-02T00:00:00Z"


def claude_ai(*messages: dict[str, Any]) -> dict[str, Any]:
    numbered = ({"uuid": f"m{number}", "sender": "human", "text": "", **one} for number, one in enumerate(messages))
    return {"uuid": "k", "name": "Chat", "created_at": "2026-01-02T00:00:00Z", "chat_messages": list(numbered)}


def test_what_is_read_of_claude_ai(tmp_path: Path) -> None:
    """The text stands in for missing blocks, an attachment is cut, and of answers made again the last is read."""
    new = [{"type": "text", "text": "new"}]
    chat = claude_ai({"text": "a"}, {"text": "b", "content": [None]}, {"text": "old", "content": new})
    assert read_one(tmp_path, chat).texts == ["a", "b", "new"]
    attachments = [{"file_name": "log.txt", "extracted_content": "line\n" * 1_000}, {"file_name": "x.bin"}]
    found = read_one(tmp_path, claude_ai({"text": "Why?", "attachments": attachments, "files": [{}]}))
    (text,) = found.texts
    assert (text.startswith("Why?\n\n[attached log.txt: line line"), len(text) < 250) == (True, True)
    assert found.skipped["attachment"] == 2
    parents = zip("abcd", ("00000000-0000-4000-8000-000000000000", "m0", "m0", "m2"), strict=True)
    found = read_one(tmp_path, claude_ai(*({"text": text, "parent_message_uuid": parent} for text, parent in parents)))
    assert (found.texts, found.skipped["other branch"]) == (["a", "c", "d"], 1)


def test_a_conversation_without_an_id_has_one_of_its_content(tmp_path: Path) -> None:
    for chat in (writers.chatgpt(TALK), writers.claude_ai(TALK)):
        keys = {read_one(tmp_path, {**chat, "conversation_id": "", "uuid": ""}).transcripts[0].key for _ in range(2)}
        assert len(keys) == 1
        assert all(keys)


PROMPTS = {
    '<user_input mode="act">Why?</user_input>': ["Why?"], "Why?": ["Why?"], "<user_input>a <b></user_input>": ["a <b>"],
    '<user_input mode="act">Why?</user_input>\n<hook_context source="UserPromptSubmit">x</hook_context>': ["Why?"],
    '<hook_context source="PreToolUse" tool_name="editor">\nRecalled notes': [],
}  # fmt: skip
RESULTS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"content": '{"query":"a","result":"said \\"success\\":false","success":true}'}, ""),
    ({"content": '{"result":"","success":false}'}, ' (failed): {"result":"","success":false}'),
    ({"content": [{"type": "text", "text": "boom"}], "is_error": True}, " (failed): boom"),
)


def read_messages(folder: Path, *messages: Any) -> Found:
    return read_bytes(folder, json.dumps({"agent": "lead", "sessionId": "l", "messages": messages}, indent=1).encode())


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"id": "m", "role": "user", "content": [{"type": "text", "text": text}], **more}


def test_what_is_read_of_a_session(tmp_path: Path) -> None:
    assert {text: read_messages(tmp_path, user(text)).texts for text in PROMPTS} == PROMPTS
    call = {"type": "tool_use", "id": "c", "name": "run_commands", "input": {"commands": ["make"]}}
    for result, failure in RESULTS:
        outcome = {"type": "tool_result", "tool_use_id": "c", **result}
        messages = ({"role": "assistant", "content": [call]}, {"role": "user", "content": [outcome]})
        assert read_messages(tmp_path, *messages).said == [("tool", f"ran: make{failure}")]
    odd = ({"role": "system", "content": "x"}, {"role": 3, "content": "x"}, None, "x")
    found = read_messages(tmp_path, user("a", metadata={"displayRole": "system"}), *odd, user("b"))
    assert found.said == [("user", "b")]
    assert (found.skipped["injected context"], found.skipped["system"], found.skipped["unknown role"]) == (1, 1, 3)
