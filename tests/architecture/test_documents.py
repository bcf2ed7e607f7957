"""The documents say what the program does, and CONTRIBUTING names the file of the use case of every verb."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from memcli.cli.verb import find, find_verb, names, read_line
from tests.conftest import ROOT
from tools.picture import FOLDER, draw, transcript, type_in
from tools.plugins import plugins
from tools.reference import INTERFACES, MANUAL, PATH, interfaces, manual, reference, write

README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SESSION = re.compile(r"```console\n(.*?)```", re.DOTALL)
MOST_WORDS, WIDEST = 600, 100


def test_the_reference_is_that_of_the_declarations(update_golden: bool) -> None:
    if update_golden:
        write()
    assert PATH.read_text(encoding="utf-8") == reference(), "python tools/reference.py"
    assert INTERFACES.read_text(encoding="utf-8") == interfaces(), "python tools/reference.py"
    pages = {page.name: page.read_text(encoding="utf-8") for page in MANUAL.glob("*.1")}
    assert pages == manual(), "python tools/reference.py"
    assert [name for name in names() if f"### `{name}`" not in reference() and name != "merge-driver"] == []


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
def test_the_manual_is_sound() -> None:
    pages = sorted(MANUAL.glob("*.1"))
    done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", *pages], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "memcli recall" in re.sub(r".\x08|\x1b\[[\d;]*m", "", done.stdout)


def test_the_plugins_are_what_install_writes(update_golden: bool) -> None:
    made = plugins()
    if update_golden:
        for path, text in made.items():
            (ROOT / path).write_text(text, encoding="utf-8")
    assert {path: (ROOT / path).read_text(encoding="utf-8") for path in made} == made, "python tools/plugins.py"


def test_the_readme_is_read_to_the_end() -> None:
    prose = re.sub(r"```.*?```|<picture>.*?</picture>", "", README, flags=re.DOTALL)
    prose = "\n".join(line for line in prose.splitlines() if not line.startswith("|"))
    prose = re.sub(r"\]\([^)]*\)", "]", prose)
    assert len(re.findall(r"\w[\w'/.-]*", prose)) <= MOST_WORDS
    text = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
    assert [line for line in text.splitlines() if len(line) > WIDEST and not line.startswith("|")] == []
    first = next(n for n, line in enumerate(README.splitlines(), 1) if re.match(r"(?:pipx|memcli) ", line))
    assert first < 30


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_a_page_hold(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)|(?:src|srcset)=\"([^\"]+)", text) for link in link if link]
    gone = [link for link in links if not link.startswith("http") and not (page.parent / link).exists()]
    assert gone == []


CALLERS = [
    *PAGES, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "action.yml", ROOT / ".pre-commit-hooks.yaml",
    *sorted(ROOT.glob(".github/**/*.yml")), *sorted(ROOT.glob("samples/*.*")),
    *sorted(page for page in ROOT.glob("plugins/**/*") if page.suffix in (".md", ".json")),
]  # fmt: skip


@pytest.mark.parametrize("file", CALLERS, ids=lambda file: str(file.relative_to(ROOT)))
def test_the_commands_of_a_file_parse(file: Path) -> None:
    """Reads each command line of memcli in pages, skills, hooks, workflows and samples as memcli does."""
    text = file.read_text(encoding="utf-8").replace("\\\n", " ")
    if file.suffix == ".md" or file.parent.name == "ISSUE_TEMPLATE":
        text = "\n".join(
            [
                *re.findall(r"```(?:sh|yaml)\n(.*?)```", text, re.DOTALL),
                *re.findall(r"^\$ (.*)$", text, re.MULTILINE),
                *(span.replace("\n", " ") for span in re.findall(r"`((?:[^`]*[|&] )?memcli [^`]*)`", text)),
            ]
        )
    elif file.suffix == ".json":
        text = "\n".join(re.findall(r'"command": "(memcli .*)"', text))
    assert [line for line in commands(text) if read_line(line) is None and not is_name(line)] == []


def is_name(words: list[str]) -> bool:
    """Whether the words name a command, or ask for its help, where text speaks of it: read_line wants its arguments."""
    with suppress(LookupError):
        return bool(find_verb(" ".join(word for word in words if word != "--help")))
    return words[0] in ("COMMAND", "--version", "--help") or words[0].startswith("$")


BEFORE = re.compile(r"[();<>|&]+|\$\(|\w+=.*|run:|entry:|!|then|if|else|do|time")


def commands(text: str) -> Iterator[list[str]]:
    """The arguments of each `memcli` that begins a command in lines of a shell, or of a file that has such lines."""
    for line in text.splitlines():
        words = shlex.shlex(line, posix=True, punctuation_chars=True)
        words.whitespace_split = True
        given: list[str] | None = None
        before = ""
        with suppress(ValueError):  # a quotation that goes on in the next line
            for word in words:
                if given is not None and not set(word) <= set("();<>|&"):
                    given.append(word)
                    continue
                if given:
                    yield given
                given = [] if word in ("memcli", "$memcli") and (not before or BEFORE.fullmatch(before)) else None
                before = word
        if given:
            yield given


@pytest.mark.parametrize(
    "page", [page for page in PAGES if SESSION.search(page.read_text())], ids=lambda page: page.name
)
def test_the_sessions_of_a_page_are_real(page: Path, update_golden: bool) -> None:
    """Types each `$` line of the page's console blocks, in one new repository on a terminal, and compares what comes out."""
    # A short folder: lines with its name are wrapped as those of a user are.
    with tempfile.TemporaryDirectory(prefix="", dir="/tmp") as home:
        shop = Path(home, "shop")
        shop.mkdir()
        (shop / "README.md").write_text("# Shop\n\nIt sells pencils.\n", encoding="utf-8")
        type_in(shop, "git init -q -b main && git add -A && git commit -qm Start")

        def run(block: re.Match[str]) -> str:
            typed = [line for line in block[1].splitlines() if line.startswith("$ ")]
            printed = (f"{line}\n{type_in(shop, line[2:], NO_COLOR='1')}" for line in typed)
            return f"```console\n{''.join(printed).replace(home, '~')}```"

        text = page.read_text(encoding="utf-8")
        real = SESSION.sub(run, text)
    if update_golden:
        page.write_text(real, encoding="utf-8")
        return
    assert text == real


def test_the_pictures_are_of_a_real_run(update_golden: bool) -> None:
    made = draw(transcript())
    if update_golden:
        for name, picture in made.items():
            (FOLDER / name).write_text(picture, encoding="utf-8")
    assert {name: (FOLDER / name).read_text(encoding="utf-8") for name in made} == made, "python tools/picture.py"


CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
TABLE = CONTRIBUTING.partition("| verb | file |")[2].partition("\n\n")[0]
ROWS = [
    (re.findall(r"`([\w-]+)`", left), re.findall(r"`([\w/]+\.py)`", right))
    for left, right in (line.strip("| ").split(" | ", 1) for line in TABLE.splitlines() if line.startswith("| `"))
]


def test_every_verb_stands_once() -> None:
    assert sorted(verb for verbs, _ in ROWS for verb in verbs) == sorted(names())


@pytest.mark.parametrize(("verbs", "files"), ROWS, ids=[",".join(verbs) for verbs, _ in ROWS])
def test_its_file_is_there_and_leads_to_it(verbs: list[str], files: list[str]) -> None:
    assert files
    assert [file for file in files if not (ROOT / "memcli" / file).is_file()] == []
    for verb in verbs:
        assert find(verb) is not None


def test_where_a_verb_has_a_module_of_its_name_it_is_the_one() -> None:
    for verbs, files in ROWS:
        for verb in verbs:
            if verb != "check" and (ROOT / "memcli" / "app" / f"{verb}.py").is_file():  # that one is of `remember`
                assert f"app/{verb}.py" in files
