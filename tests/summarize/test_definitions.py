"""What source code is told as."""

from __future__ import annotations

from memcli.summarize import SUMMARIZERS

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
        found = SUMMARIZERS["local"]({"raw": text, "metadata": {"source": source}})
        assert found["kind"] == "code"
        assert found["summary_micro"] == micro


def test_a_note_about_code_is_prose() -> None:
    text = "`Money.split` gives the remainder to the first parts, so that no cent is lost."
    found = SUMMARIZERS["local"]({"raw": text, "kind": "code", "metadata": {"source": "src/money.py"}})
    assert found["summary_micro"] == text
