"""A proxy before a PostgreSQL server that cuts connections where a test wants it."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

from psycopg.conninfo import conninfo_to_dict


class Proxy:
    """Forwards what clients send to the server of `url` and back, in parts as they come.

    `cut_at`: after so many parts, in both directions together, the connection at work is cut, once; with `is_final`, no
    other one is let in afterwards. `parts` counts what was forwarded.
    """

    def __init__(self, url: str) -> None:
        self._target = conninfo_to_dict(url)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.parts = 0
        self.cut_at = -1
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
            server = self._connect()
            with self._mutex:
                self._open += [client, server]
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self._forward, args=(source, target), daemon=True).start()

    def _connect(self) -> socket.socket:
        host, port = str(self._target.get("host", "127.0.0.1")), int(self._target.get("port") or 5432)
        if not host.startswith("/"):
            return socket.create_connection((host, port))
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{host}/.s.PGSQL.{port}")
        return server

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while part := source.recv(1 << 16):
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
