"""What reads text takes time in proportion to it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memcli.summarize import SUMMARIZERS, keyphrases, kinds, lexicon, patches, paths, sentences
from memcli.summarize.sentences import Sentence
from memcli.text.passages import read_blocks, read_sentences
from tests.conftest import slow_but
from tests.growth import SHAPES, grows_too_fast

_DESCRIBE = SUMMARIZERS["local"]
WORK: dict[str, Callable[[str], object]] = {
    "describe": lambda text: _DESCRIBE({"raw": text}),
    "describe lines": lambda text: _DESCRIBE({"raw": f"x\n{text}\ny"}),
    "kind_of": kinds.kind_of_look,
    "kind_of lines": lambda text: kinds.kind_of_look(f"x\n{text}\ny"),
    "is_diff": lambda text: kinds.is_diff(f"{text}\n+"),
    "blocks": lambda text: list(read_blocks(text)),
    "blocks of lines": lambda text: list(read_blocks(f"x\n{text}\ny")),
    "inline": sentences.inline,
    "sentences": lambda text: list(read_sentences(text)),
    "cue_of": lexicon.cue_of,
    "tokens": sentences.split_tokens,
    "path_words": sentences.path_words,
    "phrases": lambda text: keyphrases.extract([Sentence(text, "prose")]),
    "first_words": paths.first_words,
    "short_slug": paths.short_slug,
    "valid": paths.valid,
    "definitions": patches.read_code,
    "patches": lambda text: patches.read_patch(text, ""),
    "patch": lambda text: patches.read_patch(f"diff --git a/x b/x\n@@ -1 +1 @@\n{text}", ""),
}


@pytest.mark.parametrize("names", slow_but((("describe",),), [("describe",), tuple(WORK)]), ids=["whole", "each part"])
def test_work_is_in_proportion_to_the_text(names: tuple[str, ...]) -> None:
    assert [(name, shape) for name in names for shape in SHAPES if grows_too_fast(WORK[name], SHAPES[shape])] == []
