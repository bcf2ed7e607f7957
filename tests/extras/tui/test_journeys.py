"""Ways through the browser: which keys are pressed, and what is to be read after them."""

import pytest
from rich.cells import cell_len

from memcli.app.workspace import Workspace
from memcli.extras.tui.app import Browser
from memcli.model.memory import Memory
from tests.extras.tui.stage import FEW, Fake, memory, opened, put

pytestmark = pytest.mark.anyio
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
NO_LINKS = "No link leads to this memory or from it."
WRONG_LINKS = (7, {"to": 5}, {"to": "gone:mem_x", "relation": "relates_to"})  # as a hand may write them


def link(to: str, relation: str) -> dict[str, str]:
    return {"to": to, "relation": relation}


TIED = (
    memory("a/start", links=(link("mem_b_next", "depends_on"), link("notes:mem_n_study", "derived_from"))),
    memory("b/next", links=(link("mem_c_far", "relates_to"),)),
    memory("c/far", kind="decision", pinned=True),
    memory("d/alone"),
    memory("e/before", links=(link("mem_a_start", "supersedes"),)),
)
"""A chain of links, one of them into another space."""
DISPUTED = (
    memory("db/pool", raw="The pool holds 20.", links=(link("mem_db_size", "contradicts"), link("mem_db_old", "contradicts"))),
    memory("db/size", raw="The pool holds 50.", links=(link("mem_db_pool", "contradicts"),)),
    memory("db/old", raw="The pool holds 5.", superseded_by="mem_db_size"),
)  # fmt: skip
NEAR, OTHERS = "-> depends on  b/next  fact\n", "-> derived from  notes:n/study  fact\n<- supersedes  e/before  fact\n"
JOURNEYS: dict[str, tuple[tuple[Memory, ...], tuple[tuple[str, ...], ...]]] = {
    "links are followed and left again": (FEW, (
        ("", "1  <> relates to  ops/deploy"),
        ("slash a r g o n down 1", "at: ops/deploy", "1  <> relates to  auth/passwords", "!argon"),
        ("b", "at: auth/passwords"), ("7", "status: link 7 leads outside the memories shown here"),
    )),
    "the filter narrows as one types, and escape clears it": (FEW, (
        ("slash r o t a t e", "names: auth tokens", "status: 1 of 3 memories; Enter searches, Esc clears"),
        ("space =zzz", "names: ", "No memory contains"),
        ("escape", "names: auth passwords tokens ops deploy", "!rotate zzz", "focus: Rows"),
    )),
    "another space is opened": (FEW, (("slash =rotate escape s down enter", "names: n study", "space: notes"),)),
    "two memories are marked and compared": (FEW, (
        ("c", "status: marked auth/passwords; press c on another memory to compare them", "│=     passwords"),
        ("c", "status: no memory is marked"), ("c down c", "top: Comparison", "auth/passwords", "auth/tokens", " ≠ "),
        ("v", "- auth/passwords"), ("escape", "!│="),
    )),
    "what contradicts a memory stands at its top, and once": (DISPUTED, (
        ("", "\n\nContradicted by\n 1  db/size: The pool holds 50.\n\n"),
        ("1", "at: db/size", "!contradicts  db/pool\n 2"),
    )),
    "a secret that a hand put into the file is not shown": (
        (memory("a/b", raw=f"The token is {SECRET}."), memory("a/c")),
        (("", "The token is", f"!{SECRET}"), ("c down c", "The token is", f"!{SECRET}"), ("escape up up", f"!{SECRET}")),
    ),
    "the neighbourhood of a memory": (TIED, (
        ("", "notes:mem_n_study"),
        ("L", "top: Neighbours", f"\n3 memories 1 step away; there are more beyond\n{NEAR}{OTHERS}"),
        ("plus", f"\n4 memories up to 2 steps away\n{NEAR}  <> relates to  c/far [*]  decision\n"),
        ("minus minus l j", "Text of c/far."), ("enter", "top: MainScreen", "at: c/far"), ("b", "at: a/start"),
    )),
}  # fmt: skip
SLOW: dict[str, tuple[tuple[Memory, ...], tuple[tuple[str, ...], ...]]] = {
    "a heading shows what lies below, and closes": (FEW, (
        ("up", "auth/\n2 memories: fact 1, decision 1"), ("left", "names: auth ops deploy"),
        ("enter down down left", "names: auth passwords tokens ops deploy"), ("left", "names: auth ops deploy"),
        ("x", "names: auth ops"),
        ("p t f y", "top: MainScreen"),  # keys of a memory mean nothing on a heading
    )),
    "an empty space says how to begin": ((), (
        ("", "No memories yet."), ("down up end enter left right p t f e u y x a 1 b slash =word enter", "names: "),
    )),
    "what was forgotten is shown with its mark, and brought back": (
        (memory("a/new"), memory("a/old", active=False)),
        (("", "status: 1 memory, 0 pinned; 1 forgotten or superseded hidden, a shows them"), ("a", "│-     old"),
         ("home down down u", "status: restored a/old", "!· forgotten", "!│-     old")),
    ),
    "the help opens from a window": (FEW, (("i question_mark", "top: Help"), ("G escape", "top: Inbox"))),
    "a link into another space is followed": (TIED, (
        ("L", "top: Neighbours"), ("j", "A comparison of engines."), ("enter", "at: n/study", "space: notes"),
        ("s enter s home enter", "space: main"), ("home down 2", "space: notes"),
    )),
    "a memory without links says so": ((memory("a/b", links=WRONG_LINKS), memory("d/alone")), (
        ("L", NO_LINKS), ("escape down down L", NO_LINKS), ("enter plus j", "top: Neighbours"),
    )),
}  # fmt: skip


@pytest.mark.parametrize("name", [*JOURNEYS, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
async def test_journeys(workspace: Workspace, name: str) -> None:
    memories, steps = (JOURNEYS | SLOW)[name]
    put(workspace, *memories)
    put(workspace.copy_with(space="notes"), memory("n/study", raw="A comparison of engines."))
    async with opened(Browser(workspace, editor=Fake().editor)) as ui:
        await ui.play(*steps)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(58, 20), (40, 12), (20, 8)])
async def test_narrow_screens_are_drawn(workspace: Workspace, size: tuple[int, int]) -> None:
    put(workspace, memory("a/b"), memory("a/c", raw="数据库" * 30))
    async with opened(Browser(workspace, editor=Fake().editor), size) as ui:
        for keys in ("", "i", "H", "n", "question_mark", "t", "f", "home down c down c"):
            await ui.play((keys,))
            assert (keys, ui.top is ui.main_screen) == (keys, not keys)
            assert (keys, len(ui.lines), {cell_len(line) for line in ui.lines}) == (keys, size[1], {size[0]})
            await ui.press("escape")
