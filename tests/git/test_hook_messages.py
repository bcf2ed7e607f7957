"""What prepare-commit-msg and pre-push say, and where they keep silent."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from memcli.app.guard import ADVICE_BACKEND
from memcli.cli.git_hooks import advise
from memcli.cli.main import main
from tests.conftest import open_at
from tests.git.test_hooks import attempt, hook, place, put, surroundings  # noqa: F401 - fixtures
from tests.ingest.conftest import Repo
from tests.safety.secrets_corpus import secret

TOLD = "memcli: decision [{}] Retries back off exponentially, and never more than five attempts."
SEEN = {"GIT_EDITOR": "cat"}


@pytest.fixture
def advised(place: Repo) -> Repo:  # noqa: F811
    """A repository with hooks, a decision, and a change that it is about."""
    assert main(["remember", "Retries back off exponentially, and never more than five attempts.", "-q",
                 "--kind", "decision", "--path", "net/retry", "--id", "mem_retry"]) == 0  # fmt: skip
    main(["remember", "Retry is a fact of life, of attempts too.", "-q", "--path", "net/retry/fact"])
    hook("install")
    place.write("net/retry.py", "def retry(attempts):\n    pass\n")
    place.git("add", "-A")
    return place


def lines(text: str, mark: str = "#") -> list[str]:
    return [line for line in text.splitlines() if line.startswith(f"{mark} memcli: ")]


def test_what_was_decided_is_in_the_editor_and_not_in_the_commit(advised: Repo) -> None:
    done = attempt(advised, "commit", **SEEN)
    assert lines(done.stdout) == ["# " + TOLD.format("mem_retry")]
    assert attempt(advised, "commit", "-q", GIT_EDITOR="sed -i 1s/^/Retry/").returncode == 0
    assert advised.git("log", "-1", "--format=%B") == "Retry"


def test_nothing_is_added_once_git_has_gone_on(advised: Repo) -> None:
    message = Path(advised.root, ".git", "COMMIT_EDITMSG")
    message.write_text("\n# Lines starting with '#' will be ignored.\n")
    workspace = open_at(advised.root).copy_with(backend=ADVICE_BACKEND)
    assert advise(workspace, str(message), time.monotonic()) == {"outcome": "too late", "lines": 1}
    assert not lines(message.read_text())
    assert advise(workspace, str(message)) == {"outcome": "advised", "lines": 1}
    assert len(lines(message.read_text())) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [("-m", "x"), ("-F", "net/retry.py"), ("--amend",), ("-C", "HEAD"), ("-c", "HEAD"), ("--no-edit", "-m", "y")],
    ids="_".join,
)
def test_silent_where_a_message_is_there(advised: Repo, arguments: tuple[str, ...]) -> None:
    done = attempt(advised, "commit", *arguments, **SEEN)
    assert not lines(done.stdout)
    assert "memcli" not in advised.git("log", "-1", "--format=%B")


@pytest.mark.slow
def test_silent_in_merges(advised: Repo) -> None:
    advised.git("stash", "-q")
    advised.git("switch", "-q", "-c", "topic")
    advised.git("stash", "pop", "-q")
    advised.git("add", "-A")
    advised.git("commit", "-qm", "topic")
    advised.git("switch", "-q", "main")
    advised.git("commit", "-q", "--allow-empty", "-m", "main")
    assert not lines(attempt(advised, "merge", "--squash", "topic").stdout)
    assert not lines(attempt(advised, "commit", **SEEN).stdout)
    advised.git("reset", "-q", "--hard")
    done = attempt(advised, "merge", "--edit", "topic", **SEEN)
    assert "Merge branch" in done.stdout
    assert not lines(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(("setting", "mark"), [("core.commentChar", ";"), ("core.commentChar", "auto")])
def test_comments_as_git_is_told(advised: Repo, setting: str, mark: str) -> None:
    advised.git("config", setting, mark)
    assert len(lines(attempt(advised, "commit", **SEEN).stdout, mark[0].replace("a", "#"))) == 1
    attempt(advised, "commit", "-q", GIT_EDITOR="sed -i 1s/^/Retry/")
    assert advised.git("log", "-1", "--format=%B") == "Retry"


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["core.commentChar=;", "commit.status=false", "commit.cleanup=verbatim"])
def test_silent_where_git_alone_knows_what_becomes_of_comments(advised: Repo, setting: str) -> None:
    assert "memcli:" not in attempt(advised, "-c", setting, "commit", **SEEN).stdout


@pytest.mark.slow
@pytest.mark.parametrize(("cleanup", "shown"), [("verbatim", 0), ("whitespace", 0), ("scissors", 1), ("strip", 1)])
def test_never_where_comments_stay(advised: Repo, cleanup: str, shown: int) -> None:
    advised.git("config", "commit.cleanup", cleanup)
    assert len(lines(attempt(advised, "commit", **SEEN).stdout)) == shown
    attempt(advised, "commit", "-q", GIT_EDITOR="sed -i 1s/^/Retry/")
    assert "memcli:" not in advised.git("log", "-1", "--format=%B")
    if not shown:
        advised.git("config", "--unset", "commit.cleanup")
        advised.write("net/retry.py", "def retry(attempts): more()\n")
        assert not lines(attempt(advised, "commit", "-a", f"--cleanup={cleanup}", **SEEN).stdout)


@pytest.mark.slow
def test_verbose_and_template_and_a_part_of_the_index(advised: Repo) -> None:
    done = attempt(advised, "commit", "-v", **SEEN).stdout
    assert done.index("# memcli: ") < done.index(">8")
    advised.write("template", "Why:\n")
    done = attempt(advised, "commit", "-t", "template", GIT_EDITOR="sed -i s/Why:/Because/")
    assert advised.git("log", "-1", "--format=%B") == "Because"
    advised.write("net/retry.py", "def retry(attempts): more()\n")
    for part in (("-a",), ("net/retry.py",)):  # git commits another index than its own here
        assert len(lines(attempt(advised, "commit", *part, **SEEN).stdout)) == 1
    assert not lines(attempt(advised, "commit", "--allow-empty", **SEEN).stdout)


@pytest.mark.slow
def test_at_most_five_and_each_on_one_line(advised: Repo) -> None:
    for n in range(9):
        main(["remember", f"Rule {n}: retry attempts\n\n{'must be counted ' * 20}", "-q", "--kind", "constraint",
              "--path", f"net/retry/rule{n}"])  # fmt: skip
    told = lines(attempt(advised, "commit", **SEEN).stdout)
    assert len(told) == 5
    assert all("constraint" in line and len(line) <= 120 for line in told)


def test_pre_push_warns_and_never_blocks(place: Repo, tmp_path: Path) -> None:  # noqa: F811
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "remote")], check=True)
    hook("install", "pre-push")
    assert main(["remember", "nothing secret", "-q"]) == 0
    done = attempt(place, "push", "-q", str(tmp_path / "remote"), "main")
    assert (done.returncode, done.stderr) == (0, "")
    space = place.root / ".memory" / "spaces" / "main.json"
    token = secret("github_token", 900)[1]
    space.write_text(space.read_text().replace("nothing secret", token))
    done = attempt(place, "push", "-q", str(tmp_path / "remote"), "main:again")
    assert done.returncode == 0
    assert done.stderr.startswith("memcli: ")
    assert "`memcli check secrets` lists the secrets" in done.stderr
    assert token not in done.stderr
    hook("uninstall")
    put(place, "pre-push", "#!/bin/sh\ncat > pushed\nexit 1\n")
    hook("install", "pre-push")
    done = attempt(place, "push", "-q", str(tmp_path / "remote"), "main:third")
    assert done.returncode == 1
    assert "refs/heads/main" in (place.root / "pushed").read_text()
