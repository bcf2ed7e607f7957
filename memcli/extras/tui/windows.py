"""The windows of the main screen: what each is made of, read in the background, and what comes of its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from memcli.app.inbox import waiting
from memcli.app.timeline import Timeline
from memcli.errors import MemcliError
from memcli.extras.tui.changes import Editor
from memcli.extras.tui.comparison import Comparison
from memcli.extras.tui.detail import Neighbour, Neighbours, Past, read_links, read_past
from memcli.extras.tui.review import Inbox
from memcli.extras.tui.status import Status
from memcli.extras.tui.view import Rows
from memcli.graph.elements import Graph
from memcli.model.memory import Memory
from memcli.render.clean import clean_line

if TYPE_CHECKING:
    from memcli.extras.tui.main_screen import MainScreen

T = TypeVar("T")


class Windows:
    """Opens windows over a screen, and keeps which memory is marked to be compared."""

    def __init__(self, desk: MainScreen) -> None:
        self._desk = desk
        self._marked = ""

    def history(self, memory: Memory) -> None:
        """What commits and the audit log say of a memory."""
        desk = self._desk

        def show(past: Timeline) -> None:
            desk.app.push_screen(Past(desk.view.catalogue.show(memory), past))

        self._read("reading the history", partial(read_past, desk.workspace, memory), show)

    def inbox(self, editor: Editor | None) -> None:
        """What is proposed for the space."""
        desk = self._desk

        def show(proposed: Sequence[Memory]) -> None:
            desk.app.push_screen(Inbox(desk, editor, proposed))

        self._read("reading the inbox", partial(waiting, desk.workspace), show)

    def links(self, memory: Memory) -> None:
        """What a memory links to, and what links to it; the screen goes to what is chosen."""
        desk = self._desk

        def answered(place: Neighbour | None) -> None:
            if place is not None:
                desk.view.remember(memory)
                desk.visit(place.space, place.memory.id)

        def show(graph: Graph) -> None:
            desk.app.push_screen(Neighbours(desk.workspace, memory, graph, desk.view.catalogue), answered)

        self._read("reading the links", partial(read_links, desk.workspace), show)

    def compare(self, memory: Memory) -> None:
        """Marks a memory, or compares it with the one that is marked."""
        desk = self._desk
        marked = desk.view.catalogue.find(self._marked)
        if marked is None:
            self._mark(memory.id)
            desk.say(f"marked {clean_line(memory.path)}; press c on another memory to compare them")
        elif marked.id == memory.id:
            self.unmark()
            desk.say("no memory is marked")
        else:
            self.unmark()
            left, right = (desk.view.catalogue.show(one) for one in (marked, memory))
            desk.app.push_screen(Comparison(left, right, (clean_line(left.id), clean_line(right.id))))

    def unmark(self) -> None:
        """Marks no memory."""
        self._mark("")

    def _mark(self, name: str) -> None:
        self._marked = name
        self._desk.query_one(Rows).mark(name)

    def _read(self, what: str, read: Callable[[], T], show: Callable[[T], object]) -> None:
        self._desk.run_worker(self._reading(what, read, show), exclusive=True, group="window")

    async def _reading(self, what: str, read: Callable[[], T], show: Callable[[T], object]) -> None:
        """Reads in the background, and shows what was read, unless another space is open by then."""
        desk, workspace = self._desk, self._desk.workspace
        desk.query_one(Status).work(what)
        try:
            found = await asyncio.to_thread(read)
        except (MemcliError, OSError) as error:
            desk.fail(error)
            return
        finally:
            desk.query_one(Status).rest()
        if workspace is desk.workspace:
            show(found)
