"""What writers hand to whoever holds the lock, and what is left when that one dies."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from memcli.app.remember import Outcome, fold, prepare, remember, request_of
from memcli.app.workspace import Workspace
from memcli.codec.space import encode_space
from memcli.errors import LockedError, NotFoundError, StoreError
from memcli.model.memory import Json
from memcli.model.space import Change
from memcli.ports import Shelf
from memcli.store import file as file_module
from memcli.store.file import FileStore
from memcli.store.journal import Journal, Mail
from memcli.store.layout import Layout
from memcli.store.lock import WAIT_SECONDS, locked
from tests.conftest import NOW, memory, raising, rewrite


def store_of(
    workspace: Workspace, use: Callable[[Shelf, Json], tuple[Change, Json]] = fold, wait: float = WAIT_SECONDS
) -> FileStore:
    return FileStore(Layout(workspace.root), use, wait=wait)


def journal_of(workspace: Workspace) -> Journal:
    return Journal(os.path.join(workspace.root, "local", "journal", "main"), os.path.join(workspace.root, "local", "q"))


def lock_of(workspace: Workspace) -> str:
    os.makedirs(os.path.join(workspace.root, "local"), exist_ok=True)
    return Layout(workspace.root).lock("main")


def files(workspace: Workspace) -> list[str]:
    return sorted(os.listdir(os.path.join(workspace.root, "local", "journal", "main")))


def request(workspace: Workspace, text: str) -> Json:
    return request_of(workspace, [prepare(workspace, {"raw": text})])


def texts(workspace: Workspace) -> list[str]:
    return sorted(m.raw for m in workspace.store.open("main").load().objects)


def while_held(workspace: Workspace, work: Callable[[int], None], writers: int) -> None:
    """Runs `work` in threads that find the lock taken, and lets go of it once all their requests are placed."""
    threads = [threading.Thread(target=work, args=(n,)) for n in range(writers)]
    with locked(lock_of(workspace), "the space"):
        for thread in threads:
            thread.start()
        folder = Path(workspace.root, "local", "journal", "main")
        while not folder.exists() or len(list(folder.glob("*.request"))) < writers:
            assert any(thread.is_alive() for thread in threads)
    for thread in threads:
        thread.join()


def test_one_write_serves_all_who_wait(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(workspace, [prepare(workspace, {"raw": "The first."})])
    writes: list[str] = []
    write = file_module.write_file

    def counted(path: str, *args: object, **options: object) -> object:
        writes.append(path)
        return write(path, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(file_module, "write_file", counted)
    outcomes: dict[int, Outcome] = {}

    def work(n: int) -> None:
        outcomes[n] = remember(workspace, [prepare(workspace, {"raw": f"Writer {n} speaks."})]).outcomes[0]

    while_held(workspace, work, 6)
    assert {o.status for o in outcomes.values()} == {"created"}
    assert texts(workspace) == ["The first.", *(f"Writer {n} speaks." for n in range(6))]
    assert len(writes) <= 2  # whoever came first may have been alone
    assert files(workspace) == []
    space = workspace.store.open("main").load()
    assert Path(workspace.root, "spaces", "main.json").read_bytes() == encode_space(space)


def test_each_gets_its_own_answer_and_its_own_error(workspace: Workspace) -> None:
    remember(workspace, [prepare(workspace, {"raw": "Known."})])
    answers: dict[int, object] = {}

    def work(n: int) -> None:
        candidate = prepare(workspace, {"raw": "Known." if n == 0 else f"New {n}."})
        try:
            answers[n] = remember(workspace, [candidate], "mem_nobody" if n == 1 else None).outcomes[0].status
        except NotFoundError as error:
            answers[n] = error.message

    while_held(workspace, work, 3)
    assert answers == {0: "deduplicated", 1: "no memory 'mem_nobody' in space 'main'", 2: "created"}
    assert texts(workspace) == ["Known.", "New 2."]


def test_what_a_dead_writer_wanted_is_folded_in(workspace: Workspace) -> None:
    journal_of(workspace).place(request(workspace, "From one that died."))
    rewrite(workspace.store, lambda space: space.put([memory("a", raw="Mine.")], NOW))
    assert texts(workspace) == ["From one that died.", "Mine."]
    assert files(workspace) == []


def test_after_a_crash_behind_the_write_nothing_is_done_twice(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = journal_of(workspace).place(request(workspace, "Once."))

    def crash(self: Journal, answers: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Journal, "answer", crash)
    with pytest.raises(KeyboardInterrupt):
        rewrite(workspace.store, lambda space: space.put([memory("a", raw="Mine.")], NOW))
    monkeypatch.undo()
    assert files(workspace)[-1] == "fold"
    rewrite(workspace.store, lambda space: space.put([memory("b", raw="Next.")], NOW))
    assert mail.answered()
    assert mail.answer()["answer"][0]["status"] == "created"
    once = next(m for m in workspace.store.open("main").load().objects if m.raw == "Once.")
    assert once.strength == 1
    assert files(workspace) == []


def test_after_a_crash_before_the_write_it_is_done_by_the_next(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = journal_of(workspace).place(request(workspace, "Once."))

    def crash(*args: object, **options: object) -> None:
        options["before_rename"](os.stat("/"))  # type: ignore[operator]
        raise KeyboardInterrupt

    monkeypatch.setattr(file_module, "write_file", crash)
    with pytest.raises(KeyboardInterrupt):
        rewrite(workspace.store, lambda space: space.put([memory("a", raw="Mine.")], NOW))
    monkeypatch.undo()
    assert texts(workspace) == []
    assert not mail.answered()
    rewrite(workspace.store, lambda space: space.put([memory("b", raw="Next.")], NOW))
    assert texts(workspace) == ["Next.", "Once."]
    assert mail.answered()


def test_an_answer_that_cannot_be_read_is_no_clean_failure(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(workspace, [prepare(workspace, {"raw": "Known."})])
    errors: list[str] = []

    def fail(_: Mail) -> Json:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Mail, "answer", fail)

    def work(n: int) -> None:
        try:
            remember(workspace, [prepare(workspace, {"raw": f"Writer {n} speaks."})])
        except StoreError as error:
            errors.append(error.message)

    while_held(workspace, work, 3)
    assert len(texts(workspace)) == 4
    assert errors
    assert all("cannot tell whether space 'main' has the change: cannot read the answer" in text for text in errors)


def test_an_answer_that_cannot_be_looked_at_is_not_there(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    mail = journal_of(workspace).place(request(workspace, "Once."))
    rewrite(workspace.store, lambda space: space)
    assert mail.answered()
    monkeypatch.setattr("memcli.store.journal.read_at", raising(OSError(5, "Input/output error")))
    assert not mail.answered()


@pytest.mark.parametrize("damage", [b"", b'{"now": "20', b"\x00\xff\n", b"[]\n"])
def test_a_damaged_request_is_put_aside(workspace: Workspace, damage: bytes) -> None:
    folder = Path(workspace.root, "local", "journal", "main")
    folder.mkdir(parents=True)
    (folder / "1-1.request").write_bytes(damage)
    (folder / ".2-2.request.tmp-").write_bytes(b"half")
    rewrite(workspace.store, lambda space: space.put([memory("a", raw="Mine.")], NOW))
    assert texts(workspace) == ["Mine."]
    assert files(workspace) == []
    assert [f.read_bytes() for f in Path(workspace.root, "local", "quarantine").iterdir()] == [damage]


def test_a_request_that_is_not_one_answers_with_an_error_and_hurts_nobody(workspace: Workspace) -> None:
    mail = journal_of(workspace).place({"strange": True})
    rewrite(workspace.store, lambda space: space.put([memory("a", raw="Mine.")], NOW))
    assert texts(workspace) == ["Mine."]
    assert "error" in mail.answer()
    assert files(workspace) == []


def test_who_waits_in_vain_takes_its_request_back(workspace: Workspace) -> None:
    with locked(lock_of(workspace), "it"):
        with pytest.raises(LockedError):
            store_of(workspace, wait=0.02).submit("main", request(workspace, "Too late."))
        assert files(workspace) == []


def test_when_somebody_is_at_it_the_outcome_is_unknown(workspace: Workspace) -> None:
    store, taken = store_of(workspace, wait=2), threading.Event()

    def take() -> None:
        while not (found := list(Path(workspace.root, "local").glob("journal/main/*.request"))):
            pass
        found[0].rename(found[0].with_suffix(".taken"))
        taken.set()

    thread = threading.Thread(target=take)
    with locked(lock_of(workspace), "it"):
        thread.start()
        with pytest.raises(StoreError, match="cannot tell whether"):
            store.submit("main", request(workspace, "Perhaps."))
    thread.join()
    assert taken.is_set()
    rewrite(workspace.store, lambda space: space.put([memory("a", raw="Mine.")], NOW))
    assert texts(workspace) == ["Mine.", "Perhaps."]


def test_answers_are_json(workspace: Workspace) -> None:
    mail = journal_of(workspace).place(request(workspace, "Once."))
    workspace.store.update("main", lambda shelf: Change())
    answer = json.loads(json.dumps(mail.answer()))
    assert answer["touched"][0][2] == ""
    assert len(answer["touched"][0][3]) == 64
