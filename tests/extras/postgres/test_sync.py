"""`memcli store sync` with a server that is wrong: wiped, restored, another one, or written past its log."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psycopg
import pytest

from memcli.codec.audit import Link, seal
from memcli.codec.canonical import encode_line
from memcli.errors import CorruptError, RefusedError, StoreError
from memcli.extras.postgres.opening import close_servers
from memcli.extras.stores.sync_base import FileSyncBase, erase_bases
from memcli.model.links import Lineage, SyncPoint
from memcli.model.space import Space
from memcli.store.layout import Layout
from tests.conftest import memory, open_at
from tests.extras.postgres.conftest import as_user
from tests.extras.postgres.proxy import Proxy
from tests.extras.stores.test_syncing import CLONES, Team
from tests.servers import new_schema

TEXTS = {"We chose PostgreSQL.", "Never push to main.", "Deploy on Fridays."}


class Served(Team):
    """Clones and a schema on a server, which a test writes to as its owner."""

    def __init__(self, folder: Path, url: str, schema: str, clones: Sequence[str] = CLONES) -> None:
        super().__init__(folder, f"{url}{'&' if '?' in url else '?'}schema={schema}", clones)
        self.url, self.schema = url, schema

    def sql(self, *statements: str) -> list[tuple[object, ...]]:
        close_servers()
        with psycopg.connect(self.url, autocommit=True, options=f"-csearch_path={self.schema},public") as connection:
            for statement in statements:
                found = connection.execute(statement.encode())
            return found.fetchall() if found.description else []

    def forge(self, *, is_sealed: bool, time: str, level: str = "admin") -> None:
        """Adds a line to the log that says that all memories were purged, by somebody of this level, and takes them away."""
        ((number, head),) = self.sql("SELECT n, hash FROM audit WHERE space = 'main' ORDER BY n DESC LIMIT 1")
        rows = self.sql("SELECT id, encode(sha256(body), 'hex') FROM memory WHERE space = 'main'")
        changes = [{"id": name, "before": digest, "after": ""} for name, digest in rows]
        by = {"time": time, "user": "eve", "command": "forget", "action": "delete", "space": "main"}
        line = seal({**by, "changes": changes}, Link(number, str(head)))  # type: ignore[arg-type]
        if not is_sealed:
            line = encode_line({**json.loads(line), "prev": "x"})
        self.sql(
            "SET session_replication_role = replica",  # the owner writes past all triggers
            "INSERT INTO audit (space, n, mark, hash, line, level) VALUES ('main', "
            f"{int(str(number)) + 1}, gen_random_uuid(), '{json.loads(line)['hash']}', '\\x{line.hex()}', '{level}')",
            "DELETE FROM memory WHERE space = 'main'",
            "UPDATE space SET version = version + 1, objects = 0, bytes = 0 WHERE space = 'main'",
        )

    def tables(self, schema: str) -> list[str]:
        found = self.sql(f"SELECT tablename FROM pg_tables WHERE schemaname = '{schema}' AND tablename <> 'migration'")
        return [str(table) for (table,) in found]

    def back_up(self, into: str) -> None:
        """Copies all tables into another schema, in the place of an earlier copy."""
        copies = (f"CREATE TABLE {into}.{table} AS SELECT * FROM {table}" for table in self.tables(self.schema))
        self.sql(f"DROP SCHEMA IF EXISTS {into} CASCADE", f"CREATE SCHEMA {into}", *copies)

    def restore(self, out_of: str) -> None:
        statements = ["SET session_replication_role = replica"]  # a backup is read in without triggers
        for table in self.tables(out_of):
            rows = f"INSERT INTO {table} OVERRIDING SYSTEM VALUE SELECT * FROM {out_of}.{table}"
            statements += [f"TRUNCATE {table}", rows]
        self.sql(*statements)

    def fill(self) -> None:
        for n, text in enumerate(sorted(TEXTS)):
            self.memory("a").remember(text, path=f"notes/n{n}", no_check=True)
        self.sync("a")
        self.sync("b")


@pytest.fixture
def team(postgres: str, tmp_path: Path) -> Iterator[Served]:
    with new_schema(postgres) as schema:
        team = Served(tmp_path, postgres, schema)
        team.fill()
        yield team
        team.sql(f"DROP SCHEMA IF EXISTS {schema}_kept CASCADE")


@pytest.fixture
def writer(team: Served) -> Iterator[str]:
    role = f"writer_{team.schema}"
    team.sql(f"CREATE ROLE {role} LOGIN PASSWORD 'a-word'", f"SELECT admit('{role}', 'writer', 'main')")
    yield role
    team.sql(f"DROP OWNED BY {role} CASCADE", f"DROP ROLE {role}")


@pytest.mark.parametrize(("is_sealed", "time"), [(False, "2026-02-01T00:00:00Z"), (True, "9999-12-31T23:59:59Z")])
def test_a_forged_purge_is_refused_and_erases_nothing(team: Served, is_sealed: bool, time: str) -> None:
    team.forge(is_sealed=is_sealed, time=time)
    for clone in ("a", "b"):
        with pytest.raises(CorruptError) as refused:
            team.sync(clone, accept_deletions=True)
        assert (refused.value.exit_code, refused.value.message.count("\n")) == (6, 0)
        assert team.texts(clone) == TEXTS
    team.sync("a", as_new=True)
    assert team.texts("a") == TEXTS
    assert team.sql("SELECT count(*) FROM memory") == [(3,)]


def test_a_purge_by_a_writer_of_the_server_goes_into_the_trash(team: Served) -> None:
    """A line from before only admins could write such a one."""
    team.forge(is_sealed=True, time="2026-02-01T00:00:30Z", level="writer")
    team.sync("a", accept_deletions=True)
    (run, *_) = team.memory("a").restore(list=True)
    team.memory("a").restore(run=run["run"])
    assert team.texts("a") == TEXTS


def test_a_line_has_the_level_of_who_wrote_it(team: Served, writer: str) -> None:
    assert team.sql("SELECT DISTINCT level FROM audit") == [("admin",)]
    team.there = as_user(team.there, writer)
    team.memory("a").remember("We use SQLite here.", path="notes/n9", no_check=True)
    team.sync("a")
    assert team.sql("SELECT level FROM audit ORDER BY n DESC LIMIT 1") == [("writer",)]


def _wipe(team: Served) -> None:
    team.sql(f"DROP SCHEMA {team.schema} CASCADE")


def _go_back(team: Served) -> None:
    team.restore(f"{team.schema}_kept")


def _go_back_and_on(team: Served) -> None:
    """Restores the server, and lets a clone without a base write there."""
    team.restore(f"{team.schema}_kept")
    team.sync("b", as_new=True)


@pytest.mark.parametrize(("fate", "grace"), [(_wipe, 14), (_go_back, 0), (_go_back_and_on, 14)])
def test_a_server_that_does_not_know_the_last_sync_is_not_obeyed(
    team: Served, fate: Callable[[Served], None], grace: int
) -> None:
    team.memory("a").space_policy("main", set={"grace_days": grace})
    team.back_up(f"{team.schema}_kept")
    team.memory("a").remember("Written after the backup.", path="late/x", no_check=True)
    team.sync("a")
    fate(team)
    with pytest.raises(RefusedError, match="does not know the last sync of space 'main'") as refused:
        team.sync("a", accept_deletions=True)
    assert "--as-new" in refused.value.hint
    assert team.texts("a") == TEXTS | {"Written after the backup."}
    team.sync("a", as_new=True)
    team.sync("a")
    assert team.texts("a") == TEXTS | {"Written after the backup."}
    team.sync("b", as_new=True)
    assert team.bytes("a") == team.bytes("b")


def test_a_table_that_alone_went_back_is_noticed(team: Served) -> None:
    """The log is as it was last, the counter of writes is not."""
    kept = f"{team.schema}_kept"
    team.back_up(kept)
    team.memory("a").remember("Written after the backup.", path="late/x", no_check=True)
    team.sync("a")
    team.sql(f"DROP TABLE {kept}.audit", f"CREATE TABLE {kept}.audit AS SELECT * FROM audit")
    team.restore(kept)
    with pytest.raises(RefusedError, match="does not know the last sync"):
        team.sync("a")


def test_what_is_gone_or_changed_past_the_log_is_not_taken_over(team: Served) -> None:
    body = "convert_to(replace(convert_from(body, 'utf8'), 'Fridays', 'Sundays'), 'utf8')"
    team.sql("DELETE FROM memory WHERE path = 'notes/n1'", f"UPDATE memory SET body = {body}")
    with pytest.raises(CorruptError, match="has changed or lost 2 memories") as refused:
        team.sync("a", accept_deletions=True)
    assert refused.value.exit_code == 6
    assert team.texts("a") == TEXTS


_TRIGGER = """CREATE FUNCTION lie() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {} END $$;
    CREATE TRIGGER lie BEFORE {} ON {} FOR EACH ROW EXECUTE FUNCTION lie()"""
_ALTER = "new.body := convert_to(replace(convert_from(new.body, 'utf8'), 'SQLite', 'MySQL'), 'utf8'); RETURN new;"


@pytest.mark.parametrize(
    ("body", "event", "table", "lost"),
    [
        ("RETURN NULL;", "INSERT OR UPDATE", "memory", r"1 memory \(notes/n9\)"),
        ("RETURN NULL;", "DELETE", "memory", r"1 memory \(notes/n0\)"),
        (_ALTER, "INSERT OR UPDATE", "memory", r"1 memory \(notes/n9\)"),
        ("RETURN NULL;", "UPDATE", "space", "the policy and metadata"),
    ],
)
def test_what_the_server_drops_or_alters_is_reported_and_sent_again(
    team: Served, body: str, event: str, table: str, lost: str
) -> None:
    if event == "DELETE":
        team.memory("a").forget("notes/n0", purge=True, yes=True)
    elif table == "space":
        team.memory("a").space_policy("main", set={"grace_days": 3})
    else:
        team.memory("a").remember("We use SQLite here.", path="notes/n9", no_check=True)
    texts = team.texts("a")
    team.sql(_TRIGGER.format(body, event, table))
    with pytest.raises(StoreError, match=f"did not keep {lost} as sent") as failed:
        team.sync("a")
    assert failed.value.exit_code == 8
    # What it altered is damage, which nobody takes; what it dropped is sent, and missed, again.
    again = "its hash does not match its text" if body == _ALTER else f"did not keep {lost} as sent"
    with pytest.raises(CorruptError if body == _ALTER else StoreError, match=again):
        team.sync("a")
    team.sql(f"DROP TRIGGER lie ON {table}")
    if body == _ALTER:
        team.sql("DELETE FROM memory WHERE path = 'notes/n9'")
    team.sync("a")
    team.sync("b")
    assert team.bytes("a") == team.bytes("b")
    assert all(text.encode() in team.bytes("b") for text in texts)
    assert len(team.texts("b")) == len(texts)


def test_a_server_is_known_by_its_id_not_by_its_address(team: Served) -> None:
    """A deletion arrives by another address, too; and another store at the same one is asked about."""
    team.memory("b").forget("notes/n0", purge=True, yes=True)
    team.sync("b")
    proxy = Proxy(team.url)
    team.memory("a").store_sync(with_=f"{proxy.url}?schema={team.schema}")
    proxy.close()
    assert len(team.texts("a")) == 2
    team.sql(f"DROP SCHEMA {team.schema} CASCADE")
    with pytest.raises(RefusedError, match="wiped, replaced or restored"):
        team.sync("a")


def test_a_base_is_found_by_the_id_of_the_store_and_asked_for_at_its_address(tmp_path: Path) -> None:
    layout = Layout(open_at(tmp_path).root)
    space = Space("main", (memory("a"), memory("b")))
    point = SyncPoint(space, Lineage("id-1", 2, 5), 7, "3:abc")
    here, there = FileSyncBase(layout, "a" * 64), FileSyncBase(layout, "b" * 64)
    assert (here.load("main", "id-1"), here.has_other("main", "id-1")) == (None, False)
    here.save(point)
    assert here.load("main", "id-1") == there.load("main", "id-1") == point
    assert here.load("main", "id-2") is None
    assert (here.has_other("main", "id-2"), there.has_other("main", "id-2")) == (True, False)
    erase_bases(layout, "main", {"mem_a"})
    left = here.load("main", "id-1")
    assert left is not None
    assert ([m.id for m in left.space.objects], left.lineage, left.head) == (["mem_b"], point.lineage, "3:abc")
    (file,) = (tmp_path / ".memory").rglob("sync/main/*.json")
    file.write_bytes(file.read_bytes().replace(b"notes/b", b"notes/c"))
    assert here.load("main", "id-1") is None
    erase_bases(layout, "main", {"mem_a"})
    assert not file.exists()
