"""A memory in the user's editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile

from memcli.codec.canonical import decode_object, encode
from memcli.codec.memory import memory_to_json
from memcli.errors import ProviderError, UsageError
from memcli.model.memory import Json, Memory

_FIXED = ("id", "created_at", "updated_at", "version")


def edit_fields(memory: Memory) -> dict[str, Json]:
    """The fields that the user changed in $VISUAL or $EDITOR; those taken out are null.

    Raises UsageError when there is no editor, nothing was changed or what came back is no JSON; ProviderError
    when the editor failed.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise UsageError("no --set, and no $EDITOR", "write --set field=value, or set EDITOR")
    before = {k: v for k, v in memory_to_json(memory).items() if k not in _FIXED}
    text = encode(before).decode() + "\n"
    with tempfile.TemporaryDirectory(prefix="memcli-") as folder:
        path = os.path.join(folder, f"{memory.id}.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        try:
            failed = subprocess.run([*shlex.split(editor), path], check=False).returncode != 0
        except (OSError, ValueError):
            failed = True
        if failed:
            raise ProviderError(f"the editor {editor!r} failed", "nothing was changed; set EDITOR to one that works")
        with open(path, encoding="utf-8") as file:
            edited = file.read()
    if edited == text:
        raise UsageError("nothing was changed in the editor")
    after = decode_object(edited, "the edited memory")
    whole = decode_object(text, "the memory")
    changed = {name: value for name, value in after.items() if name not in whole or whole[name] != value}
    return {**changed, **{name: None for name in whole if name not in after}}
