"""The work of git hooks: ingest new commits, and retry failed ones."""

from __future__ import annotations

import os
from collections.abc import Sequence

from memcli.app.ingest import Ingested, ingest, retire_commits
from memcli.app.repo import sync
from memcli.app.workspace import Workspace, opened
from memcli.errors import MemcliError, reporting_done
from memcli.git.repository import Repository, find_repository
from memcli.git.tree import gone, lost
from memcli.model.findings import reason_of
from memcli.model.memory import Json
from memcli.store.log import HookLog
from memcli.wiring.sources import begin, build_commits, build_files, lost_commits

MAX_COMMITS = 200
"""A hook ingests at most so many commits, so that git does not wait; more are left to `ingest` and `watch`."""


def follow(workspace: Workspace, log: HookLog, hook: str, arguments: Sequence[str], pairs: str) -> dict[str, Json]:
    """Ingests the commits since the last call in this work tree; returns the result for the log.

    `pairs` is the input of a post-rewrite hook: the rewritten commits. Raises MemcliError.
    """
    repository = find_repository(os.getcwd())
    # By its git folder: each work tree of the repository has a head of its own.
    git_dir = os.path.relpath(os.path.realpath(repository.git_dir()), os.path.realpath(workspace.root))
    head = repository.head()
    if not head:
        return {"outcome": "no commits yet"}
    build = begin(workspace, head)
    built = Ingested()
    if build is not None:
        log.set_head(git_dir, build)
        built.merge(build_commits(workspace, repository, build))
        built.merge(build_files(workspace, repository.root))
        head = repository.head()  # again: a build takes long, and commits may have been made meanwhile
    seen = log.head(git_dir)
    start = seen if seen and repository.has_commit(seen) else _start(repository, hook, arguments)
    result = _ingest(workspace, repository, log, hook, start, head)
    try:
        if workspace.store.policy(workspace.space).is_derived:
            result["retired"] = sync(workspace, lost_commits(workspace.root))
        elif hook == "post-rewrite":
            result["retired"] = retire_commits(workspace, gone(repository, pairs))
        elif seen:  # a reset, which calls no hook, may have dropped commits
            result["retired"] = retire_commits(workspace, lost(repository, seen))
    except MemcliError:
        raise
    except Exception as error:  # noqa: BLE001 - a failure here must not stop the ingest of later commits
        result["error"] = f"replaced commits were not deactivated: {reason_of(error)}"
    log.set_head(git_dir, head)
    if build is not None:
        result = {"built": built.created, **result}
    if built.created or result.get("created") or result.get("updated") or result.get("retired"):
        with opened(workspace):  # brings the index up to date, so that the next recall does not wait for it
            pass
    return result


def retry(workspace: Workspace, log: HookLog) -> tuple[Ingested, list[str]]:
    """Ingests the commits again that failed in hooks; returns the result, and the commits that git no longer has. Raises
    MemcliError."""
    from memcli.ingest.commits import CommitSource

    repository = find_repository(os.getcwd())
    commits = [entry["commit"] for entry in log.skipped()]
    lost = [commit for commit in commits if not repository.has_commit(commit)]
    done = Ingested()
    for commit in commits:
        if commit not in lost:
            with reporting_done(done.stored):
                ingest(
                    workspace,
                    CommitSource(repository.root, f"{commit}^!", within=os.path.dirname(workspace.root)),
                    done=done,
                )
    failed = {failure.commit for failure in done.failed}
    log.skip(done.failed, workspace.clock(), [commit for commit in commits if commit not in failed])
    return done, lost


def _start(repository: Repository, hook: str, arguments: Sequence[str]) -> str:
    """The commit after which the first call in a work tree ingests; empty for the last commit alone."""
    if hook == "post-checkout":
        before = arguments[0] if arguments else ""
        # Git passes zeros in place of a commit where it has just made the clone or the work tree.
        return before if before.strip("0") and repository.has_commit(before) else repository.head()
    if hook == "post-merge" or (hook == "post-rewrite" and "rebase" in arguments):
        try:
            # Git stores the head before a merge or a rebase in it.
            return repository.resolve("ORIG_HEAD")
        except MemcliError:
            return ""
    return ""


def _ingest(
    workspace: Workspace, repository: Repository, log: HookLog, hook: str, start: str, head: str
) -> dict[str, Json]:
    from memcli.ingest.commits import CommitSource

    revisions = f"{start}..{head}" if start else f"{head}^!"
    known = workspace.commits.load(workspace.space)
    folder = os.path.dirname(workspace.root)
    source = CommitSource(repository.root, revisions, known, within=folder)
    count = source.total()
    left: dict[str, Json] = {}
    if count > MAX_COMMITS:
        left = {"left_out": count, "hint": f"memcli ingest --git {revisions}"}
        # The commit that was just made is ingested in any case; the others may be the history of a whole branch.
        if hook != "post-commit":
            return {"outcome": "too many commits", **left}
        revisions = f"{head}^!"
        source = CommitSource(repository.root, revisions, known, within=folder)
    if not count:
        return {"outcome": "nothing new"}
    done = ingest(workspace, source)
    log.skip(done.failed, workspace.clock())
    if done.failed:
        left["skipped"] = [failure.to_json() for failure in done.failed]
    counts = {name: n for name, n in done.to_json().items() if isinstance(n, int) and n}
    return {"outcome": "ingested", "range": revisions, "commits": min(count, MAX_COMMITS), **counts, **left}
