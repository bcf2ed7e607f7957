"""Diff: what `git diff` prints, or `diff -u`, as edits of files."""

from __future__ import annotations

from memcli.code.diff import Section, names, read
from memcli.code.touched import touched
from memcli.errors import MemcliError, UsageError
from memcli.git.repository import Repository
from memcli.model.edits import FileEdit, Line
from memcli.model.names import readable

MAX_BYTES = 256 << 20
"""A longer diff is not looked at: no one wrote it, and half of it would tell half the truth."""

_OPTIONS = (
    "--cached", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--find-renames",
    "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", "--ignore-submodules=none",
)  # fmt: skip
_STORE = ".memory"


def staged_diff(repository: Repository) -> bytes:
    """What the next commit would change. Raises NotFoundError, ProviderError, UsageError."""
    return _bounded(repository.at_commit(), *_OPTIONS)


def changed_diff(repository: Repository, revision: str) -> bytes:
    """What was committed and staged since this branch left `revision`. Files that are not staged are not read: git
    would run the filters that the configuration names. Raises NotFoundError, ProviderError, UsageError."""
    commit = repository.resolve(revision)
    try:
        base = repository.run("merge-base", commit, "HEAD").strip()
    except MemcliError:  # none, or not in a shallow clone
        base = commit
    return _bounded(repository.at_commit(), *_OPTIONS, base)


def read_diff(data: bytes, where: str) -> list[FileEdit]:
    """The edits of a diff, of all files but those of a store. Raises UsageError for what is no diff."""
    sections = read(data, strict=True).files
    if not sections and data.strip():
        raise UsageError(f"{where} is not a diff", "use the output of `git diff`")
    edits = map(_edit, sections)
    return [edit for edit in edits if edit.file and _STORE not in edit.file.split("/")]


def _bounded(repository: Repository, *options: str) -> bytes:
    # As text, whatever the attributes say: else a line in a .gitattributes would keep a file from being looked at.
    for as_text in (["--text"], []):
        blocks, size = [], 0
        for block in repository.stream("diff", *as_text, *options, "--"):
            blocks.append(block)
            size += len(block)
            if size > MAX_BYTES:
                break
        else:
            return b"".join(blocks)
    raise UsageError(f"the diff is longer than {MAX_BYTES >> 20} MiB", "split it, and use --diff FILE")


def _edit(section: Section) -> FileEdit:
    told = names(section.head)
    return FileEdit(
        file=readable(told.file),
        was=readable(told.was),
        added=_lines(section, b"+"),
        removed=_lines(section, b"-"),
        symbols=tuple(touched(b"\n".join(hunk.source() for hunk in section.hunks), told.file)),
        is_deleted=told.is_deleted,
    )


def _lines(section: Section, sign: bytes) -> tuple[Line, ...]:
    return tuple(
        (number, text.decode("utf-8", errors="replace").replace("\0", "\ufffd"))
        for hunk in section.hunks
        for number, text in hunk.having(sign)
    )
