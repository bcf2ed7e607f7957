"""A proxy before a PostgreSQL server that cuts connections where a test wants it."""

from __future__ import annotations

import select
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict

_SSL_REQUEST = bytes.fromhex("0000000804d2162f")


class Proxy:
    """Forwards what clients send to the server of `url` and back, in parts as they come.

    `cut_at`: after so many parts, in both directions together, the connection at work is cut, once; with `is_final`, no
    other one is let in afterwards. After `silent_at` parts nothing is forwarded any more, and every connection stays open.
    `parts` counts what was forwarded.
    """

    def __init__(self, url: str) -> None:
        self._target = conninfo_to_dict(url)
        self._url = url
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.parts = 0
        self.cut_at = self.silent_at = -1
        self.is_final = False
        self._is_closed = False
        self._mutex = threading.Lock()
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """Where clients connect."""
        user, database = self._target.get("user", "postgres"), self._target.get("dbname", "postgres")
        password = self._target.get("password")
        return f"postgresql://{user}{f':{password}' if password else ''}@127.0.0.1:{self.port}/{database}"

    def close(self) -> None:
        """Lets nobody in any more, and cuts all connections."""
        self._is_closed = True
        self._listener.close()
        self.cut()

    def cut(self) -> None:
        """Cuts all connections."""
        with self._mutex:
            found, self._open = self._open, []
        for one in found:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        while not self._is_closed:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.is_final and 0 <= self.cut_at <= self.parts:
                client.close()
                continue
            server = _connected(self._url)
            with self._mutex:
                self._open += [client, server]
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self._forward, args=(source, target), daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while part := source.recv(1 << 16):
                if 0 <= self.silent_at <= self.parts:
                    continue
                with self._mutex:
                    self.parts += 1
                    is_over = self.parts == self.cut_at
                if is_over:
                    self.cut()
                    return
                target.sendall(part)
        self.cut_pair(source, target)

    def cut_pair(self, *pair: socket.socket) -> None:
        """Cuts one connection."""
        for one in pair:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


@contextmanager
def tls_before(url: str, certificate: Path) -> Iterator[str]:
    """The URL of a server of TLS with this certificate, its key beside it, which hands on to the server of `url`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            with suppress(OSError), client:  # a client may not accept the certificate
                _hand_on(client, context, url)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    given = conninfo_to_dict(url)
    user, database = given.get("user", "postgres"), given.get("dbname", "postgres")
    try:
        yield f"postgresql://{user}@localhost:{listener.getsockname()[1]}/{database}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def _hand_on(client: socket.socket, context: ssl.SSLContext, url: str) -> None:
    """Hands on one connection to its end."""
    is_tls = client.recv(8, socket.MSG_PEEK) == _SSL_REQUEST
    if is_tls:
        client.recv(8)
        client.sendall(b"S")
    with _connected(url) as server, context.wrap_socket(client, server_side=True) if is_tls else client as front:
        while True:
            pending = isinstance(front, ssl.SSLSocket) and front.pending()
            for source in [front] if pending else select.select([front, server], [], [])[0]:
                part = source.recv(1 << 16)
                if not part:
                    return
                (server if source is front else front).sendall(part)


def _connected(url: str) -> socket.socket:
    host, port = _place(url)
    if port is not None:
        return socket.create_connection((host, port))
    server = socket.socket(socket.AF_UNIX)
    server.connect(host)
    return server


def _place(url: str) -> tuple[str, int | None]:
    """The host and port of a server, or its socket."""
    given = conninfo_to_dict(url)
    host, port = str(given.get("host") or "127.0.0.1"), int(given.get("port") or 5432)
    return (f"{host}/.s.PGSQL.{port}", None) if host.startswith("/") else (host, port)
