"""Nothing leaves the machine unless a provider is configured: one module could, and no other command tries."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import NOW, ROOT

NETWORK = frozenset(
    "socket ssl http urllib.request urllib3 requests httpx aiohttp ftplib smtplib poplib imaplib telnetlib xmlrpc "
    "socketserver websockets huggingface_hub httpx2 openai anthropic".split()
)
WEB = "memcli/extras/tui/web.py"
SERVER = {
    *(f"{WEB}: {name}" for name in ("aiohttp", "aiohttp.web", "socket")), "memcli/extras/serve/server.py: socket",
    "memcli/extras/helper/answering.py: socket",
    *(f"memcli/extras/serve/{module}.py: http{name}" for module in ("bodies", "gate", "problems") for name in ("", ".HTTPStatus")),
}  # fmt: skip
"""`browse --web` and `serve` listen on the loopback, the helper on a socket that is a file; of `http`, numbers of statuses alone are used."""
PROBE = """
import sys
attempts = []
def watch(event, arguments):
    if event.startswith("socket.") and event not in ("socket.__new__", "socket.gethostname"):
        attempts.append(event)
        raise OSError(event)
sys.addaudithook(watch)
from memcli.cli.main import main
if sys.argv[1:] == ["connect"]:
    import socket
    try:
        socket.create_connection(("127.0.0.1", 9))
    except OSError:
        pass
else:
    for line in sys.stdin.read().splitlines():
        assert main(line.split("|")) == 0, line
print(*attempts, file=sys.stderr)
"""
COMMANDS = """\
init
remember|We chose PostgreSQL because of JSONB.|--path|db/choice|--kind|decision|--embed
remember|I prefer PostgreSQL to MySQL.|--scope|global
ingest|notes.md
store|index|embed
recall|which database do we use?
check|code
check|secrets
doctor
export|--out|out.json
import|out.json
gc|--dry-run
check"""


def imported(tree: ast.AST) -> Iterator[str]:
    """The modules that the code imports, those within functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))


def speaks_to_the_network(name: str) -> bool:
    parts = name.split(".")
    return any(".".join(parts[:length]) in NETWORK for length in range(1, len(parts) + 1))


def attempts(folder: Path, *arguments: str) -> list[str]:
    """The calls to the network that the probe saw."""
    own = {"PYTHONPATH": str(ROOT), "MEMCLI_EMBEDDER": "onnx", "MEMCLI_FREEZE_CLOCK": NOW}
    environ = {**os.environ, **own, "MEMCLI_GLOBAL": str(folder / "global")}
    command = [sys.executable, "-P", "-c", PROBE, *arguments]
    done = subprocess.run(command, cwd=folder, env=environ, input=COMMANDS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()[-1].split()


def test_no_module_can_speak_to_the_network() -> None:
    files = sorted((ROOT / "memcli").rglob("*.py"))
    assert len(files) > 100
    found = {
        f"{file.relative_to(ROOT)}: {name}"
        for file in files
        for name in imported(ast.parse(file.read_text()))
        if speaks_to_the_network(name)
    }
    assert found == SERVER


def test_what_listens_connects_to_nothing_and_is_reached_from_this_machine_alone() -> None:
    from memcli.extras.tui import web

    text = (ROOT / WEB).read_text()
    assert "ClientSession" not in text
    assert ".connect(" not in text
    assert "create_connection" not in text
    with web.listen(0) as place:
        assert place.getsockname()[0] == "127.0.0.1"
    from memcli.extras.serve import server

    with server.listen(0) as place:
        assert place.getsockname()[0] == "127.0.0.1"


def imports_what_it_is_told(node: ast.AST) -> bool:
    """Whether it calls `import_module` with what is no module of memcli by the look of it."""
    if not isinstance(node, ast.Call) or not ast.unparse(node.func).endswith("import_module"):
        return False
    return not ast.unparse(node.args[0]).lstrip("f").startswith(("'memcli.", '"memcli.'))


def test_one_module_imports_the_sdks_of_providers() -> None:
    found = {
        str(file.relative_to(ROOT / "memcli"))
        for file in (ROOT / "memcli").rglob("*.py")
        if any(imports_what_it_is_told(node) for node in ast.walk(ast.parse(file.read_text())))
    }
    of_memcli = {"__init__.py"}
    assert found - of_memcli == {"numerics.py", "extras/providers/http.py"}


def test_an_import_of_the_network_is_seen() -> None:
    code = "import urllib.parse, http.client\ndef f():\n    from urllib import request\n    from socket import create_server\n"
    assert [name for name in imported(ast.parse(code)) if speaks_to_the_network(name)] == [
        "http.client", "urllib.request", "socket", "socket.create_server",
    ]  # fmt: skip


def test_no_command_tries_to_reach_the_network(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "notes.md").write_text("# Deploy\n\nRun make release, then wait for the canary.\n")
    assert attempts(tmp_path) == []
    assert (tmp_path / ".memory" / "cache").is_dir()


def test_an_attempt_to_reach_the_network_is_seen(tmp_path: Path) -> None:
    assert attempts(tmp_path, "connect") != []
