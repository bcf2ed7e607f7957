from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from memcli.errors import NotFoundError
from memcli.git.repository import Repository
from memcli.ingest.commits import MAX_DIFF, CommitSource
from memcli.model.names import check_path, check_tag
from memcli.model.shapes import MEMORY_FIELDS, check_fields, problem
from memcli.summarize.summarizers import describe_extractively
from tests.ingest.conftest import Repo, memories, new_repo

CLASS = "class Token:\n    def refresh(self):\n        a = 1\n        b = 2\n        c = 3\n        d = 4\n        return {}\n"


def read(repo: Repo, revisions: str = "HEAD") -> list[dict]:
    found = memories(CommitSource(str(repo.root), revisions).candidates())
    for fields in found:
        check_fields(fields, MEMORY_FIELDS)
        assert fields.keys() <= MEMORY_FIELDS.keys()
        assert check_path(fields["path"]) == fields["path"]
        assert [check_tag(tag) for tag in fields["tags"]] == fields["tags"]
        assert problem(fields["metadata"]["source"], {"type": "string"}, "source") is None
    assert len({fields["path"] for fields in found}) == len(found)
    return found


def short(*memories: Mapping[str, object]) -> list[object]:
    return [describe_extractively(fields)["summary_short"] for fields in memories]


def skipped(repo: Repo, revisions: str = "HEAD") -> Counter[str]:
    source = CommitSource(str(repo.root), revisions)
    list(source.candidates())
    return source.skipped


def test_one_memory_for_each_file_and_commit_newest_first(repo: Repo):
    repo.commit("Add tokens", {"src/auth/token.py": CLASS.format("1"), "README.md": "# Tokens\n"})
    last = repo.commit(
        "Return two\n\nOne was not enough.\n\nSigned-off-by: Ann <ann@example.org>",
        {"src/auth/token.py": CLASS.format("2")},
    )
    found = read(repo)
    assert [(f["metadata"]["subject"], f["metadata"]["source"]) for f in found] == [
        ("Return two", "src/auth/token.py"), ("Add tokens", "README.md"), ("Add tokens", "src/auth/token.py"),
    ]  # fmt: skip
    assert found[0] == {
        "path": f"code/src/auth/token.py/{last[:10]}",
        "kind": "diff",
        "raw": "Return two\n\nOne was not enough.\n\nsrc/auth/token.py\n@@ def refresh(self):\n         b = 2\n"
        "         c = 3\n         d = 4\n-        return 1\n+        return 2",
        "summary_micro": "Return two (src/auth/token.py: refresh)",
        "tags": ["auth", "token", "python"],
        "metadata": {
            "source": "src/auth/token.py", "group": last, "subject": "Return two", "status": "modified",
            "added": 1, "removed": 1, "author": "Ann Author", "functions": ["refresh"],
        },
        "provenance": {"source": "observed", "files": ["src/auth/token.py"], "commit": last},
        "created_at": "2025-12-31T23:00:00Z",
    }  # fmt: skip


def test_ranges(repo: Repo):
    commits = [repo.commit(f"change {n}", {"a.txt": f"{n}\n"}) for n in range(4)]
    repo.git("tag", "v1", commits[1])

    def groups(revisions: str) -> list[str]:
        return [f["metadata"]["group"] for f in read(repo, revisions)]

    newest = commits[::-1]
    assert groups("HEAD") == newest
    assert groups("HEAD~2..") == newest[:2]
    assert groups("v1..HEAD") == newest[:2]
    assert groups("v1") == newest[2:]
    assert groups("HEAD..HEAD") == []
    source = CommitSource(str(repo.root), "HEAD~3..")
    assert source.total() == len(memories(source.candidates())) == source.commits == 3


def test_what_is_known_is_counted_and_not_read(repo: Repo, monkeypatch: pytest.MonkeyPatch):
    commits = [repo.commit(f"change {n}", {"a.txt": f"{n}\n"}) for n in range(4)]
    source = CommitSource(str(repo.root), "HEAD", {commits[0]: 2, commits[2]: 3, "0" * 40: 9})
    assert source.total() == 2
    told = list(source.candidates())
    assert told[0] == {"unchanged": 5}
    assert [f["read"] for f in told if "read" in f] == [commits[3], commits[1]]
    monkeypatch.setattr(Repository, "stream", lambda *_, **__: pytest.fail("a log was read"))
    assert list(CommitSource(str(repo.root), "HEAD", dict.fromkeys(commits, 1)).candidates()) == [{"unchanged": 4}]


def test_stopped_between_two_commits(repo: Repo):
    for n in range(4):
        repo.commit(f"change {n}", {"a.txt": f"{n}\n"})
    stops = iter([False, False, True])
    source = CommitSource(str(repo.root), "HEAD", is_stopped=lambda: next(stops))
    assert [f["metadata"]["subject"] for f in memories(source.candidates())] == ["change 3", "change 2"]


def test_from_a_folder_below_and_with_a_detached_head(repo: Repo):
    first = repo.commit("one", {"a/b.txt": "x\n", "c.txt": "x\n"})
    repo.commit("two", {"a/b.txt": "y\n"})
    repo.git("checkout", "-q", "--detach", first)
    source = CommitSource(str(repo.root / "a"), "HEAD")
    assert [c["metadata"]["source"] for c in memories(source.candidates())] == ["a/b.txt", "c.txt"]


def test_a_rename_names_both_and_a_deletion_keeps_what_went(repo: Repo):
    repo.commit("one", {"old.py": CLASS.format(1), "gone.py": "secret_of_success = 42\n"})
    repo.git("mv", "old.py", "new.py")
    repo.git("rm", "-q", "gone.py")
    repo.commit("two")
    gone, new = read(repo)[:2]
    assert gone["metadata"]["status"] == "deleted"
    assert gone["raw"] == "two\n\ngone.py (deleted)\n@@\n-secret_of_success = 42"
    assert new["metadata"]["status"] == "renamed"
    assert new["metadata"]["was"] == "old.py"
    assert new["raw"] == "two\n\nold.py -> new.py (renamed)"
    assert new["path"].startswith("code/new.py/")
    assert short(gone, new) == ["two. Deletes gone.py (+0 -1).", "two. Renames old.py to new.py."]


def test_no_line_of_a_key_stands_for_the_function_of_a_hunk(repo: Repo):
    line = "xYf1YWFSQMJXpyFhzkyOAAAAB3Jvb3RAdm0BAgMEBQY="
    numbers = "".join(f"{n}\n" for n in range(30))
    for head, shown in ((line, "@@"), ("def serve():", "@@ def serve():")):
        repo.commit("one", {"a.txt": f"{head}\n{numbers}"})
        repo.commit("two", {"a.txt": f"{head}\n{numbers}last\n"})
        assert read(repo)[0]["raw"].split("\n")[3] == shown


def test_the_summary_names_files_that_have_no_extension_and_counts_what_is_cut(repo: Repo):
    repo.commit("Add lists", {"CHANGES": "a\n" * 3000, "Makefile": "all:\n"})
    assert short(*read(repo)) == ["Add lists. Adds CHANGES (+3000 -0).", "Add lists. Adds Makefile (+1 -0)."]
    repo.commit("  Tidy:\tall  ", {"CHANGES": "a\n" * 2990})
    assert short(read(repo)[0]) == ["Tidy: all. Changes CHANGES (+0 -10)."]


def test_what_is_not_worth_remembering_is_counted(repo: Repo):
    repo.commit(
        "many",
        {
            "image.png": b"\x89PNG\0\1\2", "package-lock.json": "{}\n", "node_modules/x/index.js": "x\n",
            "vendor/lib.c": "int x;\n", "app.min.js": "x\n", "dist/app.js": "x\n", "api.go": "// Code generated by protoc."
            " DO NOT EDIT.\npackage api\n", ".env": "KEY=1\n", ".env.example": "KEY=\n", ".memory/spaces/a.json": "{}\n",
            "private/key.txt": "1\n", ".secretsignore": "private/\n", "empty.txt": "", "run.sh": "echo\n",
            "huge.json": "[1,\n" * 600_000,
        },
    )  # fmt: skip
    (repo.root / "run.sh").chmod(0o755)
    (repo.root / "link").symlink_to("run.sh")
    repo.commit("modes")
    (repo.root / "link").unlink()
    repo.commit("from link to file", {"link": "a file\n"})
    assert [f["metadata"]["source"] for f in read(repo)] == [".env.example", ".secretsignore", "run.sh"]
    assert skipped(repo) == {
        "binary": 2, "lock": 1, "vendored": 2, "generated": 3, "ignored": 3, "empty": 1, "mode": 1, "link": 2,
    }  # fmt: skip


def test_a_secret_that_is_renamed_stays_one(repo: Repo):
    repo.commit("one", {".env": "KEY=swordfish\nA=1\nB=2\nC=3\n"})
    repo.git("mv", ".env", "settings.txt")
    repo.commit("two", {"settings.txt": "KEY=swordfish\nA=1\nB=2\nC=4\n"})
    assert read(repo) == []


def test_merges_and_submodules(repo: Repo, tmp_path: Path):
    other = new_repo(tmp_path / "other")
    other.commit("there", {"x.txt": "x\n"})
    repo.commit("base", {"a.txt": "a\n"})
    repo.git("checkout", "-q", "-b", "side")
    repo.commit("on side", {"b.txt": "b\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("on main", {"a.txt": "aa\n"})
    repo.git("merge", "-q", "--no-ff", "side", "-m", "merged")
    repo.git("submodule", "--quiet", "add", str(other.root), "sub")
    repo.commit("a submodule")
    assert [f["metadata"]["subject"] for f in read(repo)] == ["a submodule", "on main", "on side", "base"]
    assert skipped(repo) == {"merge": 1, "submodule": 1}


def test_children_come_before_parents_whatever_their_clocks_say(repo: Repo):
    repo.hour = 50
    repo.commit("first", {"a.txt": "1\n"})
    repo.hour = 2
    repo.commit("second", {"a.txt": "2\n"})
    assert [f["metadata"]["subject"] for f in read(repo)] == ["second", "first"]


def test_a_shallow_clone_does_not_take_its_end_for_a_beginning(repo: Repo, tmp_path: Path):
    for n in range(4):
        repo.commit(f"change {n}", {"a.txt": f"{n}\n", f"{n}.txt": "x\n"})
    repo.git("clone", "-q", "--depth=2", f"file://{repo.root}", str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone")
    assert {f["metadata"]["subject"] for f in read(clone)} == {"change 3"}
    assert skipped(clone) == {"shallow": 1}
    with pytest.raises(NotFoundError) as error:
        list(CommitSource(str(clone.root), "HEAD~3..").candidates())
    assert "--unshallow" in error.value.hint


def test_hostile_names(repo: Repo):
    names = [
        b'quo"te.txt', b"new\nline.txt", b"new\tline.txt", b"back\\slash.txt", b"caf\xc3\xa9.txt", b"latin-\xe9.txt",
        b"latin-\xe8.txt", b" space ", b"-dash", b"a -> b.txt", b"\x1b[31mred", b"e\xcc\x81.txt", b"\xc3\xa9.txt", b"con",
        b"d/" + b"long" * 62 + b".txt", b"e/" + b"long" * 62 + b".txt", b"diff --git a/x b/x",
    ]  # fmt: skip
    for name in names:
        repo.write(name, "content\n")
    repo.commit("names")
    repo.git("mv", 'quo"te.txt', 'moved"\nto.txt')
    repo.commit("moved")
    found = read(repo)
    assert len(found) == len(names) + 1
    assert all(f["raw"].endswith("@@\n+content") for f in found[1:])
    assert all(os.fsencode(f["metadata"]["source"]) for f in found)
    assert "\n" not in "".join(f["summary_micro"] + f["metadata"]["source"] for f in found)
    assert any(f["metadata"]["source"] == "café.txt" for f in found)


def test_hostile_messages_and_lines_forge_nothing(repo: Repo):
    forged = "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+forged\n"
    table = ":000000 100644 0000000 1111111 A\tforged.txt\n"
    repo.commit(
        f"subject\n\n{table}\n{forged}", {"a.txt": f"{forged}{table}\x1b[31m\n-- x\n++ y\n\\ No\n@@ -1 +1 @@\n"}
    )
    repo.commit("", {"a.txt": "-- gone\n"})
    repo.commit("last", {"b.txt": "b\r\nno end"})
    found = read(repo)
    assert [f["metadata"]["source"] for f in found] == ["b.txt", "a.txt", "a.txt"]
    assert found[2]["metadata"]["added"] == 12
    assert found[1]["raw"].startswith("a.txt\n@@\n-diff --git")
    assert found[1]["summary_micro"] == "modified a.txt"
    assert found[0]["raw"] == "last\n\nb.txt (added)\n@@\n+b\n+no end"


def test_bytes_that_are_no_utf8(repo: Repo):
    repo.git("config", "i18n.commitEncoding", "latin-1")
    repo.write("a.txt", b"caf\xe9\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-F", "-", stdin="Grüße".encode("latin-1"))
    (found,) = read(repo)
    assert found["raw"] == "Grüße\n\na.txt (added)\n@@\n+caf�"


def test_the_reason_at_the_end_of_a_long_message_stays(repo: Repo):
    message = "one\n\n" + "What changed. " * 200 + "\n\nBecause it was slow."
    repo.write("a.txt", b"a\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-F", "-", stdin=message.encode())
    (found,) = read(repo)
    assert found["raw"].endswith("Because it was slow.\n\na.txt (added)\n@@\n+a")


def test_a_large_diff_is_cut_and_says_so(repo: Repo):
    lines = [f"value_{n} = {n}" for n in range(5_000)]
    repo.commit("one", {"a.py": "\n".join(lines) + "\n", "b.js": "x" * 500_000 + "\ny\n"})
    many, wide = read(repo)
    assert len(many["raw"]) <= MAX_DIFF + 40
    assert many["metadata"]["added"] == 5_000
    kept = many["raw"].count("\n+")
    assert many["raw"].endswith(f"\n({5_000 - kept} more lines left out)")
    assert wide["raw"] == f"one\n\nb.js (added)\n@@\n+{'x' * 399} ...\n(1 more line left out)"


def test_functions_that_hunks_stand_in_or_define(repo: Repo):
    body = "\n".join(f"    x{n} = {n}" for n in range(12))
    code = f"class Store:\n  def load(self):\n{body}\n    return 1\n\n  def save(self):\n{body}\n    return 2\n"
    repo.commit("one", {"a.py": code})
    repo.commit("two", {"a.py": code.replace("return 1", "return 3") + "\nasync def flush():\n    pass\n"})
    assert read(repo)[0]["metadata"]["functions"] == ["load", "flush"]


def test_an_author_date_that_is_none_gives_way(repo: Repo):
    repo.commit("one", {"a.txt": "a\n"})
    text = repo.git("cat-file", "commit", "HEAD")
    odd = text.replace("author Ann Author <ann@example.org> 1767218400 +0200", "author Ann <a> 99999999999999 +0000")
    assert odd != text
    commit = repo.git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=odd.encode() + b"\n")
    repo.git("update-ref", "HEAD", commit)
    assert read(repo)[0]["created_at"] == "2025-12-31T22:00:00Z"


SETTINGS = (
        ("diff.noprefix", "true"), ("diff.mnemonicPrefix", "true"), ("diff.relative", "true"), ("diff.renames", "false"),
        ("diff.context", "0"), ("diff.algorithm", "patience"), ("diff.suppressBlankEmpty", "true"),
        ("diff.orderFile", "order"), ("diff.interHunkContext", "9"), ("diff.submodule", "log"), ("color.ui", "always"),
        ("color.diff", "always"), ("log.showRoot", "false"), ("log.decorate", "full"), ("log.date", "relative"),
        ("log.follow", "true"), ("format.pretty", "oneline"), ("core.quotePath", "true"), ("core.abbrev", "4"),
        ("core.attributesFile", "order"), ("i18n.logOutputEncoding", "UTF-16"), ("log.diffMerges", "separate"),
        ("notes.displayRef", "refs/notes/*"), ("diff.wsErrorHighlight", "all"), ("diff.colorMoved", "zebra"),
        ("log.mailmap", "false"), ("diff.indentHeuristic", "false"), ("diff.ignoreSubmodules", "all"),
)  # fmt: skip


def test_no_setting_changes_what_is_read(repo: Repo):
    repo.commit("one", {"z.py": CLASS.format(1) + "\n\n" + CLASS.format(2), "é.txt": "x\n", "old.txt": "same\n" * 9})
    repo.git("notes", "add", "-m", "a note")
    repo.git("mv", "old.txt", "new.txt")
    repo.commit("two", {"z.py": CLASS.format(3) + "\n\n" + CLASS.format(4), "d/a.txt": "a\n"})
    before = read(repo)
    (repo.root / "order").write_text("*.txt\n*.py -diff\n")
    for name, value in SETTINGS:
        repo.git("config", name, value)
        assert read(repo) == before, name
        repo.git("config", "--unset", name)
