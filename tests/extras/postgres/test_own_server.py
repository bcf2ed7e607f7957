"""What happens to writes when the server restarts, runs out of disk or time, and how it is spoken to in secret."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from memcli.errors import MemcliError, StoreError
from memcli.extras.postgres.address import address_of
from memcli.extras.postgres.server import Server
from tests.cli.conftest import until
from tests.extras.postgres.conftest import store_on
from tests.extras.postgres.own_server import OwnServer, own_server
from tests.extras.postgres.proxy import Proxy, tls_before
from tests.extras.postgres.test_faults import paths, request

pytestmark = pytest.mark.slow
_FULL_DISK = 160 << 20


@pytest.fixture(scope="module")
def own() -> Iterator[OwnServer]:
    with own_server() as server:
        yield server


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_writers_wait_for_a_server_that_restarts(own: OwnServer, mode: str) -> None:
    own.restart()
    told: list[str] = []
    failed: list[MemcliError] = []
    is_over = threading.Event()

    def write(n: int) -> None:
        client = Server(address_of(own.url, f"restart_{mode}"), 20)
        k = 0
        while not is_over.is_set() and k < 2000:
            try:
                store_on(client).submit("main", request(f"w{n}-{k}"))
                told.append(f"notes/w{n}-{k}")
            except MemcliError as error:
                failed.append(error)
            k += 1
        client.close()

    threads = [threading.Thread(target=write, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    until(lambda: len(told) > 10)
    own.restart(mode)
    before = len(told)
    until(lambda: len(told) > before + 10)
    is_over.set()
    for thread in threads:
        thread.join()
    client = Server(address_of(own.url, f"restart_{mode}"), 5)
    found = paths(client)
    client.close()
    assert len(found) == len(set(found))
    assert set(told) <= set(found)
    assert failed == []


def test_a_statement_that_takes_too_long_is_one_line(own: OwnServer) -> None:
    own.restart()
    client = Server(address_of(own.url, "slow"), 3)
    store_on(client).submit("main", request("first"))
    client.close()
    hasty = Server(address_of(f"{own.url}&options=-c%20statement_timeout%3D150ms", "slow"), 3)
    with psycopg.connect(own.url) as other:
        other.execute("LOCK TABLE slow.memory")
        with pytest.raises(StoreError, match="the server stopped it") as caught:
            store_on(hasty).submit("main", request("x"))
    hasty.close()
    assert (caught.value.exit_code, caught.value.hint) == (8, "raise statement_timeout of the role")
    client = Server(address_of(own.url, "slow"), 3)
    assert paths(client) == ["notes/first"]
    client.close()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root mounts a disk that can be filled")
def test_a_full_disk_of_the_server_refuses_writes_and_loses_none() -> None:
    folder = Path(tempfile.mkdtemp(prefix="memcli-full-"))
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_FULL_DISK}", "tmpfs", folder], check=False).returncode:
        folder.rmdir()
        pytest.skip("this system mounts no tmpfs here")
    try:
        with own_server(folder) as server:
            _fill_and_free(server, folder / "ballast")
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
        folder.rmdir()


def _fill_and_free(own: OwnServer, ballast: Path) -> None:
    client = Server(address_of(own.url, "full"), 1)
    store = store_on(client)
    told = []
    store.submit("main", request("first"))
    with open(ballast, "wb") as file:
        room = os.statvfs(ballast)
        file.write(bytes(room.f_bavail * room.f_frsize - (1 << 20)))
    failed: list[MemcliError] = []
    for n in range(400):
        try:
            store.submit("main", request(f"n{n}-{'x' * 50_000}"[:40_000]))
            told.append(n)
        except MemcliError as error:
            failed.append(error)
            if len(failed) > 3:
                break
    assert failed, "the disk was not full"
    assert {error.exit_code for error in failed} == {8}
    assert all("\n" not in error.message for error in failed)
    ballast.unlink()
    client.close()
    try:
        own.control("status")
    except subprocess.CalledProcessError:  # it stopped, as it does where its log cannot be written
        own.control("start", "-l", os.devnull, "-o", f"-h '' -k {own.data}")
    again = Server(address_of(own.url, "full"), 20)
    store_on(again).submit("main", request("last"))
    found = paths(again)
    again.close()
    assert len(found) == len(set(found))
    assert {"notes/first", "notes/last"} <= set(found)
    assert len(found) >= len(told) + 2


def test_the_options_of_tls_are_honoured(postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, host in (("server", "localhost"), ("other", "elsewhere")):
        _make_certificate(tmp_path, name, host)
    server, other = tmp_path / "server.crt", tmp_path / "other.crt"
    plain = Proxy(postgres)
    with pytest.raises(StoreError, match="SSL") as caught:
        _stored(f"{plain.url}?sslmode=require")
    assert caught.value.hint == "check sslmode and sslrootcert in the URL"
    plain.close()
    with tls_before(postgres, server) as base:
        assert _stored(f"{base}?sslmode=verify-full&sslrootcert={server}")
        assert not _stored(f"{base}?sslmode=disable")
        with pytest.raises(StoreError, match="certificate verify failed"):
            _stored(f"{base}?sslmode=verify-full&sslrootcert={other}")
        with pytest.raises(StoreError, match="does not match host name"):
            _stored(f"{base.replace('localhost', '127.0.0.1')}?sslmode=verify-full&sslrootcert={server}")
        monkeypatch.setenv("PGSSLMODE", "verify-full")
        monkeypatch.setenv("PGSSLROOTCERT", str(other))
        with pytest.raises(StoreError, match="certificate verify failed"):
            _stored(base)


def _make_certificate(folder: Path, name: str, host: str) -> None:
    args = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={host}"]
    files = ["-keyout", str(folder / f"{name}.key"), "-out", str(folder / f"{name}.crt")]
    try:
        subprocess.run(
            ["openssl", *args, "-addext", f"subjectAltName=DNS:{host}", *files], check=True, capture_output=True
        )
    except FileNotFoundError:
        pytest.skip("no openssl to make a certificate with")


def _stored(url: str) -> bool:
    """Stores by this address; whether it was done in secret."""
    client = Server(address_of(url, "tls"), 2)
    try:
        store_on(client).submit("main", request("x"))
        with client.connected("look") as connection:
            return bool(connection.pgconn.ssl_in_use)
    finally:
        client.close()
