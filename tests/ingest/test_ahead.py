"""A history that a fork reads ahead is stored as one that the process reads itself; and neither process outlives the other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.conftest import NOW
from tests.ingest.conftest import Repo

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="there is no processor for a fork"
)


def script(body: str) -> subprocess.Popen[str]:
    """A process of its own, as those of the tests have threads."""
    code = f"import os, signal\nfrom memcli.ahead import ahead\n{body}"
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def printed(body: str) -> str:
    out, err = script(body).communicate(timeout=60)
    assert err == ""
    return out


def test_values_come_in_order_from_another_process() -> None:
    assert printed("print([n for n in ahead(iter(range(1000)))] == list(range(1000)))") == "True\n"
    assert printed("print(os.getpid() in ahead(os.getpid() for _ in range(3)))") == "False\n"


def test_a_process_with_threads_makes_them_itself() -> None:
    out = printed(
        "import threading\nend = threading.Event()\nthreading.Thread(target=end.wait).start()\n"
        "print(os.getpid() in ahead(os.getpid() for _ in range(3)))\nend.set()"
    )
    assert out == "True\n"


def test_where_no_process_can_be_made_it_makes_them_itself() -> None:
    out = printed(
        "def fork():\n    raise BlockingIOError(11, 'Resource temporarily unavailable')\n"
        "os.fork = fork\nprint(os.getpid() in ahead(os.getpid() for _ in range(3)))"
    )
    assert out == "True\n"


def test_an_error_comes_after_the_values_before_it() -> None:
    out = printed(
        "from memcli.errors import NotFoundError\n"
        "def make():\n    yield from range(20)\n    raise NotFoundError('no', 'look')\n"
        "seen = []\ntry:\n    seen += ahead(iter([]))\n    [seen.append(n) for n in ahead(make())]\n"
        "except NotFoundError as error:\n    print(len(seen), error.message, error.hint)"
    )
    assert out == "20 no look\n"


def test_an_error_that_cannot_be_sent_is_told() -> None:
    out = printed(
        "def make():\n    yield 1\n    raise ValueError(lambda: 0)\n"
        "try:\n    list(ahead(make()))\nexcept RuntimeError as error:\n    print('ValueError' in str(error))"
    )
    assert out == "True\n"


@pytest.mark.parametrize("sent", [1, 32])
def test_a_killed_fork_is_an_error(sent: int) -> None:
    """Killed before it has sent a part, and within one that is longer than a pipe holds."""
    out = printed(
        "import time\nfrom memcli.errors import StoreError\n"
        f"def make():\n    yield from ['x' * (1 << 16)] * {sent}\n    time.sleep(0.5)\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        f"values = ahead(make())\ntry:\n    for _ in range({sent}):\n        next(values)\n        time.sleep(0.1)\n"
        "except StoreError as error:\n    print(error.message)"
    )
    assert out == "the process that reads ahead was killed\n"


ENDLESS = "from itertools import count\nvalues = ahead((os.getpid(), 'x' * 9999) for _ in count())\n"


def test_the_fork_ends_with_the_last_value_that_is_wanted() -> None:
    out = printed(
        f"{ENDLESS}made = next(values)[0]\nvalues.close()\n"
        "try:\n    os.kill(made, 0)\nexcept ProcessLookupError:\n    print('gone')"
    )
    assert out == "gone\n"


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_the_fork_ends_with_a_process_that_is_ended(sign: signal.Signals) -> None:
    process = script(f"{ENDLESS}print(next(values)[0], flush=True)\nsignal.pause()")
    assert process.stdout
    made = int(process.stdout.readline())
    process.send_signal(sign)
    process.communicate(timeout=60)
    for _ in range(600):
        with suppress(ProcessLookupError, FileNotFoundError):
            if "Z" not in Path(f"/proc/{made}/stat").read_text().rpartition(")")[2].split()[0]:
                time.sleep(0.1)
                continue
        return
    pytest.fail("the fork goes on")


def test_a_policy_is_warned_of_once(repo: Repo) -> None:
    for n in range(60):
        repo.commit(f"Change {n}", {"a.txt": f"{n}\n"})
    environ = {**os.environ, "MEMCLI_FREEZE_CLOCK": NOW, "MEMCLI_EMBEDDER": "off"}
    root = repo.root.parent / "store"
    policy = 'pii_redaction={"patterns": [{"name": "wide", "regex": "WIDE"}]}'
    for arguments in (["init"], ["space", "policy", "repo", "--set", policy]):
        subprocess.run(
            [sys.executable, "-m", "memcli", *arguments, "--root", str(root)], env=environ, check=True,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
    file = root / ".memory/spaces/repo.json"
    file.write_text(file.read_text().replace("WIDE", "."))  # a policy that a command refuses
    done = subprocess.run(
        [sys.executable, "-m", "memcli", "ingest", "--git", "HEAD", "--root", str(root)], cwd=repo.root, env=environ,
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.startswith("60 created")
    assert done.stderr.count("would take more than half") == 1


def test_the_same_is_stored(repo: Repo) -> None:
    for n in range(60):
        key = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" + "K1l2M3n4O5p6Q7r8"
        text = f"def f{n}():\n    return {n}  # {key if n % 20 == 3 else ''}\n"
        repo.commit(f"Change {n}", {f"src/m{n % 3}.py": text * 3, f"d{n}.md": f"Part {n}.\n", "poetry.lock": f"{n}\n"})
    repo.git("checkout", "-q", "-b", "side", "HEAD~4")
    repo.commit("On the side", {"side.txt": "side\n"})
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "side", "-m", "Merge the side")
    environ = {**os.environ, "MEMCLI_FREEZE_CLOCK": NOW, "MEMCLI_EMBEDDER": "off", "MEMCLI_REDACTION_KEY": "0" * 64}
    told, stored = [], []
    for n, processors in enumerate([{min(os.sched_getaffinity(0))}, os.sched_getaffinity(0)]):
        root = repo.root.parent / f"store{n}"
        memcli, options = [sys.executable, "-m", "memcli"], ["--root", str(root), "--json"]
        subprocess.run([*memcli, "init", *options], env=environ, check=True, stdout=subprocess.DEVNULL)

        def confine(allowed: set[int] = processors) -> None:
            os.sched_setaffinity(0, allowed)

        for _ in range(2):
            done = subprocess.run(
                [*memcli, "ingest", "--git", "HEAD", *options], cwd=repo.root, env=environ, check=True, capture_output=True,
                text=True, preexec_fn=confine,
            )  # fmt: skip
            told.append(done.stdout)
        files = [file for file in sorted(root.rglob("*.json*")) if file.name in ("repo.json", "repo.jsonl")]
        stored.append([file.read_bytes() for file in files])
    assert stored[0] == stored[1]
    assert len(stored[0]) > 1
    assert told[:2] == told[2:]
    assert '"github_token":' in told[0]
    assert '"merge":1' in told[0].replace(" ", "")
