#!/usr/bin/env bash
# An export of ChatGPT: imported as the zip file that it is, once, and searched.
set -euo pipefail
# In a repository of its own: in the folder given, which is made, or in a temporary one.
work="${1:-$(mktemp -d)/repository}" && mkdir -p "$work" && cd "$work" && git init -q -b main
export MEMCLI_FREEZE_CLOCK=2026-05-05T09:00:00Z

memcli init --quiet
cat > conversations.json <<'JSON'
[
  {
    "title": "Slow test suite", "create_time": 1772438400.0, "conversation_id": "c-1", "current_node": "d",
    "mapping": {
      "root": {"id": "root", "parent": null, "children": ["a"], "message": null},
      "a": {"id": "a", "parent": "root", "children": ["b", "x"], "message": {"id": "a", "create_time": 1772438400.0,
        "author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Our test suite takes 20 minutes. What can we do?"]}}},
      "x": {"id": "x", "parent": "a", "children": [], "message": {"id": "x", "create_time": 1772438410.0,
        "author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["An answer that was generated again."]}}},
      "b": {"id": "b", "parent": "a", "children": ["c"], "message": {"id": "b", "create_time": 1772438420.0,
        "author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["Run it in parallel: each worker needs a database of its own."]}}},
      "c": {"id": "c", "parent": "b", "children": ["d"], "message": {"id": "c", "create_time": 1772438430.0,
        "author": {"role": "user"}, "content": {"content_type": "text", "parts": ["We decided to give each worker a schema of its own, because a database takes too long to create."]}}},
      "d": {"id": "d", "parent": "c", "children": [], "message": {"id": "d", "create_time": 1772438440.0,
        "author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["That works too: the suite takes 4 minutes with 8 schemas."]}}}
    }
  },
  {
    "title": "A name for the cat", "create_time": 1772524800.0, "conversation_id": "c-2", "current_node": "b",
    "mapping": {
      "a": {"id": "a", "parent": null, "children": ["b"], "message": {"id": "a", "create_time": 1772524800.0,
        "author": {"role": "user"}, "content": {"content_type": "text", "parts": ["What would you call a grey cat?"]}}},
      "b": {"id": "b", "parent": "a", "children": [], "message": {"id": "b", "create_time": 1772524810.0,
        "author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["Ash, Pebble or Misty."]}}}
    }
  }
]
JSON
printf '<html>The same, to be read in a browser.</html>' > chat.html
python3 -m zipfile -c export.zip conversations.json chat.html
rm conversations.json chat.html

echo "--- what would be learned, storing nothing"
memcli session facts --from export.zip
echo "--- imported; a second time there is nothing new"
memcli session import export.zip
memcli session import export.zip
memcli session list
echo "--- one of them"
session="$(memcli session list --json | jq -r '.[] | select(.title == "Slow test suite").id')"
memcli session show "$session"
echo "--- what was said can be searched"
memcli recall "why does each worker have a schema?" --scope session --limit 1
echo "--- ended, it becomes a memory"
memcli session end "$session" --quiet
memcli inbox
memcli recall "how do we make the test suite faster?" --limit 1
