"""What memories are taken from: files, commits, other tools' memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from memcli.app.workspace import Workspace
from memcli.errors import NotFoundError, ProviderError
from memcli.ports import Source, Store
from memcli.ports.code import CodeReader, KnownCommits
from memcli.store.layout import Layout, find_work_tree
from memcli.store.reading import read_regular
from memcli.wiring.policies import InForce
from memcli.wiring.roots import global_root

if TYPE_CHECKING:
    from memcli.ingest.commits import CommitSource
    from memcli.ingest.files import FileSource
    from memcli.ingest.foreign import ForeignSource
    from memcli.settings import Settings

_MAX_RULES = 1 << 20


def staged_source() -> Source:
    """What is staged in the repository that the working directory is in. Raises NotFoundError, ProviderError."""
    from memcli.ingest.commits import StagedSource

    return StagedSource(os.getcwd())


def commit_source(workspace: Workspace, revisions: str, *, whole: bool = False) -> CommitSource:
    """The commits of a range in the repository that the working directory is in, without those that the space has, unless
    the `whole` of the range is asked for. Raises NotFoundError, ProviderError, CorruptError, StoreError."""
    from memcli.ingest.commits import CommitSource

    known = {} if whole else workspace.commits.load(workspace.space)
    return CommitSource(os.getcwd(), revisions, known, within=os.path.dirname(workspace.root))


def open_commits(layout: Layout, store: Store, in_force: InForce, settings: Settings) -> KnownCommits:
    """What is noted of the commits that were ingested, for as long as what decides over them stays as it is."""
    from memcli import __version__
    from memcli.codec.canonical import encode_line
    from memcli.codec.space import policy_to_json
    from memcli.digests import sha256
    from memcli.store.known_commits import FileCommits

    def rules(space: str) -> str:
        policy = policy_to_json(in_force(store.policy(space)))
        told = encode_line([__version__, policy, settings.semantic, settings.project])
        work_tree = find_work_tree(os.getcwd(), os.path.expanduser("~")) or layout.work_tree
        return sha256(told + (read_regular(os.path.join(work_tree, ".secretsignore"), _MAX_RULES) or b"")).hexdigest()

    return FileCommits(layout, store.open, rules)


def state_of_commits(workspace: Workspace) -> str:
    """What changes when a commit may have been lost, or `main` has changed; empty where git cannot tell."""
    from memcli.digests import sha256
    from memcli.git.repository import find_repository
    from memcli.git.tree import tips

    with suppress(NotFoundError, ProviderError), closing(workspace.store.open(workspace.main)) as snapshot:
        found = tips(find_repository(os.path.dirname(workspace.root)))
        return sha256("\n".join([snapshot.fingerprint, os.getcwd(), *found]).encode()).hexdigest()
    return ""


def lost_commits(root: str) -> Callable[[Collection[str]], Collection[str]]:
    """Finds those of some commits that no branch of the repository leads to any more, where the store at `root` and the
    working directory are in the same one. Of another repository's commits nothing is known."""

    def find(commits: Collection[str]) -> Collection[str]:
        from memcli.git.index_file import common_dir
        from memcli.git.repository import find_repository
        from memcli.git.tree import unreachable

        with suppress(NotFoundError, ProviderError):
            own, here = find_repository(os.path.dirname(root)), find_repository(os.getcwd())
            if common_dir(own.git_dir()) == common_dir(here.git_dir()):
                return unreachable(own, commits)
        return ()

    return find


def file_source(workspace: Workspace, paths: Sequence[str], *, may_be_gone: bool = False) -> FileSource:
    """Files and folders; their paths are told from the work tree. Raises NotFoundError for one that is not there, unless
    it `may_be_gone`, and so may what is remembered of it."""
    from memcli.ingest.files import FileSource

    here = os.getcwd()
    base = find_work_tree(here, os.path.expanduser("~")) or os.path.dirname(workspace.root)
    return FileSource(paths, base, may_be_gone=may_be_gone)


def foreign_source(workspace: Workspace, path: str, data: bytes | None, form: str) -> ForeignSource:
    """The files of another tool: a folder, or one file (of the name `path`) whose content is `data`.

    Their names are told from the work tree.
    """
    from collections import Counter

    from memcli.ingest.foreign import ForeignSource, files_under, label

    base = find_work_tree(os.getcwd(), os.path.expanduser("~")) or os.path.dirname(workspace.root)
    skipped: Counter[str] = Counter()
    if data is None:
        return ForeignSource(files_under(path, base, skipped), form, skipped, strict=False)
    return ForeignSource([(label(path, base), data)], form, skipped, strict=True)


def open_work_tree(root: str, environ: Mapping[str, str]) -> CodeReader | None:
    """The work tree that the store at `root` lies in. The user-wide store belongs to none."""
    if root == global_root(environ):
        return None
    from memcli.ingest.code import WorkTree

    folder = os.path.dirname(root)
    return WorkTree(find_work_tree(folder, os.path.expanduser("~")) or folder)
