"""Gives a store vectors at once, without embedding each text: enough to time a search. For bench/stores.py.

The values are those of a few real texts with noise on them; what they are decides no time, only how many there are.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
from itertools import islice

from objects import objects

from memcli.embed.onnx import OnnxEmbedder
from memcli.index.vectors import VectorFile
from memcli.store.layout import FOLDER, Layout

_REAL = 64
_NOISE = 8
_AT_ONCE = 5000


def main() -> None:
    """Fills the store below the folder that is named; its index must be there."""
    import numpy as np

    embedder = OnnxEmbedder()
    texts = [str(item["raw"]) for item in objects(_REAL)]
    real = np.array([np.frombuffer(vector, np.int8) for vector in embedder.embed(texts)], np.int16)
    cache = Layout(os.path.join(sys.argv[1], FOLDER)).cache("")
    with sqlite3.connect(os.path.join(cache, "main.index")) as connection:
        keys = iter([key for (key,) in connection.execute("SELECT key FROM passage UNION SELECT key FROM window")])
    vectors = VectorFile(cache, embedder.model, embedder.dimensions)
    while some := list(islice(keys, _AT_ONCE)):
        noise = [np.frombuffer(hashlib.shake_256(key).digest(embedder.dimensions), np.uint8) for key in some]
        near = real[[key[0] % _REAL for key in some]] + np.array(noise, np.int16) % (2 * _NOISE + 1) - _NOISE
        values = np.clip(near, -127, 127).astype(np.int8)
        vectors.add({key: value.tobytes() for key, value in zip(some, values, strict=True)})


if __name__ == "__main__":
    main()
