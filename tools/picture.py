"""Draws docs/pictures/terminal-{light,dark}.svg from a real run in a new repository: `python tools/picture.py`."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import tempfile
import termios
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, DIMMED_MONOKAI
from rich.text import Text

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
WIDTH = 80
SCRIPT = """\
$ memcli remember "We chose PostgreSQL: we need JSONB." --kind decision
$ memcli remember "Never sleep in a handler." --trigger 'time\\.sleep' --enforce
$ memcli recall "which database?"
$ git add handler.py && memcli guard
"""
DOER = {"NAME": "Ann", "EMAIL": "ann@example.com", "DATE": "2026-01-05T10:00:00Z"}
FORMAT = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""
"""As rich has it, without the fonts that it would load from a server."""


def transcript() -> str:
    """What the commands of the script print, each after its line."""
    with tempfile.TemporaryDirectory() as home:
        shop = Path(home, "shop")
        shop.mkdir()
        (shop / "README.md").write_text("# Shop\n\nIt sells pencils.\n", encoding="utf-8")
        type_in(
            shop,
            "git init -q -b main && memcli init -q && git add -A && git commit -qm Start && memcli ingest -q README.md",
        )
        (shop / "handler.py").write_text("import time\n\n\ndef handle(job):\n    time.sleep(5)\n", encoding="utf-8")
        printed = [f"{line}\n{type_in(shop, line[2:])}" for line in SCRIPT.splitlines()]
    return "\n".join(printed)


def type_in(folder: Path, line: str, **variables: str) -> str:
    """What bash prints for `line`, typed in `folder` on a terminal of WIDTH columns under a frozen clock. The folder above is the
    home folder. `variables` are further variables of the environment."""
    environ = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": str(FOLDER.parent.parent), "HOME": str(folder.parent), "LC_ALL": "C.UTF-8",
        "MEMCLI_FREEZE_CLOCK": "2026-01-05T10:00:00Z", "GIT_CONFIG_GLOBAL": os.devnull, "TERM": "xterm-256color", "MEMCLI_BACKGROUND": "off",
        **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in DOER.items()}, **variables,
    }  # fmt: skip
    ours, its = pty.openpty()
    termios.tcsetwinsize(its, (50, WIDTH))
    with subprocess.Popen(
        ["bash", "-c", line], cwd=folder, env=environ, stdin=its, stdout=its, stderr=its, start_new_session=True
    ):
        os.close(its)
        printed = b""
        with suppress(OSError):  # the end of a terminal
            while part := os.read(ours, 65536):
                printed += part
    os.close(ours)
    return printed.decode().replace("\r\n", "\n")


def draw(printed: str) -> dict[str, str]:
    """The pictures by the names of their files."""
    pictures = {}
    for name, theme in (("light", DEFAULT_TERMINAL_THEME), ("dark", DIMMED_MONOKAI)):
        console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
        for line in printed.splitlines():
            text = Text.from_ansi(line)
            text.stylize("bold" if line.startswith("$ ") else "")
            console.print(text)
        pictures[f"terminal-{name}.svg"] = console.export_svg(
            title="shop", theme=theme, code_format=FORMAT, unique_id="terminal"
        )
    return pictures


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, picture in draw(transcript()).items():
        (FOLDER / name).write_text(picture, encoding="utf-8")
