from __future__ import annotations

import json
import os
import resource
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memcli import sqlite
from memcli.app.purge import purge
from memcli.app.recall import MOST, recall
from memcli.app.space import embed_spaces
from memcli.app.workspace import Workspace, opened
from memcli.errors import StoreError
from memcli.index import update
from memcli.index.database import connect, open_database
from memcli.index.erasing import erase
from memcli.index.vectors import VectorFile, VectorsLostError, text_key
from memcli.model.recall import Query
from memcli.model.space import Change, Space
from memcli.record import replace
from memcli.store import file as file_store
from memcli.store.snapshot import FileSnapshot
from memcli.wiring.workspace import open_workspace
from tests.conftest import NOW, Run, memory, open_at, rewrite

TEXTS = {
    "a": "We chose PostgreSQL because of JSONB.",
    "b": "Never force-push to main.",
    "c": "The token lifetime is fifteen minutes; refresh tokens last a day.",
    "d": "PostgreSQL runs on port 5432 in the test cluster.",
}


def fill(workspace: Workspace, **texts: str) -> None:
    memories = [memory(name, raw=text, summary_micro=text) for name, text in (texts or TEXTS).items()]
    rewrite(workspace.store, lambda space: space.put(memories, NOW))


def ask(workspace: Workspace, topic: str, **options: object) -> list[tuple[str, float]]:
    query = Query(topic=topic, now=NOW, **options)  # type: ignore[arg-type]
    bundle = next(iter(recall(workspace, [query])))
    return [(s.memory.id, s.score) for s in bundle.sections]


QUESTIONS = ["postgresql port", "force push", "token lifetime", "main", "JSONB or tokens"]


def answers(workspace: Workspace) -> list[list[tuple[str, float]]]:
    return [ask(workspace, question) for question in QUESTIONS]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / ".memory" / "cache"


@pytest.fixture
def filled(tmp_path: Path) -> Workspace:
    """A workspace with the texts."""
    workspace = open_at(tmp_path)
    fill(workspace)
    return workspace


def change(index: Path, *statements: str) -> None:
    with closing(sqlite3.connect(index)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()


def test_an_incremental_index_answers_as_a_new_one(filled: Workspace, tmp_path: Path, cache: Path) -> None:
    answers(filled)
    fill(filled, b="Never force-push to main or release.", e="Tokens are signed with Ed25519.")
    answers(filled)
    rewrite(filled.store, lambda space: space.drop(["mem_d"], NOW))
    grown = answers(filled)
    shutil.rmtree(cache)
    assert answers(open_at(tmp_path)) == grown
    assert all(name != "mem_d" for found in grown for name, _ in found)


def test_one_changed_memory_costs_one(filled: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(filled)
    indexed: list[str] = []
    insert = update._insert
    monkeypatch.setattr(update, "_insert", lambda *args: indexed.append(args[1].entry["id"]) or insert(*args))
    fill(filled, b="Changed.")
    answers(filled)
    answers(filled)
    assert indexed == ["mem_b"]


DAMAGE: dict[str, Callable[[Path], object]] = {
    "truncate": lambda cache: (cache / "main.index").write_bytes((cache / "main.index").read_bytes()[:1000]),
    "garbage": lambda cache: (cache / "main.index").write_bytes(b"\xa5\x5a" * 2500),
    "foreign": lambda cache: ((cache / "main.index").unlink(), change(cache / "main.index", "CREATE TABLE x (y)")),
    "version": lambda cache: change(cache / "main.index", "UPDATE meta SET value = '0' WHERE key = 'version'"),
    "folder gone": shutil.rmtree,
    "vectors gone": lambda cache: [file.unlink() for file in cache.glob("*.vectors")],
    "a file in the way": lambda cache: (shutil.rmtree(cache), cache.write_text("a file in the way")),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_cache_changes_no_answer(filled: Workspace, tmp_path: Path, cache: Path, damage: str) -> None:
    before = answers(filled)
    DAMAGE[damage](cache)
    assert answers(open_at(tmp_path)) == before


@pytest.mark.parametrize("what", ["garbage", "damaged inside"])
def test_damage_is_told_once(filled: Workspace, tmp_path: Path, cache: Path, what: str) -> None:
    before = answers(filled)
    index = cache / "main.index"
    data = index.read_bytes()
    index.write_bytes(b"x" * 5000 if what == "garbage" else data[:4096] + b"\xff" * (len(data) - 4096))
    fill(filled, e="One more, so that the index must be written.")
    rewrite(filled.store, lambda space: space.drop(["mem_e"], NOW))
    told: list[str] = []
    assert answers(open_workspace({"root": str(tmp_path)}, os.environ, warn=told.append)) == before
    assert ["made anew" in warning for warning in told] == [True]


def test_that_there_is_no_cache_is_said_once_and_a_busy_one_is_no_news(
    filled: Workspace, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = answers(filled)
    fill(filled, e="One more, so that the index must be written.")
    rewrite(filled.store, lambda space: space.drop(["mem_e"], NOW))
    monkeypatch.setattr("memcli.index.database._BUSY_SECONDS", 0.01)
    told: list[str] = []
    with closing(sqlite3.connect(cache / "main.index", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert answers(open_workspace({"root": str(tmp_path)}, os.environ, warn=told.append)) == before
    assert told == []
    DAMAGE["a file in the way"](cache)
    answers(open_workspace({"root": str(tmp_path)}, os.environ, warn=told.append))
    assert len(told) == 1, told


def test_the_cache_follows_no_link(filled: Workspace, tmp_path: Path, cache: Path) -> None:
    target = tmp_path / "target"
    cache.mkdir(exist_ok=True)
    (cache / "main.index").symlink_to(target)
    assert ask(filled, "force push")
    assert not target.exists()


def test_a_cache_that_became_a_link_is_not_written(tmp_path: Path) -> None:
    workspace = open_at(tmp_path / "repo")
    fill(workspace)
    before = answers(workspace)
    cache = tmp_path / "repo" / ".memory" / "cache"
    cache.rename(tmp_path / "moved")
    (tmp_path / "outside").mkdir()
    cache.symlink_to(tmp_path / "outside")
    index = cache / "main.index"
    for open_it in (connect, lambda path: VectorFile(os.path.dirname(path), "m", 8)):
        with pytest.raises(OSError, match="Not a directory"):
            open_it(str(index))
    assert answers(workspace) == before
    assert os.listdir(tmp_path / "outside") == []


@pytest.mark.parametrize("is_there", [False, True])
def test_a_database_that_is_swapped_while_it_is_opened_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    cache = tmp_path / ".memory" / "cache"
    (tmp_path / "outside").mkdir()
    cache.mkdir(parents=True)
    connect(str(cache / "x.index")).close()
    if is_there:
        connect(str(tmp_path / "outside" / "x.index")).close()
    real = sqlite3.connect

    def swapping(*arguments: Any, **options: Any) -> sqlite3.Connection:
        cache.rename(tmp_path / "moved")
        cache.symlink_to(tmp_path / "outside")
        return real(*arguments, **options)

    monkeypatch.setattr(sqlite, "connect", swapping)
    with pytest.raises((OSError, sqlite3.OperationalError), match="was replaced" if is_there else "unable to open"):
        open_database(str(cache / "x.index"))
    assert os.listdir(tmp_path / "outside") == ["x.index"] * is_there


@pytest.mark.parametrize("name", ["a?mode=ro", "50%20", "#1", "ä \udce4"])
def test_a_store_may_be_in_a_folder_of_any_name(tmp_path: Path, name: str) -> None:
    cache = tmp_path / name / ".memory" / "cache"
    cache.mkdir(parents=True)
    connect(str(cache / "x.index")).close()
    assert [path.name for path in cache.iterdir()] == ["x.index"]


ENDLESS = "CREATE VIEW {} AS WITH RECURSIVE n (key, value) AS (SELECT 1, 2 UNION ALL SELECT key, value FROM n) SELECT * FROM n"


@pytest.mark.parametrize("name", ["meta", "memory", "term", "vector", "birth"])
def test_an_endless_view_in_the_place_of_a_table_ends_nothing(
    filled: Workspace, tmp_path: Path, cache: Path, name: str
) -> None:
    before = answers(filled)
    for path in (cache / "main.index", *cache.glob("*.places")):
        with suppress(sqlite3.OperationalError):  # there is no such table in this one
            change(path, f"DROP TABLE {name}", ENDLESS.format(name))
    assert answers(open_at(tmp_path)) == before


def test_a_trigger_in_an_index_is_not_kept(tmp_path: Path) -> None:
    path = str(tmp_path / "x.index")
    with closing(connect(path)) as connection:
        connection.execute("CREATE TRIGGER t AFTER INSERT ON memory BEGIN DELETE FROM memory; END")
    told: list[str] = []
    with closing(connect(path, told.append)) as connection:
        assert not connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'trigger'").fetchall()
    assert len(told) == 1


def test_a_statement_is_ended_while_the_tables_are_not_known(tmp_path: Path) -> None:
    path = tmp_path / "x.index"
    change(path, ENDLESS.format("meta"))
    with closing(open_database(str(path))) as connection, pytest.raises(sqlite3.OperationalError, match="interrupted"):
        connection.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()


@pytest.mark.parametrize("name", ["memory", "vector"])
def test_erasing_asks_no_endless_view(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    connect(str(folder / "main.index")).close()
    VectorFile(str(folder), "m", 8).close()
    for path in (folder / "main.index", folder / "m.places"):
        with suppress(sqlite3.OperationalError):
            change(path, f"DROP TABLE {name}", ENDLESS.format(name))
    erase(str(folder), str(folder / "main.index"), ["mem_x"], 1)
    assert (folder / "main.index").exists() == (name == "vector")
    assert (folder / "m.places").exists() == (name == "memory")


def test_two_processes_make_one_index(tmp_path: Path) -> None:
    first, second = open_at(tmp_path), open_at(tmp_path)
    fill(first)
    assert answers(first) == answers(second)
    fill(second, z="A zebra crosses the release.")
    assert ask(first, "zebra") == ask(second, "zebra") != []
    path = str(tmp_path / "x.index")
    connect(path).close()
    with closing(connect(path)) as again:
        assert again.execute("SELECT count(*) FROM memory").fetchone() == (0,)


def talk(workspace: Workspace, **texts: str) -> None:
    """Turns of one conversation, in the order of their names."""
    turns = [
        memory(name, kind="log", raw=text, path=f"talk/{name}", metadata={"group": "S1"})
        for name, text in texts.items()
    ]
    rewrite(workspace.store, lambda space: space.put(turns, NOW))


def test_windows_follow_the_conversation(tmp_path: Path) -> None:
    workspace = open_at(tmp_path)
    talk(workspace, t1="Which database shall we use?", t2="The one with an elephant.", t4="Agreed then.")
    ask(workspace, "database")
    talk(workspace, t3="I like it too.", t2="The one with a dolphin.")
    questions = ["database elephant", "dolphin", "agreed", "like it"]
    grown = [ask(workspace, question) for question in questions]
    rewrite(workspace.store, lambda space: space.drop(["mem_t1"], NOW))
    shrunk = [ask(workspace, question) for question in questions]
    shutil.rmtree(tmp_path / ".memory" / "cache")
    assert [ask(open_at(tmp_path), question) for question in questions] == shrunk != grown


def test_vectors_that_were_made_anew_are_not_mistaken(filled: Workspace, tmp_path: Path, cache: Path) -> None:
    """The slots of a lost file of vectors mean nothing in the one that takes its place."""
    before = answers(filled)
    DAMAGE["vectors gone"](cache)
    second = open_at(tmp_path)
    fill(second, z="A zebra crosses.", a=TEXTS["a"])  # another order of making
    rewrite(second.store, lambda space: space.drop(["mem_z"], NOW))
    assert answers(second) == before


def test_the_cache_may_vanish_in_the_middle_of_a_command(filled: Workspace, cache: Path) -> None:
    before = answers(filled)
    bundles = recall(filled, (Query(topic=question, now=NOW) for question in QUESTIONS))
    found = [next(bundles)]
    shutil.rmtree(cache)
    found += bundles
    assert [[(s.memory.id, s.score) for s in bundle.sections] for bundle in found] == before


def test_recall_reads_no_whole_space_file(filled: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = answers(filled)
    monkeypatch.setattr(FileSnapshot, "read", lambda _: pytest.fail("the whole file was read"))
    assert answers(open_at(tmp_path)) == before


NONSENSE = (
    "UPDATE meta SET value = 'x' WHERE key = 'totals'",
    "UPDATE meta SET value = '[1]' WHERE key = 'totals'",
    "UPDATE meta SET value = 'x' WHERE key = 'policy'",
    "UPDATE meta SET value = '[]' WHERE key = 'policy'",
    "UPDATE meta SET value = '{\"backend\": 7}' WHERE key = 'policy'",
    "DELETE FROM meta WHERE key = 'policy'",
    "UPDATE plan SET data = x'00'",
    "UPDATE plan SET data = 'abc'",
    "UPDATE memory SET triggers = 'x'",
    "UPDATE memory SET importance = 'x'",
    "UPDATE memory SET length = -1",
    "UPDATE memory SET id = 'zzz'",
    "UPDATE memory SET row = row + 1000",
    "DROP TABLE term",
)


def test_a_cache_that_makes_no_sense_is_made_anew(run: Run, tmp_path: Path) -> None:
    index = tmp_path / ".memory" / "cache" / "main.index"
    run("remember", "We chose PostgreSQL for the database.", "--path", "db/choice")
    run("remember", "Deploy with make ship.", "--path", "ops/deploy")
    sound = run("recall", "database", "--json")
    assert (sound.code, "PostgreSQL" in sound.out) == (0, True)
    failed = []
    for n, statement in enumerate(NONSENSE):
        index.unlink()
        run("recall", "database")
        change(index, statement)
        if run("recall", "database", "--json").out != sound.out:
            failed.append(statement)
        change(index, statement)
        if run("remember", f"Another thing {n}.").code or run("recall", "another", "--json").code:
            failed.append(f"write: {statement}")
        sound = run("recall", "database", "--json")
    assert failed == []


def test_many_spaces_need_few_descriptors(run: Run, tmp_path: Path) -> None:
    for n in range(40):
        run("remember", f"Fact {n} of the database.", "-s", f"space{n}", "--path", "db/choice")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 50
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 3 * MOST + 12, hard))
    try:
        found = run("recall", "database", "--all-spaces", "--json", "--limit", "40")
        resource.setrlimit(resource.RLIMIT_NOFILE, (used + 12, hard))
        short = run("recall", "database", "--all-spaces")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (found.code, found.json["space"], len({s["space"] for s in found.json["sections"]})) == (0, "*", 40)
    assert (short.code, "permissions" in short.err, "ulimit" in short.err) == (8, False, True)


def test_vectors_of_what_was_erased_meanwhile_do_not_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that embeds has read texts that another one erases."""
    workspace = open_at(tmp_path, MEMCLI_EMBEDDER="hashed")
    fill(workspace, **TEXTS, zebra="The zebra is a secret.")
    erased = text_key("The zebra is a secret.")
    made: list[dict[bytes, bytes]] = []
    add = VectorFile.add

    def erase_first(self: VectorFile, vectors: dict[bytes, bytes], *rest: Any) -> None:
        made.append(vectors)
        if len(made) == 1:
            other = open_at(tmp_path, MEMCLI_EMBEDDER="hashed")
            purge(other, ["mem_zebra"], now=True)
        add(self, vectors, *rest)

    monkeypatch.setattr(VectorFile, "add", erase_first)
    assert embed_spaces(workspace)
    assert [any(key == erased for key in vectors) for vectors in made] == [True, False]
    with closing(sqlite3.connect(next((tmp_path / ".memory" / "cache").glob("*.places")))) as places:
        assert {key for (key,) in places.execute("SELECT key FROM vector")} == set(made[1])


def test_a_file_of_vectors_that_another_process_made_anew_is_left_alone(tmp_path: Path) -> None:
    old = VectorFile(str(tmp_path), "model", 4)
    old.add({b"a" * 16: b"aaaa"})
    for file in tmp_path.iterdir():
        file.unlink()
    new = VectorFile(str(tmp_path), "model", 4)
    new.add({b"b" * 16: b"bbbb", b"c" * 16: b"cccc"})
    kept = (tmp_path / "model.vectors").read_bytes()
    with pytest.raises(VectorsLostError):
        old.add({b"d" * 16: b"dddd"})
    assert (tmp_path / "model.vectors").read_bytes() == kept


def test_embedding_stops_when_the_cache_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = open_at(tmp_path, MEMCLI_EMBEDDER="hashed")
    fill(workspace)
    add = VectorFile.add

    def remove_first(self: VectorFile, *rest: Any) -> None:
        shutil.rmtree(tmp_path / ".memory" / "cache", ignore_errors=True)
        add(self, *rest)

    monkeypatch.setattr(VectorFile, "add", remove_first)
    with pytest.raises(StoreError, match="removed"):
        embed_spaces(workspace)
    assert not (tmp_path / ".memory" / "cache").exists()
    assert ask(workspace, "JSONB")


TEXT = st.text("ab \n", max_size=30)


def _rows(path: Path) -> list[tuple[object, ...]]:
    """What the index holds of each memory, whatever the history of its rows."""
    select = (
        "SELECT memory.id, digest, place.start, place.length, memory.path, hidden, terms, commit_hash, tells,"
        " term.raw, (SELECT count(*) FROM passage WHERE passage.row = memory.row)"
        " FROM memory JOIN place USING (row) JOIN term ON term.rowid = memory.row ORDER BY memory.id"
    )
    with closing(sqlite3.connect(path)) as db:
        return [*db.execute(select), *db.execute("SELECT key, value FROM meta ORDER BY key")]


def _bring_up_to_date(workspace: Workspace) -> None:
    with opened(workspace):
        pass


def assert_whole(workspace: Workspace, index: Path) -> None:
    """What the index holds is what one made anew holds."""
    followed = _rows(index)
    index.unlink()
    _bring_up_to_date(workspace)
    assert _rows(index) == followed


def test_a_commit_costs_the_same_in_a_long_history(tmp_path: Path) -> None:
    each = []
    for count in (40, 400):
        workspace = open_at(tmp_path / f"{count}")
        commits = [f"c{n}" for n in range(count)]
        memories = [memory(name, kind="diff", provenance={"commit": name}) for name in commits]
        rewrite(workspace.store, lambda space, memories=memories: space.put(memories, NOW))
        _bring_up_to_date(workspace)
        steps: list[int] = []
        with closing(sqlite3.connect(tmp_path / f"{count}" / ".memory" / "cache" / "main.index")) as db:
            db.set_progress_handler(lambda: steps.append(1), 1)  # noqa: B023
            update._tell_once(db, None, commits)  # type: ignore[arg-type]
        each.append(len(steps) / count)
    assert 0 < each[1] < 1.5 * each[0]


def _write_some(workspace: Workspace, n: int, data: st.DataObject) -> None:
    names = st.sampled_from("abcdxyz")
    put = {name: f"Text {n} of {name} says {data.draw(TEXT)}." for name in data.draw(st.sets(names))}
    drop = frozenset(f"mem_{name}" for name in data.draw(st.sets(names)) if name not in put)
    when = f"2026-01-{data.draw(st.integers(1, 28)):02d}T00:00:00Z"
    memories = tuple(
        memory(name, raw=text, updated_at=when, kind="diff", provenance={"commit": name[0]})
        for name, text in put.items()
    )
    header = replace(Space("main"), metadata={"n": "x" * n}) if data.draw(st.booleans()) else None
    workspace.store.update("main", lambda _: Change(memories, drop, NOW, header))


@given(data=st.data())
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_noted_moves_lead_to_the_index_of_the_whole_file(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("moves")
    workspace = open_at(folder, MEMCLI_EMBEDDER="off")
    fill(workspace)
    fill(workspace, z="The last one.")
    _bring_up_to_date(workspace)
    index = folder / ".memory" / "cache" / "main.index"
    with pytest.MonkeyPatch.context() as patch:
        compared: list[object] = []
        original = update._compared
        patch.setattr(update, "_compared", lambda *args: compared.append(args) or original(*args))
        for n in range(data.draw(st.integers(1, 6))):
            _write_some(workspace, n, data)
            if data.draw(st.booleans()):
                _bring_up_to_date(workspace)
        _bring_up_to_date(workspace)
        assert not compared
    assert_whole(workspace, index)


def test_without_what_moved_the_file_is_compared(filled: Workspace, tmp_path: Path, cache: Path) -> None:
    for n, text in enumerate(("", "{", '{"before": 1}\n')):
        fill(filled, z=f"The last one of {n}.")
        answers(filled)
        fill(filled, b=f"Changed {n}.")
        assert (cache / "main.moves").stat().st_size
        (cache / "main.moves").write_text(text)
        grown = answers(filled)
        shutil.rmtree(cache)
        assert answers(open_at(tmp_path)) == grown, text


def test_moves_that_are_wrong_change_no_answer(filled: Workspace, tmp_path: Path, cache: Path) -> None:
    fill(filled, z="The last one.")
    answers(filled)
    fill(filled, b="Changed to something else.")
    step = json.loads((cache / "main.moves").read_text().splitlines()[-1])
    step["moves"] = [[old, new + 3, length] for old, new, length in step["moves"]]
    (cache / "main.moves").write_text(json.dumps(step) + "\n")
    grown = answers(filled)
    shutil.rmtree(cache)
    assert answers(open_at(tmp_path)) == grown


def test_an_index_of_many_pieces_is_made_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(update, "MOST_PIECES", 4)
    workspace = open_at(tmp_path, MEMCLI_EMBEDDER="off")
    names = "abcdefghijklmnop"
    fill(workspace, **{name: f"The text of {name}." for name in names})
    fill(workspace, z="The last one.")
    index = tmp_path / ".memory" / "cache" / "main.index"
    counts = []
    for name in names[::2]:
        _bring_up_to_date(workspace)
        fill(workspace, **{name: f"Another, longer text of {name}."})
        _bring_up_to_date(workspace)
        with closing(sqlite3.connect(index)) as db:
            counts.append(db.execute("SELECT count(*) FROM piece").fetchone()[0])
    assert max(counts) <= 4
    assert 0 in counts
    assert_whole(workspace, index)


def test_the_notes_of_writers_stay_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_store, "_MOST_MOVES", 1000)
    workspace = open_at(tmp_path, MEMCLI_EMBEDDER="off")
    fill(workspace)
    _bring_up_to_date(workspace)
    index, moves = (tmp_path / ".memory" / "cache" / name for name in ("main.index", "main.moves"))
    for n in range(30):
        fill(workspace, b=f"Text {n}.")
    assert 0 < moves.stat().st_size < 1300
    _bring_up_to_date(workspace)
    assert_whole(workspace, index)
