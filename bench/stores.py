"""Stores full of generated memories, made once for a size and used again."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from objects import lines
from processes import memcli, run

from memcli.store.layout import FOLDER


def parse_sizes(text: str) -> list[int]:
    """`1k,10k` as numbers."""
    return [int(part.strip().lower().replace("k", "000")) for part in text.split(",")]


def size_name(size: int) -> str:
    return f"{size // 1000}k" if size % 1000 == 0 else str(size)


def store(work: str, size: int, *, has_vectors: bool = False) -> str:
    """The folder with a store of `size` memories, its index up to date."""
    root = os.path.join(work, f"{size}{'-vectors' if has_vectors else ''}")
    done = os.path.join(root, "complete")
    if not os.path.exists(done):
        os.makedirs(root, exist_ok=True)
        run([memcli(), "init", "--root", root])
        run([memcli(), "remember", "--batch", batch(work, size), "--quiet", "--root", root], MEMCLI_EMBEDDER="off")
        run([memcli(), "recall", "anything", "--quiet", "--no-global", "--root", root], MEMCLI_EMBEDDER="off")
        if has_vectors:
            run([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "fill_vectors.py"), root])
        with open(done, "w", encoding="utf-8"):
            pass
    return root


def batch(work: str, size: int) -> str:
    """The file of `size` memories that `memcli remember --batch` takes."""
    path = os.path.join(work, f"{size}.jsonl")
    if not os.path.exists(path):
        os.makedirs(work, exist_ok=True)
        with open(f"{path}.part", "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines(size))
        os.replace(f"{path}.part", path)
    return path


def space_file(root: str, space: str = "main") -> str:
    """The file of a space; a store of `store` has one space."""
    return os.path.join(root, FOLDER, "spaces", f"{space}.json")


@contextmanager
def work_folder(named: str | None) -> Iterator[str]:
    """The folder that was named, or one that is gone afterwards."""
    if named:
        yield os.path.abspath(named)
        return
    with TemporaryDirectory() as made:
        yield made
