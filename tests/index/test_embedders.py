"""A store with embedders of the user's choice."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from memcli.app.space import embed_spaces
from memcli.embed import EMBEDDERS
from memcli.embed.hashed import HashedEmbedder
from memcli.errors import ProviderError
from tests.conftest import Run, open_at
from tests.extras.embedders.folders import make_folder
from tests.index.test_cache import ask, fill

FRENCH = {"jeton": "le jeton expire après quinze minutes", "gateau": "gâteau faut trois œufs"}


def with_folder(folder: Path) -> dict[str, str]:
    return {"MEMCLI_EMBEDDER": f"onnx:{folder}"}


class Failing(HashedEmbedder):
    """Fails, or is interrupted, in the call of this number."""

    def __init__(self, call: int, error: BaseException) -> None:
        self.left, self.error, self.seen = call, error, [""]

    def embed(self, texts: Sequence[str], *, as_questions: bool = False) -> list[bytes]:
        self.left -= 1
        if self.left == 0:
            raise self.error
        self.seen += texts
        return super().embed(texts, as_questions=as_questions)


def test_models_do_not_mix(tmp_path: Path) -> None:
    one, other = make_folder(tmp_path / "one"), make_folder(tmp_path / "other", dimensions=1200)
    cache = tmp_path / "store" / ".memory" / "cache"
    workspace = open_at(tmp_path / "store", **with_folder(one))
    fill(workspace, **FRENCH)
    first = ask(workspace, "the token expires")
    files = {file.name: file.read_bytes() for file in cache.glob("*.vectors")}
    assert [len(data) for data in files.values()] == [2 * (8 + 16)]
    ask(open_at(tmp_path / "store", **with_folder(other)), "the token expires")
    ask(open_at(tmp_path / "store", MEMCLI_EMBEDDER="hashed"), "the token expires")
    assert sorted(len(file.read_bytes()) for file in cache.glob("*.vectors")) == [48, 2 * 392, 2 * 1208]
    assert files.items() <= {file.name: file.read_bytes() for file in cache.glob("*.vectors")}.items()
    assert ask(open_at(tmp_path / "store", **with_folder(one)), "the token expires") == first


def test_a_question_finds_what_was_told_in_another_language(tmp_path: Path) -> None:
    workspace = open_at(tmp_path / "store", **with_folder(make_folder(tmp_path / "model")))
    fill(workspace, **FRENCH)
    assert ask(workspace, "the token expires after fifteen minutes")[0][0] == "mem_jeton"
    assert ask(workspace, "le トークン 期限 after fifteen minutes")[0][0] == "mem_jeton"
    assert ask(workspace, "cake needs three eggs")[0][0] == "mem_gateau"
    assert ask(workspace, "the logo is blue") == []


def test_a_model_that_was_moved_costs_no_embedding(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "model")
    fill(open_at(tmp_path / "store", **with_folder(folder)), **FRENCH)
    embed_spaces(open_at(tmp_path / "store", **with_folder(folder)))
    shutil.move(folder, tmp_path / "elsewhere")
    status = open_at(tmp_path / "store", **with_folder(tmp_path / "elsewhere"))
    from memcli.app.space import index_status

    assert index_status(status)["vectors"] == 2


@pytest.mark.parametrize("error", [ProviderError("the server is down"), KeyboardInterrupt()])
def test_embedding_goes_on_where_it_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    monkeypatch.setattr("memcli.index.meaning._EMBED_BATCH", 3)
    failing = Failing(3, error)
    monkeypatch.setitem(EMBEDDERS, "failing", lambda: failing)  # type: ignore[arg-type]
    fill(open_at(tmp_path), **{f"m{n}": f"The text of number {n}." for n in range(10)})
    with pytest.raises(type(error)):
        embed_spaces(open_at(tmp_path, MEMCLI_EMBEDDER="failing"))
    before = list(failing.seen)
    assert len(before) == 7
    assert embed_spaces(open_at(tmp_path, MEMCLI_EMBEDDER="failing"))
    assert len(failing.seen) == 11
    assert len(set(failing.seen)) == 11  # nothing was embedded twice


KILLED = """
import os, signal, sys
from memcli.embed.hashed import HashedEmbedder
from memcli.index import meaning
meaning._EMBED_BATCH = 3
embed, calls = HashedEmbedder.embed, []
def killed(self, texts, *rest, **options):
    calls.append(texts)
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return embed(self, texts, *rest, **options)
HashedEmbedder.embed = killed
from memcli.cli.main import main
main(["store", "index", "embed", "--root", sys.argv[1]])
"""


def test_a_killed_process_loses_one_batch_at_most(tmp_path: Path, run: Run) -> None:
    workspace = open_at(tmp_path)
    fill(workspace, **{f"m{n}": f"The text of number {n}." for n in range(10)})
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, check=False)
    assert done.returncode == -9
    assert json.loads(run("store", "index", "--json").out)["vectors"] == 6
    assert run("store", "index", "embed").out == "10 vectors of space 'main'\n"


def test_what_is_wrong_is_one_line(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("init")
    monkeypatch.setenv("MEMCLI_EMBEDDER", "onnx:/nowhere")
    stored = run("remember", "We chose PostgreSQL because of JSONB.", "--embed", "--json")
    assert stored.code == 0
    assert stored.err.endswith("memcli: no folder /nowhere\n")
    embedded = run("store", "index", "embed")
    told = "memcli: no folder /nowhere (name a folder with a model in ONNX)\n"
    assert (embedded.code, embedded.out, embedded.err) == (7, "", told)
    (tmp_path / "notes.md").write_text("# Notes\n\nDeploy with make release.\n")
    run("ingest", "notes.md")  # into a second space, of which the same is told
    found = run("recall", "PostgreSQL", "--json")
    assert (found.code, found.err) == (0, "memcli: no folder /nowhere; answering by words alone\n")
    assert len(json.loads(found.out)["sections"]) == 1
    status = json.loads(run("store", "index", "--json").out)
    assert (status["vectors"], status["embedder"]) == (0, "none: no folder /nowhere")
    row = next(row for row in json.loads(run("doctor", "--json").out) if row["name"] == "embedding")
    assert (row["ok"], row["found"]) == (False, "onnx:/nowhere: no folder /nowhere")


@pytest.mark.parametrize("name", ["onnx:", "openai:", "ollama: ", "anthropic:x", "nonsense", "onnx:\n"])
def test_no_embedder_of_that_name(run: Run, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    run("remember", "We chose PostgreSQL.")
    monkeypatch.setenv("MEMCLI_EMBEDDER", name)
    found = run("store", "index", "embed")
    assert found.code == 2
    assert found.err.startswith("memcli: no embedder '")
    assert found.err.count("\n") == 1


def test_the_one_in_use_is_told(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_folder(tmp_path / "model")
    monkeypatch.setenv("MEMCLI_EMBEDDER", f"onnx:{folder}")
    run("remember", "the token expires after fifteen minutes")
    assert run("store", "index", "embed").code == 0
    assert json.loads(run("store", "index", "--json").out)["embedder"].startswith("onnx-")
    row = next(row for row in json.loads(run("doctor", "--json").out) if row["name"] == "embedding")
    assert row["found"].startswith(f"onnx:{folder}: 16 dimensions; cosines of related texts ")
    assert not row["ok"]  # it knows thirty words
    assert run("session", "topic", "the token expires", "and the cake?").code == 0


def test_a_folder_in_the_configuration_holds_once_the_store_is_accepted(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("remember", "the token expires after fifteen minutes")
    make_folder(tmp_path / "models" / "tiny")
    (tmp_path / ".memory" / "config.toml").write_text('embedder = "onnx:models/tiny"\n')
    monkeypatch.delenv("MEMCLI_EMBEDDER")
    (tmp_path / "deeper").mkdir()
    monkeypatch.chdir(tmp_path / "deeper")
    assert json.loads(run("store", "index", "--json").out)["embedder"].startswith("onnx-")
    run("trust", "--revoke")
    cloned = run("store", "index", "--json")
    assert json.loads(cloned.out)["embedder"].startswith("minilm-")
    assert "ignoring embedder until you run `memcli trust`" in cloned.err
