"""How fast memcli is, as ratios measured in one run: `python bench/speed.py`; see bench/README.md."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any

from calls import calls, starts
from large import browsed, costs, held, timed
from objects import objects, questions
from processes import PASS, Case, constant, memcli, run, seconds
from report import Row, elapsed, ms, over, section, table
from stores import batch, parse_sizes, size_name, space_file, store, work_folder

from memcli.record import replace

_HERE = os.path.dirname(os.path.abspath(__file__))
_SMALL = 1000
_MIDDLE = 10_000
_LARGE = 100_000
_WORDS_ONLY = {"MEMCLI_EMBEDDER": "off"}
_RECALL_TARGETS = {1000: "8 × / 2 ×", 10_000: "9 × / 2.5 ×", 100_000: "13 × / 7 ×"}
_TEXTS = 200
_ROUNDS = 3


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="Measures how fast memcli is.")
    parser.add_argument("--sizes", default="1k,10k,100k", type=parse_sizes, help="memories in a store [1k,10k,100k]")
    parser.add_argument("--runs", default=9, type=int, help="fresh processes for each median [9]")
    parser.add_argument("--work", metavar="DIR", help="keep the stores here, and use them again [a temporary folder]")
    parser.add_argument(
        "--large", nargs="?", type=parse_sizes, const=[_LARGE], metavar="SIZES",
        help="instead of all that: what commands take in a large store, their memory too [100k]",
    )  # fmt: skip
    options = parser.parse_args()
    with work_folder(options.work) as work:
        rows = [row for part in _parts(work, options) for row in part]
    cells = [(row.name, row.figure, row.target, row.detail) for row in rows]
    section("Speed", table(("", "measured", "must / aim", "of"), cells))


def _parts(work: str, options: argparse.Namespace) -> Iterable[Iterator[Row]]:
    if options.large:
        return chain.from_iterable(
            (timed(work, size, options.runs), held(work, size), browsed(work, size, _ROUNDS), costs(work, size))
            for size in options.large
        )
    return (
        commands(work, options.sizes, options.runs),
        embedding(work, options.sizes, options.runs),
        writing(work, options.runs),
        talking(work, options.runs),
        indexing(work, options.sizes),
        bulk(work),
        canonical(work, options.runs),
        together(work),
        vectors(),
        calls(work, _MIDDLE),
        starts(work, _MIDDLE, options.runs),
    )


def commands(work: str, sizes: Sequence[int], runs: int) -> Iterator[Row]:
    """Whole processes of `recall` without embedding and of `--help`, over the start of the interpreter."""
    asked = questions(runs + 1)
    recalls = {
        size: Case(f"recall {size}", _recall(store(work, size), asked), _WORDS_ONLY) for size in sizes
    }  # fmt: skip
    cases = [
        Case("pass", constant(*PASS), {}),
        Case("help", constant(memcli(), "--help"), {}),
        *recalls.values(),
        *([_prompt("prompt", store(work, _MIDDLE), asked, _WORDS_ONLY)] if _MIDDLE in sizes else []),
    ]
    took = seconds(cases, runs)
    yield Row("`memcli --help` over `python -c pass`", *over(took["help"], took["pass"]))
    for size, case in recalls.items():
        name = f"`recall`, no embedding, {size_name(size)}, over `python -c pass`"
        yield Row(name, *over(took[case.name], took["pass"], _RECALL_TARGETS.get(size, "")))
    if "prompt" in took:
        name = "prompt hook of an agent, no embedding, 10k, over `python -c pass`"
        yield Row(name, *over(took["prompt"], took["pass"], "12 × / 4 ×"))
    if {1000, 10_000, 100_000} <= recalls.keys():
        small, middle, large = (took[recalls[size].name] for size in (1000, 10_000, 100_000))
        yield Row(
            "growth of `recall` from 10k to 100k over that from 1k to 10k",
            f"{(large - middle) / max(middle - small, 1e-9):.1f} ×", "11 × / 11 ×",
            f"{ms(large - middle)} / {ms(middle - small)}",
        )  # fmt: skip


def embedding(work: str, sizes: Sequence[int], runs: int) -> Iterator[Row]:
    """A question that is new and one that was asked before, over onnxruntime started for one run."""
    # Never asked before, in this run of the benchmark or an earlier one.
    new = [f"{question} {os.getpid()}" for question in questions(runs + 1)]
    known = questions(1) * (runs + 1)
    bare = os.path.join(_HERE, "bare_onnx.py")
    roots = {size: store(work, size, has_vectors=True) for size in sizes}
    cases = [
        Case("pass", constant(*PASS), {}),
        Case("bare", constant(sys.executable, bare), {}),
        Case("defaults", constant(sys.executable, bare, "--defaults"), {}),
        *(Case(f"new {size}", _recall(root, new), {}) for size, root in roots.items()),
        *(Case(f"known {size}", _recall(root, known), {}) for size, root in roots.items()),
        *([_prompt("prompt", roots[_MIDDLE], new, {})] if _MIDDLE in roots else []),
    ]
    took = seconds(cases, runs)
    start = "(import onnxruntime + session + one run)"
    for size in sizes:
        name = f"`recall` cold with embedding, {size_name(size)}, over {start}"
        yield Row(name, *over(took[f"new {size}"], took["bare"], "1.4 × / 1.15 ×"))
    if "prompt" in took:
        yield Row(
            f"prompt hook of an agent with embedding, 10k, over {start}", *over(took["prompt"], took["bare"], "1.4 ×")
        )
    yield Row(f"{start}, default options, over that with the options of memcli", *over(took["defaults"], took["bare"]))
    for size in sizes:
        name = f"`recall`, the same question again, {size_name(size)}, over `python -c pass`"
        yield Row(name, *over(took[f"known {size}"], took["pass"]))


def writing(work: str, runs: int) -> Iterator[Row]:
    """`remember` as a whole process, over the interpreter and over a script that parses, sorts and dumps."""
    small, middle = store(work, _SMALL), store(work, _MIDDLE)
    copy = os.path.join(work, "rewritten.json")
    shutil.copyfile(space_file(middle), copy)

    def changed(n: int) -> None:
        run([*_remember(middle, f"change {os.getpid()}")(n), "--quiet"], **_WORDS_ONLY)

    asked = questions(runs + 1)
    cases = [
        Case("pass", constant(*PASS), {}),
        Case("small", _remember(small, f"text {os.getpid()}"), {}),
        Case("middle", _remember(middle, f"text {os.getpid()}"), {}),
        Case("rewrite", constant(sys.executable, os.path.join(_HERE, "bare_rewrite.py"), copy), {}),
        Case("current", _recall(middle, asked), _WORDS_ONLY, lambda _: _index(middle)),
        Case("behind", _recall(middle, asked), _WORDS_ONLY, changed),
    ]
    took = seconds(cases, runs)
    yield Row("`remember`, 1k, over `python -c pass`", *over(took["small"], took["pass"], "9 × / 4 ×"))
    yield Row("`remember`, 10k, over `python -c pass`", *over(took["middle"], took["pass"]))
    yield Row(
        "`remember`, 10k: how many times faster than parse-sort-dump",
        *over(took["rewrite"], took["middle"], "2 × / 5 ×"),
    )
    yield Row(
        "index brought up to date after one changed memory, 10k: what it adds to `recall`",
        ms(took["behind"] - took["current"]), "", f"{ms(took['behind'])} − {ms(took['current'])}",
    )  # fmt: skip


def talking(work: str, runs: int) -> Iterator[Row]:
    """`session add` as a whole process, to a session without messages and to one of 10,000."""
    root = store(work, _SMALL)
    empty, full = _session(root, "empty", 0), _session(root, "full", _MIDDLE)
    took = seconds([Case("empty", _add(root, empty), {}), Case("full", _add(root, full), {})], runs)
    yield Row("`session add` to 10k messages, over that to none", *over(took["full"], took["empty"], "1.3 ×"))


def indexing(work: str, sizes: Sequence[int]) -> Iterator[Row]:
    """The index of words made from nothing, in a process of its own."""
    for size in (size for size in sizes if size >= _MIDDLE):
        root = store(work, size)
        runs = _ROUNDS if size <= _MIDDLE else 1
        took = statistics.median(elapsed(partial(_rebuild, root)) for _ in range(runs))
        target = "3,000 / s" if size == 100_000 else ""
        yield Row(f"index of words, {size_name(size)}", f"{size / took:,.0f} memories / s", target, f"{took:.1f} s")


def bulk(work: str) -> Iterator[Row]:
    """`remember --batch` into a new store."""
    root = os.path.join(work, "bulk")
    lines = batch(work, _MIDDLE)
    times = []
    for _ in range(_ROUNDS):
        shutil.rmtree(root, ignore_errors=True)
        os.makedirs(root)
        run([memcli(), "init", "--root", root])
        args = [memcli(), "remember", "--batch", lines, "--quiet", "--root", root]
        times.append(elapsed(partial(run, args, **_WORDS_ONLY)))
    shutil.rmtree(root)
    yield Row("`remember --batch` of 10k without vectors", f"{statistics.median(times):.1f} s", "10 s / 3 s")


def canonical(work: str, runs: int) -> Iterator[Row]:
    """One memory of 10k changed in the store, over writing the same bytes."""
    from memcli.model.space import Change
    from memcli.store.atomic import sync_folder

    root = os.path.join(work, "canonical")
    os.makedirs(root)
    shutil.copytree(os.path.dirname(space_file(store(work, _MIDDLE))), os.path.join(root, ".memory", "spaces"))
    path, other = space_file(root), os.path.join(work, "bytes.json")
    kept = _open_store(root)
    objects_there = kept.open("main").load().objects
    with open(path, "rb") as file:
        data = file.read()

    def write_bytes() -> None:
        with open(f"{other}.part", "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(f"{other}.part", other)
        sync_folder(work)

    def change_one(n: int) -> None:
        now = f"2100-01-01T00:00:{n % 60:02d}Z"
        changed = replace(objects_there[n], raw=f"changed {n}", updated_at=now)
        kept.update("main", lambda _: Change((changed,), now=now))

    plain, whole = [], []
    for n in range(runs + 1):  # the first reads the whole file, which memcli had not written
        plain.append(elapsed(write_bytes))
        whole.append(elapsed(partial(change_one, n)))
    figure = over(statistics.median(whole[1:]), statistics.median(plain[1:]), "3 × / 1.5 ×")
    yield Row("canonical write, 10k, over the same bytes with fsync and rename", *figure)
    shutil.rmtree(root)
    os.unlink(other)


def together(work: str) -> Iterator[Row]:
    """Eight processes that remember at once in a store of 5k, against eight that lock, parse, sort and dump."""
    script = os.path.join(_HERE, "bare_writers.py")
    root = os.path.join(work, "together")
    rates = {}
    for mode, each in (("memcli", 200), ("rewrite", 10)):
        shutil.rmtree(root, ignore_errors=True)
        os.makedirs(root)
        run([memcli(), "init", "--root", root])
        run([memcli(), "remember", "--batch", batch(work, 5000), "--quiet", "--root", root], **_WORDS_ONLY)
        lost, rates[mode] = map(float, run([sys.executable, script, mode, root, "8", str(each)]).split())
        if mode == "memcli":
            yield Row("8 processes × 200 `remember` at 5k: lost", f"{lost:.0f}", "0")
    shutil.rmtree(root)
    detail = f"{rates['memcli']:.0f} / s against {rates['rewrite']:.1f} / s"
    yield Row(
        "the same: times the rate of lock-and-rewrite", f"{rates['memcli'] / rates['rewrite']:.1f} ×", "20 ×", detail
    )


def _open_store(root: str) -> Any:
    from memcli.wiring.workspace import open_workspace

    return open_workspace({"root": root}, {}).store


def vectors() -> Iterator[Row]:
    """Documents a second of the embedder, over onnxruntime alone on the same batches."""
    from memcli.embed.onnx import _BATCH_TOKENS, FOLDER, MODEL, OnnxEmbedder, _onnxruntime, batches, open_session

    texts = [str(item["raw"]) for item in objects(_TEXTS)]
    embedder = OnnxEmbedder()
    embedder.embed(texts[:8])
    tokens = [embedder._encode(text) for text in texts]
    parts = batches([len(one) for one in tokens], _BATCH_TOKENS)
    fed = [_fed([tokens[row] for row in rows]) for rows in parts]
    model = os.path.join(FOLDER, MODEL)
    same = open_session(model, is_unpacked=True)
    options = _onnxruntime().SessionOptions()
    options.intra_op_num_threads = 1
    plain = _onnxruntime().InferenceSession(model, options, providers=["CPUExecutionProvider"])
    times: dict[str, list[float]] = {"memcli": [], "same": [], "plain": []}
    for _ in range(_ROUNDS + 1):
        times["memcli"].append(elapsed(lambda: embedder.embed(texts)))
        times["same"].append(elapsed(lambda: _alone(same, fed)))
        times["plain"].append(elapsed(lambda: _alone(plain, fed)))
    took = {name: statistics.median(found[1:]) for name, found in times.items()}
    rate = {name: f"{_TEXTS / value:.0f} / s" for name, value in took.items()}
    yield Row(
        "vectors: documents a second, over onnxruntime alone on the same batches, same options",
        f"{took['same'] / took['memcli']:.2f} ×", "0.8 × / 0.95 ×", f"{rate['memcli']} / {rate['same']}",
    )  # fmt: skip
    yield Row(
        "the same, over onnxruntime with its default options",
        f"{took['plain'] / took['memcli']:.2f} ×", "", f"{rate['memcli']} / {rate['plain']}",
    )  # fmt: skip


def _fed(tokens: Sequence[Any]) -> dict[str, Any]:
    import numpy as np

    ids = np.array(tokens, np.int64)
    return {"input_ids": ids, "attention_mask": np.ones_like(ids)}


def _alone(session: Any, batches: Sequence[dict[str, Any]]) -> None:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda fed: session.run(None, fed), batches))


def _recall(root: str, asked: Sequence[str]) -> Callable[[int], Sequence[str]]:
    return lambda n: (memcli(), "recall", asked[n], "--json", "--no-global", "--root", root)


def _prompt(name: str, root: str, asked: Sequence[str], settings: Mapping[str, str]) -> Case:
    """The hook of a prompt, each time in a new session."""
    args = constant(memcli(), "hook", "run", "prompt", "--agent", "claude")

    def stdin(n: int) -> bytes:
        return json.dumps({"session_id": f"{os.getpid()} {name} {n}", "cwd": root, "prompt": asked[n]}).encode()

    return Case(name, args, settings, stdin=stdin)


def _remember(root: str, text: str) -> Callable[[int], Sequence[str]]:
    """A command that puts the same path anew each time, so that the store does not grow from run to run."""
    path = f"bench/{text.split(maxsplit=1)[0]}"
    return lambda n: (memcli(), "remember", f"We settled on {text} {n}.", "--path", path, "--root", root)


def _session(root: str, title: str, size: int) -> str:
    """The file of a session with this many messages; its id."""
    name = f"ses_{title}{os.getpid()}"
    header = {"format": "memcli/session", "id": name, "space": "main", "title": title, "version": 1}
    said = ({"number": n, "role": "user", "text": f"{n}: {one['raw']}"} for n, one in enumerate(objects(size), 1))
    folder = os.path.join(root, ".memory", "sessions", "main")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"{name}.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(line, sort_keys=True)}\n" for line in chain([header], said))
    return name


def _add(root: str, name: str) -> Callable[[int], Sequence[str]]:
    return lambda n: (memcli(), "session", "add", name, f"What is next, after {n}?", "--root", root)


def _index(root: str) -> None:
    run([memcli(), "recall", "anything", "--quiet", "--no-global", "--root", root], **_WORDS_ONLY)


def _rebuild(root: str) -> None:
    run([memcli(), "store", "index", "rebuild", "--quiet", "--root", root], **_WORDS_ONLY)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
