"""Clones that sync with a server that is wrong in every way, against a model of plain values: nothing acknowledged is lost.

Random steps: work in three clones, syncs, and a server that is wiped, goes back to a backup, drops or alters what is
written, loses or changes rows past its log, gets a forged line, is held up, loses connections; clients are killed.
MEMCLI_SYNC says how many seeds are tried, MEMCLI_SYNC_STEPS how many steps each takes.
"""

from __future__ import annotations

import os
import random  # noqa: TID251 - drawn from a seed
import re
import signal
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from memcli.app.workspace import load_space
from memcli.codec.canonical import encode
from memcli.codec.space import encode_memory
from memcli.errors import CorruptError, MemcliError, NotFoundError, RefusedError
from memcli.extras.postgres.opening import close_servers
from memcli.extras.postgres.snapshot import memory_of
from memcli.model.memory import Memory
from memcli.model.names import text_hash
from memcli.record import replace
from tests.conftest import open_at
from tests.extras.postgres.proxy import Proxy
from tests.extras.postgres.test_sync import Served
from tests.servers import new_schema

SEEDS = int(os.environ.get("MEMCLI_SYNC", "1"))
STEPS = int(os.environ.get("MEMCLI_SYNC_STEPS", "30"))
NAMES = ("a", "b", "c")
_LIE = """CREATE FUNCTION lie() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {} END $$;
    CREATE TRIGGER lie BEFORE INSERT OR UPDATE OR DELETE ON memory FOR EACH ROW EXECUTE FUNCTION lie()"""
_ALTER = """IF tg_op = 'DELETE' THEN RETURN old; END IF;
    new.body := convert_to(replace(convert_from(new.body, 'utf8'), '"fact"', '"guide"'), 'utf8'); RETURN new;"""
_FORGED = """convert_from(line, 'utf8') LIKE '%"user":"eve"%'"""
_TEXT = re.compile(rb"Text \d+ of [abc]\.")
_STEPS = {
    "write": 30, "purge": 6, "sync_plain": 30, "sync_cut": 4, "sync_killed": 4, "back_up": 4, "restore": 3, "wipe": 1,
    "lose_rows": 2, "change_rows": 2, "forge_purge": 1, "drop_writes": 2, "alter_writes": 2, "heal": 8,
}  # fmt: skip


class World:
    """The clones, the server, and the model: which texts users have not taken back."""

    def __init__(self, folder: Path, url: str, schema: str, seed: int) -> None:
        self.random = random.Random(seed)
        self.team = Served(folder, url, schema, NAMES)
        self.kept = f"{schema}_kept"
        self.owed: set[bytes] = set()  # acknowledged, and neither edited nor deleted by a user since
        self.purged: dict[str, str] = {}  # ids that a user erased, with the time
        self.erased: set[bytes] = set()  # the texts of these
        self.counts: Counter[str] = Counter()
        if seed % 2:
            self.team.memory("a").space_policy("main", set={"grace_days": 0})
            for name in NAMES:
                self.sync(name)

    def run(self, steps: int) -> None:
        for _ in range(steps):
            (step,) = self.random.choices(list(_STEPS), list(_STEPS.values()))
            self.take(step, self.random.choice(NAMES))
        self.settle()

    def take(self, step: str, name: str) -> None:
        before = {name: self.memories(name) for name in NAMES}
        self.counts[step] += 1
        getattr(self, step)(name)
        for one in NAMES:
            self.check(one, before[one], step)

    def memories(self, name: str) -> list[Memory]:
        return list(load_space(open_at(self.team.folder / name).store, "main").objects)

    def check(self, name: str, before: list[Memory], step: str) -> None:
        """What a clone had it has, in its space or in its trash."""
        has = {text for memory in self.memories(name) for text in texts(memory)}
        trash = open_at(self.team.folder / name).trash.runs()
        has |= {text for run in trash for memory in run.space.objects for text in texts(memory)}
        for memory in before:
            self.owed -= set(texts(memory, self.purged.get(memory.id, ""))) - has
        lost = {text for memory in before for text in texts(memory)} & self.owed - has
        assert not lost, f"{name} lost {lost} by {step}"

    def settle(self) -> None:
        """With an honest server all come to the same, and every text that is owed is in use."""
        self.take("heal", "a")
        for name in NAMES * 3:
            self.take("sync_surely", name)
        for name in NAMES:
            assert self.team.bytes(name) == self.team.bytes("a")
            has = {text for memory in self.memories(name) for text in texts(memory)}
            assert self.owed <= has, f"{name} lacks {self.owed - has}"
            assert not self.erased & has, f"{name} has {self.erased & has}, which was purged"
            assert self.team.memory(name).check_store()["findings"] == []

    def sync(self, name: str, **options: bool) -> None:
        """A sync that ends well left the same on both sides."""
        self.team.memory(name).store_sync(with_=self.team.there, **options)
        there = {bytes(body) for (body,) in self.team.sql("SELECT body FROM memory")}  # type: ignore[call-overload]
        assert there == {encode_memory(memory) for memory in self.memories(name)}
        self.counts["synced"] += 1


class Steps(World):
    """The steps, each by one clone or to the server."""

    def sync_surely(self, name: str) -> None:
        try:
            self.sync(name, accept_deletions=True)
        except (RefusedError, CorruptError):
            self.sync(name, as_new=True, accept_deletions=True)

    def write(self, name: str) -> None:
        path = f"notes/n{self.random.randrange(12)}"
        text = f"Text {self.team.seconds} of {name}."
        known = [memory for memory in self.memories(name) if memory.path == path]
        if known:
            self.team.memory(name).edit(path, set=[f"raw={text}"])
            self.owed.discard(known[0].raw.encode())
        else:
            self.team.memory(name).remember(text, path=path, no_check=True)
        self.owed.add(text.encode())

    def purge(self, name: str) -> None:
        known = self.memories(name)
        if known:
            memory, now = self.random.choice(known), self.random.random() < 0.5
            grace = open_at(self.team.folder / name).store.policy("main").grace_days
            self.team.memory(name).forget(memory.id, purge=True, now=now, yes=True)
            self.owed -= set(texts(memory))
            if now or not grace:
                self.purged[memory.id] = self.team.now
                self.erased |= set(texts(memory))

    def sync_plain(self, name: str, **options: bool) -> None:
        try:
            self.sync(name, **options)
        except NotFoundError:
            self.counts["nothing there"] += 1
        except MemcliError as error:
            self.counts[error.code] += 1
            if isinstance(error, RefusedError | CorruptError) and self.random.random() < 0.6:
                with suppress(MemcliError):
                    self.sync(name, as_new=True)

    def sync_cut(self, name: str) -> None:
        proxy = Proxy(self.team.url)
        proxy.cut_at = self.random.randrange(1, 80)
        there, self.team.there = self.team.there, f"{proxy.url}?schema={self.team.schema}"
        try:
            self.sync_plain(name, accept_deletions=self.random.random() < 0.5)
        finally:
            self.team.there = there
            close_servers()
            proxy.close()

    def sync_killed(self, name: str) -> None:
        """Kills a client, half of the time one that is held up by another writer."""
        close_servers()
        with psycopg.connect(self.team.url, options=f"-csearch_path={self.team.schema}") as other:
            if self.random.random() < 0.5:
                with suppress(psycopg.errors.UndefinedFunction):  # the server was wiped
                    other.execute("SELECT seize('main', 'memories', true)")
            child = os.fork()
            if not child:
                with suppress(BaseException):
                    self.team.sync(name, accept_deletions=True)
                os._exit(0)
            time.sleep(self.random.random() * 0.3)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        self.team.seconds += 1

    def back_up(self, _: str) -> None:
        self.team.back_up(self.kept)

    def restore(self, _: str) -> None:
        if self.team.tables(self.team.schema):
            self.team.restore(self.kept)

    def wipe(self, _: str) -> None:
        self.team.sql(f"DROP SCHEMA IF EXISTS {self.team.schema} CASCADE")

    def lose_rows(self, _: str) -> None:
        self.lie(f"DELETE FROM memory WHERE ascii(substr(hash, 1)) % 3 = {self.random.randrange(3)}")

    def change_rows(self, _: str) -> None:
        """Puts other texts into the place of some, as well-formed as memcli writes them."""
        with suppress(psycopg.Error):
            for name, body in self.team.sql("SELECT id, body FROM memory ORDER BY id"):
                if self.random.random() < 0.3:
                    known = memory_of(bytes(body), "the test")  # type: ignore[call-overload]
                    raw = known.raw.replace("Text", "False")
                    other = replace(known, raw=raw, metadata={**known.metadata, "hash": text_hash(raw, b"")})
                    self.lie(f"UPDATE memory SET body = '\\x{encode_memory(other).hex()}' WHERE id = '{name}'")

    def forge_purge(self, _: str) -> None:
        with suppress(psycopg.Error, ValueError):
            self.team.forge(is_sealed=self.random.random() < 0.5, time="9999-12-31T23:59:59Z")

    def drop_writes(self, _: str) -> None:
        self.lie(_LIE.format("RETURN NULL;"))

    def alter_writes(self, _: str) -> None:
        self.lie(_LIE.format(_ALTER))

    def heal(self, _: str) -> None:
        """Makes the server honest from here on; what it has lost stays lost, and its log ends where it was forged."""
        self.lie("DROP FUNCTION IF EXISTS lie CASCADE")
        self.lie(f"DELETE FROM audit WHERE n >= (SELECT min(n) FROM audit WHERE {_FORGED})")

    def lie(self, statement: str) -> None:
        with suppress(psycopg.Error):
            self.team.sql(statement)


def texts(memory: Memory, made_until: str = "9999") -> list[bytes]:
    """The texts of the model that a memory has, or notes as given up in a conflict, if that was made until then."""
    notes = memory.metadata.get("conflicts", [])
    if memory.created_at <= made_until:
        return _TEXT.findall(encode([memory.raw, notes]))
    return _TEXT.findall(encode([note for note in notes if note.get("created_at", "9999") <= made_until]))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_nothing_acknowledged_is_lost(postgres: str, tmp_path: Path, seed: int) -> None:
    with new_schema(postgres) as schema:
        world = Steps(tmp_path, postgres, schema, seed)
        try:
            world.run(STEPS)
            print(f"seed {seed}: {dict(sorted(world.counts.items()))}, {len(world.owed)} texts owed, 0 lost")
        finally:
            world.team.sql(f"DROP SCHEMA IF EXISTS {world.kept} CASCADE")
