"""`memcli demo`"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress

from memcli.cli.verb import START, CommandContext, verb
from memcli.errors import MemcliError

_DECISIONS: tuple[tuple[str, ...], ...] = (
    ("remember", "We chose PostgreSQL as our database: we need JSONB and row-level security.", "--kind", "decision"),
    ("remember", "Never force-push to main: the release job tags whatever it finds there."),
    ("remember", "To deploy: run make release, wait for the canary to turn green, then make promote."),
)
_QUESTIONS: tuple[tuple[str, ...], ...] = (
    ("recall", "which database did we choose, and why?", "--limit", "1"),
    ("recall", "how do we deploy?", "--budget", "250"),
)
_COMMITS = 10


@verb(section=START, line="Take a guided tour in a temporary store")
def command(session: CommandContext) -> None:
    """Take a guided tour in a throw-away store: a few decisions, this repository's last commits, some questions.

    Each step is shown as you would type it. Nothing is written outside a temporary folder.
    """
    from memcli.git.repository import Repository
    from memcli.store.layout import find_work_tree
    from memcli.wiring.workspace import without_server

    # A server that the environment names is that of a team, into which the tour must not write.
    environ = {**without_server(os.environ)}
    folder = tempfile.mkdtemp(prefix="memcli-demo-")
    try:
        work_tree = find_work_tree(os.getcwd(), os.path.expanduser("~"))
        steps: list[tuple[str, ...]] = [("init",)]
        if work_tree and shutil.which("git"):
            count = 0
            with suppress(MemcliError):  # the repository has no commit
                count = int(Repository(work_tree).run("rev-list", "--count", "--first-parent", "HEAD"))
            # HEAD~N needs more than N commits.
            commits = f"HEAD~{_COMMITS}..HEAD" if count > _COMMITS else "HEAD"
            steps += [("ingest", "--git", commits)] if count else []
        steps += [*_DECISIONS, *_QUESTIONS, ("status",)]
        for step in steps:
            sys.stdout.write(f"\n$ memcli {shlex.join(step)}\n")
            sys.stdout.flush()  # the process below writes to the same stream
            # -P: the working directory may be that of a repository with a module of the same name.
            argv = [sys.executable, "-P", "-m", "memcli", step[0], "--root", folder, *step[1:]]
            if subprocess.run(argv, check=False, env=environ).returncode:
                break
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    session.output.note("the tour's store has been deleted; `memcli init` creates a permanent one")
