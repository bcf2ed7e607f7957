"""Written by tools/api_stub.py."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from types import TracebackType
from typing import IO, Any, Self

Object = dict[str, Any]
Objects = list[dict[str, Any]]
Input = str | PathLike[str] | bytes | IO[str] | IO[bytes] | Iterable[str] | Iterable[Mapping[str, Any]]

class Memory:
    def __init__(
        self,
        root: str | PathLike[str] | None = None,
        space: str | None = None,
        *,
        freeze_clock: str | None = None,
        embedder: str | None = None,
        backend: str | None = None,
        note: Callable[[str], None] | None = None,
    ) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def blame(
        self,
        ref: str,
        *,
        space: str | None = None,
    ) -> Object:
        """Show which commit added a memory and which one last changed each of its fields.

        >>> memory.blame('ops/deploy')['path']
        'ops/deploy'

        Parameters:
            ref: A memory, by id, unique id prefix or path.
            space: The space to use, for this call.
        """
    def check(
        self,
        *,
        space: str | None = None,
    ) -> Object:
        """Run all checks: memories against the code, recall tests, secrets in the store, and damage to it.

        >>> memory.check()['store']['state']
        'passed'

        Parameters:
            space: The space to use, for this call.
        """
    def check_code(
        self,
        *paths: str | PathLike[str],
        changed: str | None = None,
        reanchor: bool = False,
        space: str | None = None,
    ) -> Object:
        """Check the code that memories are anchored to, in all spaces that git tracks or in --space.

        >>> memory.check_code()['failed']
        0

        Parameters:
            paths: Check only anchors in these files and folders.
            changed: Check only anchors in files that changed since this commit. (REV)
            reanchor: Accept the current code where it moved or changed.
            space: The space to use, for this call.
        """
    def check_recall(
        self,
        *files: str | PathLike[str],
        questions: str | Sequence[str] = (),
        top: int | None = None,
        budget: int | None = None,
        space: str | None = None,
    ) -> Object:
        """Test what recall answers, by the expectations in .memory/tests/*.toml. Exits with 6 if a test fails.

        >>> memory.check_recall('expected.toml')['recall']['passed']
        1

        Parameters:
            files: TOML files with tests [default: .memory/tests/*.toml].
            questions: Ask a question set: one JSON object per line with q, type and answers. Repeatable. (FILE)
            top: Return at most N memories per topic [default: as the tests say, else 10]. (N)
            budget: Print at most this many tokens per topic [default: as the tests say, else no limit]. (TOKENS)
            space: The space to use, for this call.
        """
    def check_secrets(
        self,
        *files: str | PathLike[str],
        history: bool = False,
        staged: bool = False,
        space: str | None = None,
    ) -> Object:
        """Scan for secrets; by default, in all files of the store, and in its spaces on a server.

        >>> memory.check_secrets('guide.md')['found']
        []

        Parameters:
            files: Files to scan [default: the files of the store].
            history: Scan every version of the store in git, on all branches.
            staged: Scan the staged files of the store.
            space: The space to use, for this call.
        """
    def check_store(
        self,
        *,
        repair: bool = False,
        space: str | None = None,
    ) -> Object:
        """Check the store for damage: truncated files, unreadable memories, duplicate ids or paths, dangling links, wrong
        hashes, wrong order, invalid triggers of enforced memories, leftovers of crashes, and changed lines of audit logs.

        >>> memory.check_store()['damaged']
        0

        Parameters:
            repair: Repair the damage that can be repaired.
            space: The space to use, for this call.
        """
    def diff(
        self,
        rev: str = 'HEAD',
        rev2: str | None = None,
        *,
        stat: bool = False,
        space: str | None = None,
    ) -> Any:
        """Show how memories changed since a commit, or between two commits, in all spaces or in --space.

        >>> [change['status'] for change in memory.diff()[0]['memories']]
        ['added', 'added', 'added']

        Parameters:
            rev: The commit to compare with, or REV..REV.
            rev2: Compare with this commit instead of the current state.
            stat: Show only the number of changes per space.
            space: The space to use, for this call.
        """
    def doctor(
        self,
        *,
        space: str | None = None,
    ) -> Objects:
        """Check the installation, the model and the store, and suggest a fix for each problem.

        >>> [check['name'] for check in memory.doctor()][:2]
        ['python', 'sqlite']

        Parameters:
            space: The space to use, for this call.
        """
    def edit(
        self,
        *refs: str,
        text: str | None = None,
        set: str | Sequence[str] | Mapping[str, Any] = (),
        tag: str | Sequence[str] = (),
        untag: str | Sequence[str] = (),
        object: bool = False,
        if_digest: str | None = None,
        space: str | None = None,
    ) -> Any:
        """Change the text or other fields of a memory, or the tags of memories.

        >>> memory.edit('ops/deploy', set={'tags': ['release']})['version']
        2
        >>> memory.edit('ops/deploy', tag='release')[0]['tags']
        ['release']

        Parameters:
            refs: Memories, by id, unique id prefix or path.
            text: Set the text. (TEXT)
            set: Set a field: text as is, other types as JSON, null for the default. Repeatable. (FIELD=VALUE)
            tag: Add this tag, or several: a,b. (TAG)
            untag: Remove this tag, or several: a,b. (TAG)
            object: Edit all fields as JSON in the editor.
            if_digest: Fail if the memory has another digest than `get --digest` printed. (DIGEST)
            space: The space to use, for this call.
        """
    def export(
        self,
        name: str | None = None,
        *,
        out: Input | None = None,
        format: str | None = None,
        sign: Input | None = None,
        kind: str | Sequence[str] = (),
        tag: str | Sequence[str] = (),
        under: str = '',
        private: bool = False,
        redact: bool = False,
        space: str | None = None,
    ) -> Any:
        """Export a space with counts and a SHA-256, by default to the folder of policy.export_path, or `.memory/exports/`.

        >>> memory.export(out='-').startswith('{')
        True

        Parameters:
            name: The space to export [default: the current one].
            out: Write to this file, or with md to DIR/; `-` is standard output. (FILE)
            format: json, jsonl or md [default: the extension of --out, else json]. (json|jsonl|md)
            sign: Sign with this ed25519 private key (OpenSSH or PEM). (FILE)
            kind: Only memories of this kind; a,b matches either. (KIND)
            tag: Only memories with this tag; a,b requires both. (TAG)
            under: Only memories at or below this path. (PATH)
            private: Export the private state for another clone: private spaces, sessions, the inbox and the trash; needs --out.
            redact: Replace secrets with [REDACTED:kind] instead of failing.
            space: The space to use, for this call.
        """
    def feedback(
        self,
        *refs: str,
        helpful: bool = False,
        unhelpful: bool = False,
        rejected: bool = False,
        reason: str = '',
        space: str | None = None,
    ) -> Object:
        """Say whether memories that were recalled helped.

        >>> memory.feedback('decisions/database', helpful=True)['feedback']
        'helpful'

        Parameters:
            refs: Memories, by id, path, or number in the last recall.
            helpful: They helped: more confidence and strength.
            unhelpful: They were wrong or misleading: less confidence.
            rejected: They were shown, but do not answer: slightly less confidence.
            reason: The reason. (TEXT)
            space: The space to use, for this call.
        """
    def feedback_gaps(
        self,
        *refs: str,
        check: bool = False,
        close: bool = False,
        clear: bool = False,
        semantic: str | None = None,
        model: str | None = None,
        space: str | None = None,
    ) -> Object:
        """List the questions that recall could not answer, the most frequent first, so that someone can write them down.

        >>> memory.feedback_gaps()
        {'gaps': [], 'topics': []}

        Parameters:
            refs: With --close: questions, by text or number in the list.
            check: Ask all questions again and remove those that are answered now.
            close: Remove these questions.
            clear: Remove all questions.
            semantic: How similar questions are put together and named; llm asks a language model. (local|llm)
            model: The language model of --semantic llm. (PROVIDER:MODEL)
            space: The space to use, for this call.
        """
    def forget(
        self,
        *refs: str,
        recursive: bool = False,
        purge: bool = False,
        now: bool = False,
        if_digest: str | None = None,
        yes: bool = False,
        space: str | None = None,
    ) -> Object:
        """Exclude memories from recall. They stay in the file, and `memcli list --all` shows them.

        >>> memory.forget('ops/deploy')['status']
        'forgotten'

        Parameters:
            refs: Memories, by id, unique id prefix or path.
            recursive: Include everything below the paths.
            purge: Delete the memories; `memcli restore` restores them.
            now: With --purge: also erase from the trash, caches and logs; for leaked secrets.
            if_digest: Fail if the memory has another digest than `get --digest` printed. (DIGEST)
            yes: Delete without asking for confirmation.
            space: The space to use, for this call.
        """
    def gc(
        self,
        name: str | None = None,
        *,
        ttl_days: float | None = None,
        dry_run: bool = False,
        trust_clock: bool = False,
        space: str | None = None,
    ) -> Object:
        """Delete memories that have expired under the space's policy, and those of scope session whose session has ended. Pinned
        memories are kept.

        >>> memory.gc()['purged']
        []

        Parameters:
            name: The space to collect [default: the current one].
            ttl_days: Use N instead of the policy's ttl_days, for this run. (N)
            dry_run: Show what would be done without doing it.
            trust_clock: Proceed despite clock skew.
            space: The space to use, for this call.
        """
    def get(
        self,
        *refs: str,
        field: str | None = None,
        context: bool = False,
        digest: bool = False,
        rev: str | None = None,
        no_usage: bool = False,
        space: str | None = None,
    ) -> Any:
        """Print memories in full, by id or path.

        >>> memory.get('decisions/database')['kind']
        'decision'

        Parameters:
            refs: Memories, by id, unique id prefix or path.
            field: Print only this field. (NAME)
            context: Print only the snapshot of what was said about it.
            digest: Add the digest of each memory to the JSON, for --if-digest of edit and forget.
            rev: Read the store as of this commit. (REV)
            no_usage: Do not count this as usage, or a question without an answer as a gap.
            space: The space to use, for this call.
        """
    def graph(
        self,
        ref: str = '',
        *,
        depth: int = 2,
        format: str | None = None,
        output: Input | None = None,
        all: bool = False,
        clusters: bool = False,
        space: str | None = None,
    ) -> Any:
        """Show the graph of memories, tags, clusters and links around a memory, or of a whole space.

        >>> {edge['relation'] for edge in memory.graph('decisions/database', depth=1)['edges']}
        {'has_tag'}

        Parameters:
            ref: A memory, or a path that memories are below [default: the whole space].
            depth: How many steps from it. (N)
            format: The format [default: by the name of --output; else text on a terminal, json in a pipe]. (json|dot|mermaid|html|text)
            output: Write to this file. (FILE)
            all: Include forgotten memories.
            clusters: Find clusters among more than 2,000 memories too, which takes seconds.
            space: The space to use, for this call.
        """
    def guard(
        self,
        *,
        staged: bool = False,
        diff: Input | None = None,
        changed: str | None = None,
        format: str | None = None,
        space: str | None = None,
    ) -> Any:
        """Check a change against memories with triggers.

        >>> diff = ['--- a/x.sh', '+++ b/x.sh', '@@ -0,0 +1 @@', '+git push --force']
        >>> memory.guard(diff=diff)['findings'][0]['path']
        'rules/force-push'

        Parameters:
            staged: Check the staged changes [default].
            diff: Check this diff. (FILE)
            changed: Check what was committed and staged since REV. (REV)
            format: text, json, sarif or github [default: text]. (text|json|sarif|github)
            space: The space to use, for this call.
        """
    def hook_install(
        self,
        *names: str,
        space: str | None = None,
    ) -> Object:
        """Install git hooks; without names, all except pre-push.

        >>> memory.hook_install('pre-push')['hooks']
        {'pre-push': 'installed'}

        Parameters:
            names: Any of post-commit, post-merge, post-checkout, post-rewrite, prepare-commit-msg, pre-push.
            space: The space to use, for this call.
        """
    def hook_retry(
        self,
        *,
        space: str | None = None,
    ) -> Object:
        """Retry the commits that hooks could not ingest.

        >>> memory.hook_retry()['tried']
        0

        Parameters:
            space: The space to use, for this call.
        """
    def hook_status(
        self,
        *,
        space: str | None = None,
    ) -> Object:
        """Show the state of each hook, the last run, and the commits that could not be ingested.

        >>> memory.hook_status()['hooks'][0]['state']
        'absent'

        Parameters:
            space: The space to use, for this call.
        """
    def hook_uninstall(
        self,
        *names: str,
        space: str | None = None,
    ) -> Object:
        """Remove hooks, by default all, and restore the hooks that were there before.

        >>> memory.hook_uninstall('pre-push')['hooks']
        {'pre-push': 'absent'}

        Parameters:
            names: Any of post-commit, post-merge, post-checkout, post-rewrite, prepare-commit-msg, pre-push.
            space: The space to use, for this call.
        """
    def import_(
        self,
        file: Input,
        *,
        mode: str = 'merge',
        trusted_key: Input | None = None,
        from_: str = 'auto',
        dry_run: bool = False,
        space: str | None = None,
    ) -> Object:
        """Import an export into its space, or into --space, completely or not at all. An export that was modified is refused.

        >>> memory.import_('guide.md', dry_run=True)['created']
        1

        Parameters:
            file: An export (a file, or the folder that it was written to), or a file or folder of another tool.
            mode: merge: keep the newer version of each memory; replace: make the space equal to the export. (merge|replace)
            trusted_key: Accept the export only if it is signed with one of these public keys. (FILE)
            from_: The format; auto detects it. (auto|memcli|adr|agents|markdown|mcp|mem0)
            dry_run: Show what would be done without doing it.
            space: The space to use, for this call.
        """
    def inbox(
        self,
        action: str = 'list',
        *refs: str,
        all: bool = False,
        set: str | Sequence[str] | Mapping[str, Any] = (),
        object: bool = False,
        space: str | None = None,
    ) -> Any:
        """Review proposed memories: list, show, accept, reject or edit them.

        >>> proposed = memory.remember('We use tabs.', propose=True)
        >>> memory.inbox('accept', proposed['id'])[0]['status']
        'created'

        Parameters:
            action: What to do.
            refs: Proposed memories, by id or path.
            all: Accept or reject all proposals.
            set: With edit: as in `memcli edit`. (FIELD=VALUE)
            object: With edit: as in `memcli edit`.
            space: The space to use, for this call.
        """
    def ingest(
        self,
        *files: str | PathLike[str],
        git: str | None = None,
        since: str | None = None,
        staged: bool = False,
        propose: bool = False,
        dry_run: bool = False,
        space: str | None = None,
    ) -> Object:
        """Ingest files by section and definition, or commits by file.

        >>> memory.ingest('guide.md')['created']
        1

        Parameters:
            files: Files and folders to ingest.
            git: Ingest commits: HEAD~5.., v1..v2; HEAD for the whole history. (RANGE)
            since: Ingest commits after REV. (REV)
            staged: Ingest the staged changes.
            propose: Put the memories into the inbox for review.
            dry_run: Show what would be done without doing it.
            space: The space to use, for this call.
        """
    def init(
        self,
        *,
        project: str | None = None,
        git: bool = False,
        hooks: bool = False,
        agent: str | Sequence[str] = (),
        undo: bool = False,
        purge: bool = False,
        yes: bool = False,
        space: str | None = None,
    ) -> Object:
        """Create a store: `.memory/` at the root of the work tree, or in the current folder outside a repository.

        >>> memory.init()['created']
        False

        Parameters:
            project: The project's name, used as the first segment of new paths. (NAME)
            git: Install the git merge driver for memories in this clone.
            hooks: Install git hooks in this clone, as `hook install` does.
            agent: Connect this agent, as `agent install` does. Repeatable. (NAME)
            undo: Take back what init set up: agents, git hooks, merge driver, attributes.
            purge: With --undo: also delete the store and the private state of this clone.
            yes: Answer yes to all questions, of which there are none in a pipe or with options that choose.
            space: The space to use, for this call.
        """
    def link(
        self,
        start: str,
        end: str,
        *,
        relation: str | None = None,
        weight: float | None = None,
        remove: bool = False,
        space: str | None = None,
    ) -> Object:
        """Link one memory to another, of any space, or remove their links. A link that exists keeps its date.

        >>> memory.link('ops/deploy', 'decisions/database', relation='depends_on')['status']
        'linked'

        Parameters:
            start: A memory, by id, unique id prefix, path or SPACE:PATH.
            end: A memory, by id, unique id prefix, path or SPACE:PATH.
            relation: How the first is related to the second [default: relates_to; with --remove: any]. (relates_to|supersedes|contradicts|derived_from|depends_on)
            weight: How strong the relation is [default: 1]. (0..1)
            remove: Remove the links from the first to the second instead: all, or those of --relation.
            space: The space to use, for this call.
        """
    def list(
        self,
        path: str = '',
        *,
        kind: str | Sequence[str] = (),
        tag: str | Sequence[str] = (),
        limit: int | None = None,
        offset: int = 0,
        all: bool = False,
        include_raw: bool = False,
        tree: bool = False,
        depth: int | None = None,
        rev: str | None = None,
        space: str | None = None,
    ) -> Objects:
        """List the memories of `main`, newest first; or of --space, or of `repo` where main has none; or with --tree their paths.

        >>> [found['path'] for found in memory.list()]
        ['decisions/database', 'ops/deploy', 'rules/force-push']

        Parameters:
            path: Only memories at or below this path.
            kind: Only memories of this kind; a,b matches either. (KIND)
            tag: Only memories with this tag; a,b requires both. (TAG)
            limit: List at most N memories. (N)
            offset: Skip the first N memories. (N)
            all: Include forgotten and superseded memories.
            include_raw: With --json: include the full text of each memory.
            tree: Show the tree of paths instead, for people and for system prompts.
            depth: With --tree: show N levels; /… marks what has more below. (N)
            rev: Read the store as of this commit. (REV)
            space: The space to use, for this call.
        """
    def metrics(
        self,
        *,
        textfile: Input | None = None,
        space: str | None = None,
    ) -> Object:
        """Print metrics in the text format of Prometheus: memories by space, recalls, writes, injections, costs and durations.

        >>> memory.metrics()['metrics'][0]['name']
        'memcli_memory_objects'

        Parameters:
            textfile: Replace FILE at once, for the textfile collector of node_exporter, instead of printing. (FILE)
            space: The space to use, for this call.
        """
    def pin(
        self,
        *refs: str,
        remove: bool = False,
        if_digest: str | None = None,
        space: str | None = None,
    ) -> Objects:
        """Pin memories: recall ranks them first if they match, and lists them under "Always" if not.

        >>> memory.pin('ops/deploy')[0]['pinned']
        True

        Parameters:
            refs: Memories, by id, unique id prefix or path.
            remove: Unpin them instead: recall ranks them by relevance again.
            if_digest: Fail if the memory has another digest than `get --digest` printed. (DIGEST)
            space: The space to use, for this call.
        """
    def provider_check(
        self,
        model: str | None = None,
        *,
        within: float = 30.0,
        space: str | None = None,
    ) -> Object:
        """Ask a model one short question, to see whether it answers as memcli needs it. The call counts.

        >>> memory.provider_check()
        Traceback (most recent call last):
        memcli.errors.UsageError: no language model is configured

        Parameters:
            model: The model to ask [default: the configured one].
            within: The longest wait. (SECONDS)
            space: The space to use, for this call.
        """
    def provider_list(
        self,
        *,
        space: str | None = None,
    ) -> Objects:
        """List the providers: the model in use, the variable that has the key, the address, and what is missing.

        >>> [row['provider'] for row in memory.provider_list()][:2]
        ['openai', 'anthropic']

        Parameters:
            space: The space to use, for this call.
        """
    def provider_usage(
        self,
        *,
        day: str | None = None,
        since: str | None = None,
        space: str | None = None,
    ) -> Objects:
        """Show the calls, tokens and US dollars of each day (UTC), space and provider.

        >>> memory.provider_usage()
        []

        Parameters:
            day: Only this day (UTC). (DAY)
            since: Only this day and later ones. (DAY)
            space: The space to use, for this call.
        """
    def recall(
        self,
        topic: str | None = None,
        *,
        topics: Input | None = None,
        limit: int = 10,
        raw_limit: int | None = None,
        include_raw: bool = False,
        include_metadata: bool = False,
        format: str | None = None,
        budget: int | None = None,
        kind: str | Sequence[str] = (),
        tag: str | Sequence[str] = (),
        under: str = '',
        scope: str | None = None,
        include: str | Sequence[str] = (),
        exclude: str | Sequence[str] = (),
        since: str | None = None,
        until: str | None = None,
        rev: str | None = None,
        at: str | None = None,
        prefer_kind: str | Sequence[str] = (),
        prefer_tag: str | Sequence[str] = (),
        require_high_relevance: bool = False,
        min_score: float | None = None,
        min_importance: float | None = None,
        about: str = '',
        include_inactive: bool = False,
        backend: str | None = None,
        weights: str | Mapping[str, float] | None = None,
        recency_bias: float | None = None,
        deadline: int | None = None,
        all_spaces: bool = False,
        no_global: bool = False,
        verbose: bool = False,
        explain: bool = False,
        include_untrusted: bool = False,
        no_usage: bool = False,
        from_diff: Input | None = None,
        verify: int | None = None,
        verify_timeout: int = 1000,
        model: str | None = None,
        changed: str | None = None,
        space: str | None = None,
    ) -> Any:
        """Print the memories that best answer a question, best first.

        >>> memory.recall('which database?', limit=1)['sections'][0]['passage']['text']
        'We chose PostgreSQL over MySQL: we need JSONB.'
        >>> memory.recall('which database?', format='prompt').startswith('<memory-')
        True

        Parameters:
            topic: The question.
            topics: Answer one question per line; print one JSON bundle per line. (FILE)
            limit: Return at most N memories. (N)
            raw_limit: Include the full text of at most N memories. (N)
            include_raw: Include the full text of each memory.
            include_metadata: Include the metadata of each memory.
            format: json, md, prompt [piped], table or text [terminal]. (FORMAT)
            budget: Print at most this many tokens, best memories first. (TOKENS)
            kind: Only memories of this kind; a,b matches either. (KIND)
            tag: Only memories with this tag; a,b requires both. (TAG)
            under: Only memories at or below this path. (PATH)
            scope: Only memories of this scope. (project|global|session)
            include: With --scope session: also this part of sessions. Repeatable. (turns|chunks|episodes)
            exclude: With --scope session: without this part of sessions. Repeatable. (turns|chunks|episodes)
            since: Only memories created at or after TIME. (TIME)
            until: Only memories created before TIME. (TIME)
            rev: Read the store as of this commit. (REV)
            at: Only memories that were valid at TIME. (TIME)
            prefer_kind: Rank this kind higher. Repeatable. (KIND)
            prefer_tag: Rank this tag higher. Repeatable. (TAG)
            require_high_relevance: Only memories of high relevance.
            min_score: Only memories that score at least X. (X)
            min_importance: Only memories of at least this importance. (0..1)
            about: Rank higher what this text speaks of, such as the task at hand. (TEXT)
            include_inactive: Include forgotten, superseded and expired memories.
            backend: fusion [default], basic, patricia, raptor, hybrid or graph. (NAME)
            weights: Weights of the score, such as semantic=.6,keyword=.4. (NAME=X)
            recency_bias: Weight of the date relative to the rest of the score. (0..1)
            deadline: Search by words only if embedding takes longer than this. (MS)
            all_spaces: Search all spaces of the store but private ones.
            no_global: Do not search the user-wide store.
            verbose: On a terminal, print passages whole, not their first five lines.
            explain: Show the components of each score.
            include_untrusted: Include memories that contain instructions to an agent.
            no_usage: Do not count this as usage, or a question without an answer as a gap.
            from_diff: Find memories about this diff. (FILE)
            verify: Ask a language model which of the first N memories are relevant [N: 8]. ([N])
            verify_timeout: Keep the ranking if the model, once loaded, takes longer than this. (MS)
            model: The language model of --verify. (PROVIDER:MODEL)
            changed: Find memories about what was committed and staged since REV. (REV)
            space: The space to use, for this call.
        """
    def remember(
        self,
        text: str | None = None,
        *,
        file: Input | None = None,
        object: str | Mapping[str, Any] | None = None,
        batch: Input | None = None,
        keep_going: bool = False,
        kind: str | None = None,
        kind_new: bool = False,
        path: str | None = None,
        path_hint: str | None = None,
        project: str | None = None,
        tag: str | Sequence[str] = (),
        pin: bool = False,
        relevance: str | None = None,
        summary_micro: str | None = None,
        summary_short: str | None = None,
        summary_long: str | None = None,
        importance: float | None = None,
        confidence: float | None = None,
        trust: float | None = None,
        scope: str | None = None,
        created_at: str | None = None,
        valid_from: str | None = None,
        valid_until: str | None = None,
        season: str | None = None,
        source: str | None = None,
        reason: str | None = None,
        commit: str | None = None,
        trigger: str | Sequence[str] = (),
        enforce: bool = False,
        link: str | Sequence[str] = (),
        anchor: str | Sequence[str] = (),
        speaker: str | None = None,
        group: str | None = None,
        context: int | None = None,
        session: str | None = None,
        meta: str | Sequence[str] | Mapping[str, Any] = (),
        set: str | Sequence[str] | Mapping[str, Any] = (),
        id: str | None = None,
        supersedes: str | None = None,
        no_check: bool = False,
        keep_both: bool = False,
        merge: bool = False,
        semantic: str | None = None,
        model: str | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        fallback: str | None = None,
        embed: bool = False,
        propose: bool = False,
        yes: bool = False,
        space: str | None = None,
    ) -> Object:
        """Store a memory and print its id.

        >>> memory.remember('Tokens live for 15 minutes.', path='auth/tokens', tag='auth')['status']
        'created'
        >>> memory.remember(batch=[{'raw': 'We use uv.'}, {'raw': 'We use ruff.'}])['created']
        2

        Parameters:
            text: The text.
            file: Read the text from FILE. (FILE)
            object: A complete memory as JSON. (JSON)
            batch: Store one JSON object per line. (FILE)
            keep_going: With --batch: store the valid lines and report the others.
            kind: decision, fact, procedure, negative, ... (KIND)
            kind_new: Store a kind that resembles a known one as it is given.
            path: project/module/topic, unique in its space. (PATH)
            path_hint: Suggested location. (PATH)
            project: The first segment of the path. (NAME)
            tag: Add this tag. Repeatable. (TAG)
            pin: Include the memory in every recall.
            relevance: Relevance; high ranks first. (high|medium|low)
            summary_micro: A summary of one or two sentences. (TEXT)
            summary_short: A summary of one paragraph. (TEXT)
            summary_long: An abstract. (TEXT)
            importance: Importance [default: by kind]. (0..1)
            confidence: Confidence that the memory is true. (0..1)
            trust: Trust in the source. (0..1)
            scope: global uses the user-wide store; session lasts as long as the session [default: project]. (project|global|session)
            created_at: The time of creation [default: now]. (TIME)
            valid_from: Not valid before this time. (TIME)
            valid_until: Not valid after this time. (TIME)
            season: Rank higher in this season: 12-01..12-31, or a name. (SEASON)
            source: user_stated, observed, inferred, ... (SOURCE)
            reason: The reason for storing the memory. (TEXT)
            commit: The commit that the memory is about. (REV)
            trigger: An RE2 pattern, symbol:NAME or path:GLOB; see `memcli guard --help`. Repeatable. (TRIGGER)
            enforce: Make `memcli guard` fail when a trigger matches.
            link: Link to a memory, such as relates_to:ID or depends_on:PATH. Repeatable. (RELATION:ID)
            anchor: The code that the memory describes: FILE, FILE:10-42 or FILE::symbol. Repeatable. (FILE)
            speaker: The person who said it. (NAME)
            group: Group memories recorded together, such as in one session or meeting. (NAME)
            context: Keep what was said about it: up to N tokens of the session, or of standard input [N: 1000]. ([N])
            session: The session of --context and of --scope session [default: the current one]. (SESSION)
            meta: Set a metadata field. Repeatable. (NAME=VALUE)
            set: Set any field. Repeatable. (FIELD=JSON)
            id: Use this id [default: derived from the path]. (ID)
            supersedes: Replace this memory and take over its path, kind, tags and pin unless the text was stored before. (ID)
            no_check: Do not look for memories that this one contradicts or repeats.
            keep_both: Accept a contradiction; memcli does not report it again.
            merge: Strengthen the memory that this one repeats instead of storing another.
            semantic: How to fill missing fields; llm asks a language model [default: local]. (local|llm|off)
            model: The language model of --semantic llm. (PROVIDER:MODEL)
            temperature: Its temperature [default: 0]. (0..2)
            max_tokens: The longest answer of the model [default: 1200]. (TOKENS)
            fallback: What to use when the model fails [default: nothing is stored]. (local)
            embed: Compute vectors now instead of at the next recall.
            propose: Put the memory into the inbox for review.
            yes: Store the memory even if the policy requires a review.
            space: The space to use, for this call.
        """
    def restore(
        self,
        *refs: str,
        run: str | None = None,
        list: bool = False,
        space: str | None = None,
    ) -> Any:
        """Make memories active again that were forgotten, or bring back what gc, forget --purge, a reset or an import deleted, byte
        for byte, within the policy's grace_days.

        >>> memory.restore(list=True)
        []

        Parameters:
            refs: Forgotten or deleted memories; of these the latest version.
            run: Restore everything that this run deleted. (RUN)
            list: List what can be restored.
            space: The space to use, for this call.
        """
    def schema(
        self,
        what: str = 'space',
        *,
        space: str | None = None,
    ) -> Object:
        """Print the JSON Schema of a space file, an object, a policy, a recall bundle, an export or a session.

        >>> memory.schema('object')['type']
        'object'

        Parameters:
            what: The schema to print.
            space: The space to use, for this call.
        """
    def session_add(
        self,
        id: str | None = None,
        text: str | None = None,
        *,
        role: str = 'user',
        file: Input | None = None,
        speaker: str = '',
        at: str | None = None,
        space: str | None = None,
    ) -> Object:
        """Add a message to a session.

        >>> session = memory.session_start()['id']
        >>> memory.session_add(session, 'Why is the login slow?', role='user')['number']
        1

        Parameters:
            id: The session, by id or unique id prefix [default: MEMCLI_SESSION, or the session started last].
            text: The message.
            role: Who said it. (user|assistant|tool)
            file: Read the message from FILE. (FILE)
            speaker: The name of who said it. (NAME)
            at: When it was said [default: now]. (TIME)
            space: The space to use, for this call.
        """
    def session_arc(
        self,
        id: str | None = None,
        *,
        space: str | None = None,
    ) -> Object:
        """Show the course of a session: its episodes at the beginning, in the middle and at the end, and the key moments.

        >>> memory.session_arc(memory.session_start()['id'])['key_moments']
        []

        Parameters:
            id: The session, by id or unique id prefix [default: MEMCLI_SESSION, or the session started last].
            space: The space to use, for this call.
        """
    def session_context(
        self,
        query: str | None = None,
        *,
        session: str | None = None,
        no_session: bool = False,
        system: Input | None = None,
        total: int = 128000,
        reserve_system: int | None = None,
        reserve_working: int | None = None,
        insert: str | None = None,
        format: str | None = None,
        space: str | None = None,
    ) -> Any:
        """Assemble a context window within a token budget: a system prompt, recalled memories, summaries of older messages of the
        session, and its recent messages.

        >>> window = memory.session_context('which database?', total=4000)
        >>> [item['text'] for item in window['sections'][0]['items']]
        ['We chose PostgreSQL over MySQL: we need JSONB.']
        >>> memory.session_context('which database?', format='openai')[0]['role']
        'system'

        Parameters:
            query: The task [default: the last user message of the session].
            session: The session, by id or unique id prefix [default: MEMCLI_SESSION, or the session started last]. (SESSION)
            no_session: Use no session: the window has the system prompt and memories only.
            system: Begin with this system prompt. (FILE)
            total: The size of the window. (TOKENS)
            reserve_system: Reserved for the system prompt [default: 2000, or an eighth of a small window]. (TOKENS)
            reserve_working: Left free for the answer [default: 8000, or a quarter of a small window]. (TOKENS)
            insert: Insert the context that this memory keeps, in place of less relevant messages. (ID|PATH)
            format: The output format [default: markdown]. (markdown|json|openai|anthropic)
            space: The space to use, for this call.
        """
    def session_delete(
        self,
        id: str,
        *,
        keep_memories: bool = False,
        yes: bool = False,
        space: str | None = None,
    ) -> Object:
        """Delete a session for good, and the memories that were made from it, which `memcli restore` restores.

        >>> memory.session_delete(memory.session_start()['id'], yes=True)['deleted']
        True

        Parameters:
            id: The session, by id or unique id prefix.
            keep_memories: Keep the memories that were made from the session.
            yes: Delete without asking for confirmation.
            space: The space to use, for this call.
        """
    def session_end(
        self,
        id: str | None = None,
        *,
        outcome: str = '',
        semantic: str | None = None,
        model: str | None = None,
        space: str | None = None,
    ) -> Object:
        """End a session: remember what happened in it.

        >>> session = memory.session_start(title='Prices')['id']
        >>> _ = memory.session_add(session, 'We decided to store prices in cents because floats lose money.')
        >>> [fact['status'] for fact in memory.session_end(session)['promoted']]
        ['proposed']

        Parameters:
            id: The session, by id or unique id prefix [default: MEMCLI_SESSION, or the session started last].
            outcome: What came of it. (TEXT)
            semantic: Who reads the session; llm asks a language model [default: local]. (local|llm|off)
            model: The language model of --semantic llm. (PROVIDER:MODEL)
            space: The space to use, for this call.
        """
    def session_export(
        self,
        id: str,
        *,
        out: Input = '-',
        redact: bool = False,
        space: str | None = None,
    ) -> Any:
        """Export a session as JSON Lines, which `memcli session import` reads without loss.

        >>> memory.session_export(memory.session_start()['id']).startswith('{"format":"memcli/session"')
        True

        Parameters:
            id: The session, by id or unique id prefix.
            out: Write to this file; `-` is standard output. (FILE)
            redact: Replace secrets with [REDACTED:kind] instead of failing.
            space: The space to use, for this call.
        """
    def session_facts(
        self,
        id: str | None = None,
        *,
        from_: Input | None = None,
        semantic: str | None = None,
        model: str | None = None,
        space: str | None = None,
    ) -> Objects:
        """List the facts that a session states: decisions, preferences, constraints, goals, procedures, corrections, things never
        to do. Questions, offers, hypotheses and what was taken back later are none.

        >>> session = memory.session_start()['id']
        >>> _ = memory.session_add(session, 'We decided to store prices in cents because floats lose money.')
        >>> [fact['kind'] for fact in memory.session_facts(session)]
        ['decision']

        Parameters:
            id: The session, by id or unique id prefix [default: MEMCLI_SESSION, or the session started last].
            from_: Read a transcript; store nothing. (FILE)
            semantic: Who reads the session; llm asks a language model [default: local]. (local|llm|off)
            model: The language model of --semantic llm. (PROVIDER:MODEL)
            space: The space to use, for this call.
        """
    def session_import(
        self,
        *files: str | PathLike[str],
        format: str = 'auto',
        discover: bool = False,
        dry_run: bool = False,
        space: str | None = None,
    ) -> Any:
        """Import transcripts: JSON Lines with role and content, sessions of Claude Code, Codex, Gemini CLI, Copilot CLI, Cline
        and opencode, exports of ChatGPT and Claude.ai, and what `memcli session export` wrote.

        >>> session = memory.session_start()['id']
        >>> _ = memory.session_export(session, out='session.jsonl')
        >>> memory.session_import('session.jsonl')['sessions'][0]['status']
        'unchanged'

        Parameters:
            files: Transcripts, chat exports (a .zip as it is), or exported sessions.
            format: The format; auto detects it. (auto|memcli|jsonl|claude-code|codex|gemini|copilot|cline|opencode|chatgpt|claude-ai)
            discover: List the transcripts of this project that are not imported yet.
            dry_run: Show what would be done without doing it.
            space: The space to use, for this call.
        """
    def session_list(
        self,
        *,
        limit: int = 20,
        space: str | None = None,
    ) -> Objects:
        """List sessions, the newest first.

        >>> memory.session_list()
        []

        Parameters:
            limit: Show the newest N; 0 shows all. (N)
            space: The space to use, for this call.
        """
    def session_pause(
        self,
        id: str | None = None,
        *,
        space: str | None = None,
    ) -> Object:
        """Pause a session: nothing is added until it is resumed.

        >>> memory.session_pause(memory.session_start()['id'])['state']
        'paused'

        Parameters:
            id: The session, by id or unique id prefix [default: MEMCLI_SESSION, or the session started last].
            space: The space to use, for this call.
        """
    def session_promote(
        self,
        *facts: str,
        semantic: str | None = None,
        model: str | None = None,
        space: str | None = None,
    ) -> Objects:
        """Remember facts of a session.

        >>> session = memory.session_start()['id']
        >>> _ = memory.session_add(session, 'We decided to store prices in cents because floats lose money.')
        >>> memory.session_promote(f'{session}#1.1')[0]['status']
        'created'

        Parameters:
            facts: Facts, by the names that `memcli session facts` prints.
            semantic: As it was for `memcli session facts` [default: local]. (local|llm|off)
            model: The language model of --semantic llm. (PROVIDER:MODEL)
            space: The space to use, for this call.
        """
    def session_resume(
        self,
        id: str | None = None,
        *,
        space: str | None = None,
    ) -> Object:
        """Resume a session that is paused or has ended.

        >>> memory.session_resume(memory.session_start()['id'])['changed']
        False

        Parameters:
            id: The session, by id or unique id prefix [default: MEMCLI_SESSION, or the session started last].
            space: The space to use, for this call.
        """
    def session_share(
        self,
        id: str,
        *,
        undo: bool = False,
        space: str | None = None,
    ) -> Object:
        """Let git track a session: moves it out of the private state into `.memory/sessions/`.

        >>> memory.session_share(memory.session_start()['id'])['shared']
        True

        Parameters:
            id: The session, by id or unique id prefix.
            undo: Move the session back into the private state.
            space: The space to use, for this call.
        """
    def session_show(
        self,
        id: str | None = None,
        *,
        from_: int = 1,
        to: int | None = None,
        space: str | None = None,
    ) -> Object:
        """Show a session with its messages.

        >>> memory.session_show(memory.session_start()['id'])['messages']
        []

        Parameters:
            id: The session, by id or unique id prefix [default: MEMCLI_SESSION, or the session started last].
            from_: The first message to show. (N)
            to: The last message to show. (N)
            space: The space to use, for this call.
        """
    def session_start(
        self,
        *,
        title: str = '',
        space: str | None = None,
    ) -> Object:
        """Start a session and print its id. Git ignores sessions; text is redacted before it is stored.

        >>> memory.session_start(title='Slow login')['state']
        'active'

        Parameters:
            title: A title. (TEXT)
            space: The space to use, for this call.
        """
    def session_sync(
        self,
        *,
        space: str | None = None,
    ) -> Object:
        """Take in the sessions of agents that their hooks reported, and finish what was interrupted.

        >>> memory.session_sync()['imported']
        []

        Parameters:
            space: The space to use, for this call.
        """
    def session_topic(
        self,
        previous: str,
        current: str,
        *,
        space: str | None = None,
    ) -> Object:
        """Tell whether a prompt changes the topic of the one before it, by meaning and words, and why.

        >>> memory.session_topic('add a retry to the upload', 'and the download?')['changed']
        False

        Parameters:
            previous: A prompt.
            current: The prompt that follows it.
            space: The space to use, for this call.
        """
    def space_create(
        self,
        name: str,
        *,
        reset: bool = False,
        meta: str | Sequence[str] | Mapping[str, Any] = (),
        space: str | None = None,
    ) -> Object:
        """Create a space. An existing space is left unchanged.

        >>> memory.space_create('notes')['created']
        True

        Parameters:
            name: The name of the space.
            reset: Delete all its memories, if it was created with --reset or its policy allows it.
            meta: Set a metadata field. Repeatable. (NAME=VALUE)
            space: The space to use, for this call.
        """
    def space_delete(
        self,
        name: str,
        *,
        space: str | None = None,
    ) -> Object:
        """Delete a space with all its memories, if its policy allows it. `memcli restore` restores it.

        >>> _ = memory.space_create('notes')
        >>> _ = memory.space_policy('notes', set={'allow_delete': True})
        >>> memory.space_delete('notes')['deleted']
        0

        Parameters:
            name: The name of the space.
            space: The space to use, for this call.
        """
    def space_list(
        self,
        *,
        space: str | None = None,
    ) -> Objects:
        """List spaces.

        >>> [space['space'] for space in memory.space_list()]
        ['main']

        Parameters:
            space: The space to use, for this call.
        """
    def space_policy(
        self,
        name: str | None = None,
        *,
        set: str | Sequence[str] | Mapping[str, Any] = (),
        unset: str | Sequence[str] = (),
        file: Input | None = None,
        space: str | None = None,
    ) -> Object:
        """Show or change the policy of a space: expiry, deletion, automatic pins, redaction.

        >>> memory.space_policy(set={'ttl_days': 90})['ttl_days']
        90

        Parameters:
            name: The name of the space [default: the current one].
            set: Set a field, or a part of one, such as quota.openai.tokens_per_day=5000. Repeatable. (FIELD=VALUE)
            unset: Reset a field, or a part of one, to its default. Repeatable. (FIELD)
            file: Replace the whole policy with this JSON file. (FILE)
            space: The space to use, for this call.
        """
    def space_show(
        self,
        name: str | None = None,
        *,
        space: str | None = None,
    ) -> Object:
        """Show the counts, policy and metadata of a space.

        >>> memory.space_show()['objects']
        3

        Parameters:
            name: The name of the space [default: the current one].
            space: The space to use, for this call.
        """
    def status(
        self,
        *,
        stats: bool = False,
        usage: bool = False,
        space: str | None = None,
    ) -> Object:
        """Show what is stored, what waits for you, and what needs attention; each line ends with the command that helps.

        >>> memory.status(stats=True)['objects']
        3

        Parameters:
            stats: Count the memories of the space by kind and tag instead, and show the size of its files.
            usage: With --stats: also show which memories are read most often, and which were never read.
            space: The space to use, for this call.
        """
    def store_audit(
        self,
        *,
        limit: int = 20,
        since: str | None = None,
        id: str | None = None,
        verify: bool = False,
        space: str | None = None,
    ) -> Any:
        """Show the audit log, of this machine or of the server: when, by whom and with which command memories were changed.

        >>> memory.store_audit()[-1]['command']
        'remember'

        Parameters:
            limit: Show the last N entries; 0 shows all. (N)
            since: Only entries since TIME. (TIME)
            id: Only entries about this memory. (ID|PATH)
            verify: Check that no line was changed, moved or removed.
            space: The space to use, for this call.
        """
    def store_copy(
        self,
        source: str,
        target: str,
        *,
        mode: str | None = None,
        space: str | None = None,
    ) -> Objects:
        """Copy all spaces, or --space, with policies, audit log and trash to another store, and verify each by its hash.

        >>> [row['space'] for row in memory.store_copy('.', 'copy')]
        ['main']

        Parameters:
            source: A folder with a store, or the URL of a server; `.`: this store.
            target: A folder, which is created if it is missing, or the URL of a server.
            mode: merge: keep the newer version of each memory; replace: make each space equal to that of FROM. (merge|replace)
            space: The space to use, for this call.
        """
    def store_fmt(
        self,
        *spaces: str,
        check: bool = False,
        space: str | None = None,
    ) -> Object:
        """Rewrite space files in canonical form: sorted keys, fixed indentation, fixed order. The content stays the same.

        >>> memory.store_fmt(check=True)['canonical']
        ['main']

        Parameters:
            spaces: Spaces, by name or file [default: all].
            check: Change nothing; exit with 6 if a file is not canonical.
            space: The space to use, for this call.
        """
    def store_index(
        self,
        action: str = 'show',
        *,
        space: str | None = None,
    ) -> Object:
        """Show what the index of the space holds and which model makes its vectors; rebuild it, or compute missing vectors.

        >>> memory.store_index('rebuild')['objects']
        3

        Parameters:
            action: What to do.
            space: The space to use, for this call.
        """
    def store_maintain(
        self,
        *,
        dry_run: bool = False,
        only: str | Sequence[str] = (),
        space: str | None = None,
    ) -> Object:
        """Apply feedback to confidence, and tidy up what has aged.

        >>> memory.store_maintain(dry_run=True)['changed']
        0

        Parameters:
            dry_run: Show what would be done without doing it.
            only: Only usage, archive, decay, links, clusters, merge, tags or review. Repeatable. (TASK)
            space: The space to use, for this call.
        """
    def store_sync(
        self,
        name: str | None = None,
        *,
        with_: str | None = None,
        accept_deletions: bool = False,
        as_new: bool = False,
        space: str | None = None,
    ) -> Object:
        """Merge a space of this repository's files with that of the team's server, and store the result in both.

        >>> memory.store_sync()
        Traceback (most recent call last):
        memcli.errors.UsageError: no server to sync with

        Parameters:
            name: The space to sync [default: the current one].
            with_: The server to sync with, or a folder with a store [default: the configured server]. (URL)
            accept_deletions: Delete what the other side deleted, also more than 10 memories or 20 % of the space.
            as_new: Merge with a server that was wiped, replaced or restored; nothing is deleted.
            space: The space to use, for this call.
        """
    def trust(
        self,
        *refs: str,
        imported: bool = False,
        status: bool = False,
        revoke: bool = False,
        yes: bool = False,
        space: str | None = None,
    ) -> Any:
        """Accept a cloned store, imported memories, or single memories.

        >>> memory.trust(status=True)['accepted']
        True

        Parameters:
            refs: Memories to accept.
            imported: Accept all memories imported into the space.
            status: Show what is trusted and change nothing.
            revoke: Stop trusting this store.
            yes: Accept without asking for confirmation.
            space: The space to use, for this call.
        """
