"""What a diff and source code are told as."""

from __future__ import annotations

from memcli.summarize import SUMMARIZERS, patches

COMMIT = """commit 9f2c1abd
Author: Bo <bo@example.com>
Date:   Mon Mar 2 10:00:00 2026 +0100

    Make token refresh atomic

    Two workers could refresh at once.

diff --git a/src/auth/tokens.py b/src/auth/tokens.py
index 111..222 100644
--- a/src/auth/tokens.py
+++ b/src/auth/tokens.py
@@ -10,3 +10,4 @@ class Token:
     ttl = 60
-    def refresh(self):
+    def refresh(self, lock):
+        lock.acquire()
@@ -40 +41,2 @@ static int parse(char *text)
-- a list item that was removed
+new
diff --git a/tests/test_tokens.py b/tests/test_tokens.py
new file mode 100644
--- /dev/null
+++ b/tests/test_tokens.py
@@ -0,0 +1 @@
+def test_refresh(): ...
"""


def described(text: str, **fields: object) -> dict[str, object]:
    return SUMMARIZERS["local"]({"raw": text, **fields})


def test_a_commit_is_told_by_its_message_and_files() -> None:
    found = described(COMMIT)
    assert found["kind"] == "diff"
    assert found["path"] == "diffs/make-token-refresh-atomic"
    assert found["summary_micro"] == (
        "Make token refresh atomic. Changes 2 files (+4 -2): src/auth/tokens.py and tests/test_tokens.py."
    )
    assert found["summary_short"] == (
        "Make token refresh atomic.\n"
        "- Changes src/auth/tokens.py (+3 -2) in Token, refresh and parse\n"
        "- Adds tests/test_tokens.py (+1 -0) in test_refresh"
    )


def test_a_bare_diff_is_told_by_its_file() -> None:
    found = described(
        "--- a/src/x.go\n+++ b/src/x.go\n@@ -1 +1,2 @@ func (s *Server) Start() error {\n-\ta()\n+\tb()\n+\tc()\n"
    )
    assert found["summary_micro"] == "Changes src/x.go (+2 -1) in Start."
    assert found["path"] == "diffs/src/x"


def test_a_diff_that_git_did_not_make_is_read_file_by_file() -> None:
    text = "".join(
        f"diff -u x/{n} y/{n}\n--- {n}\t2026\n+++ {n}\t2026\n@@ -1 +1 @@\n-a\n+b\n" for n in ("one.c", "two.c")
    )
    assert [(f.path, f.added, f.removed) for f in patches.read_patch(text)[1]] == [("one.c", 1, 1), ("two.c", 1, 1)]


def test_the_source_names_the_file_of_a_fragment() -> None:
    found = described("@@ -1 +1 @@\n-a\n+b\n", metadata={"source": "src/a.py"})
    assert found["summary_micro"] == "Changes src/a.py (+1 -1)."
    assert found["path"] == "diffs/src/a"


def test_renames_deletions_and_binaries() -> None:
    renamed = "diff --git a/old.py b/new.py\nsimilarity index 100%\nrename from old.py\nrename to new.py\n"
    assert described(renamed)["summary_micro"] == "Renames old.py to new.py."
    deleted = "diff --git a/x.py b/x.py\ndeleted file mode 100644\n--- a/x.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    assert described(deleted)["summary_micro"] == "Deletes x.py (+0 -1)."
    binary = "diff --git a/i.png b/i.png\nindex 1..2 100644\nBinary files a/i.png and b/i.png differ\n"
    assert described(binary)["summary_micro"] == "Changes i.png."


def test_a_mailed_patch_is_told_by_its_subject() -> None:
    text = (
        "From 9f2c Mon Sep 17 00:00:00 2001\nFrom: Bo <bo@example.com>\nSubject: [PATCH 1/2] Drop the legacy parser\n\n"
        "---\n"
        " a.py | 2 --\n\ndiff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +0,0 @@\n-x\n-y\n-- \n2.39\n"
    )
    assert described(text)["summary_micro"] == "Drop the legacy parser. Changes a.py (+0 -2)."


def test_many_files_are_summed_up() -> None:
    text = "".join(f"diff --git a/f{n}.py b/f{n}.py\n@@ -1 +1 @@\n-a\n+b\n" for n in range(60))
    found = described(text)
    assert found["summary_micro"] == "Changes 60 files (+60 -60): f0.py, f1.py, f2.py and 57 more."
    assert len(str(found["summary_long"])) <= 1200


PYTHON = '''"""Tokens: issue, refresh, revoke.

A token lives for an hour.
"""
import time
from dataclasses import dataclass

@dataclass
class TokenStore:
    """Keeps tokens in Redis."""

    def refresh(self, token: str) -> str:
        return self._issue(token)

    def _issue(self, token):
        ...

async def revoke(token: str) -> None:
    pass
'''
GO = """// Copyright 2026 ACME. All rights reserved.

package api

// Server serves the API.
type Server struct {
\taddr string
}

func (s *Server) Listen() error {
\treturn nil
}
"""
SHELL = """#!/usr/bin/env bash
# Rebuilds the search index from the latest backup.
set -euo pipefail
rebuild $@
restore $1
"""
TYPESCRIPT = "export class Cache {\n  private map = new Map();\n}\n\nexport const hash = (x: string) => x;\n"
SQL = (
    "CREATE TABLE users (\n  id uuid PRIMARY KEY,\n  email text NOT NULL\n);\nCREATE INDEX by_email ON users (email);\n"
)


def test_code_is_told_by_its_docstring_and_names() -> None:
    cases = [
        (PYTHON, "", "Tokens: issue, refresh, revoke. Defines class TokenStore, refresh() and revoke()."),
        (
            GO,
            "internal/api/server.go",
            "internal/api/server.go: Server serves the API. Defines type Server and Listen().",
        ),
        (SHELL, "bin/rebuild.sh", "bin/rebuild.sh: Rebuilds the search index from the latest backup."),
        (TYPESCRIPT, "", "Defines class Cache and hash()."),
        (SQL, "", "Defines table users and index by_email."),
    ]
    for text, source, micro in cases:
        found = described(text, metadata={"source": source})
        assert found["kind"] == "code"
        assert found["summary_micro"] == micro


def test_a_note_about_code_is_prose() -> None:
    text = "`Money.split` gives the remainder to the first parts, so that no cent is lost."
    found = described(text, kind="code", metadata={"source": "src/money.py"})
    assert found["summary_micro"] == text
