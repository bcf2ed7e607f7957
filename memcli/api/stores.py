"""Methods that set up, govern and inspect a store."""

from __future__ import annotations

from typing import Any

from memcli.api.method import Object, Objects, command


class Stores:
    """One method for each command about a store as a whole."""

    @command("init")
    def init(self) -> Object:
        """Create a store, or add what is missing.

        >>> memory.init()['created']
        False
        """

    @command("doctor")
    def doctor(self) -> Objects:
        """Check the installation, the model and the store.

        >>> [check['name'] for check in memory.doctor()][:2]
        ['python', 'sqlite']
        """

    @command("gc")
    def gc(self) -> Object:
        """Delete memories that have expired under the space's policy.

        >>> memory.gc()['purged']
        []
        """

    @command("maintain")
    def maintain(self) -> Object:
        """Apply feedback to confidence, and tidy up what has aged.

        >>> memory.maintain(dry_run=True)['changed']
        0
        """

    @command("restore")
    def restore(self) -> Any:
        """Restore deleted memories.

        >>> memory.restore(list=True)
        []
        """

    @command("inbox")
    def inbox(self) -> Any:
        """List, show, accept, reject or edit proposed memories.

        >>> proposed = memory.remember('We use tabs.', propose=True)
        >>> memory.inbox('accept', proposed['id'])[0]['status']
        'created'
        """

    @command("trust")
    def trust(self) -> Any:
        """Accept a cloned store, imported memories, or single memories.

        >>> memory.trust(status=True)['accepted']
        True
        """

    @command("audit")
    def audit(self) -> Any:
        """Return the audit log of this machine.

        >>> memory.audit()[-1]['command']
        'remember'
        """

    @command("scan")
    def scan(self) -> Object:
        """Scan for secrets.

        >>> memory.scan('guide.md')['found']
        []
        """

    @command("fsck")
    def fsck(self) -> Object:
        """Check the store for damage and repair it.

        >>> memory.fsck()['damaged']
        0
        """

    @command("fmt")
    def fmt(self) -> Object:
        """Rewrite space files in canonical form.

        >>> memory.fmt(check=True)['canonical']
        ['main']
        """

    @command("stats")
    def stats(self) -> Object:
        """Count the memories of a space.

        >>> memory.stats()['objects']
        3
        """

    @command("schema")
    def schema(self) -> Object:
        """Return the JSON Schema of stored data.

        >>> memory.schema('object')['type']
        'object'
        """

    @command("space create")
    def space_create(self) -> Object:
        """Create a space.

        >>> memory.space_create('notes')['created']
        True
        """

    @command("space list")
    def space_list(self) -> Objects:
        """List spaces.

        >>> [space['space'] for space in memory.space_list()]
        ['main']
        """

    @command("space show")
    def space_show(self) -> Object:
        """Return the counts, policy and metadata of a space.

        >>> memory.space_show()['objects']
        3
        """

    @command("space policy")
    def space_policy(self) -> Object:
        """Return or change the policy of a space.

        >>> memory.space_policy(set={'ttl_days': 90})['ttl_days']
        90
        """

    @command("space delete")
    def space_delete(self) -> Object:
        """Delete a space with all its memories, if its policy allows it.

        >>> _ = memory.space_create('notes')
        >>> _ = memory.space_policy('notes', set={'allow_delete': True})
        >>> memory.space_delete('notes')['deleted']
        0
        """

    @command("space split")
    def space_split(self) -> Object:
        """Move what was read from the repository from `main` to `repo`.

        >>> memory.space_split(dry_run=True)['moved']
        []
        """

    @command("store copy")
    def store_copy(self) -> Objects:
        """Copy all spaces to another store, and verify them.

        >>> [row['space'] for row in memory.store_copy('.', 'copy')]
        ['main']
        """

    @command("store sync")
    def store_sync(self) -> Object:
        """Merge a space with that of the team's server.

        >>> memory.store_sync()
        Traceback (most recent call last):
        memcli.errors.UsageError: no server to sync with
        """

    @command("provider list")
    def provider_list(self) -> Objects:
        """List the providers of language models.

        >>> [row['provider'] for row in memory.provider_list()][:2]
        ['openai', 'anthropic']
        """

    @command("provider check")
    def provider_check(self) -> Object:
        """Ask a language model one short question.

        >>> memory.provider_check()
        Traceback (most recent call last):
        memcli.errors.UsageError: no language model is configured
        """

    @command("provider usage")
    def provider_usage(self) -> Objects:
        """Return what language models have cost, by day, space and provider.

        >>> memory.provider_usage()
        []
        """

    @command("metrics")
    def metrics(self) -> Object:
        """Return metrics of the store and its use, as Prometheus takes them.

        >>> memory.metrics()['metrics'][0]['name']
        'memcli_memory_objects'
        """

    @command("index rebuild")
    def index_rebuild(self) -> Object:
        """Rebuild the index of the space.

        >>> memory.index_rebuild()['objects']
        3
        """

    @command("index embed")
    def index_embed(self) -> Object:
        """Compute missing vectors.

        >>> memory.index_embed()['vectors']
        3
        """

    @command("index status")
    def index_status(self) -> Object:
        """Show what the cache holds for the space.

        >>> memory.index_status()['objects']
        3
        """

    @command("hook install")
    def hook_install(self) -> Object:
        """Install git hooks.

        >>> memory.hook_install('pre-push')['hooks']
        {'pre-push': 'installed'}
        """

    @command("hook uninstall")
    def hook_uninstall(self) -> Object:
        """Remove git hooks.

        >>> memory.hook_uninstall('pre-push')['hooks']
        {'pre-push': 'absent'}
        """

    @command("hook status")
    def hook_status(self) -> Object:
        """Show the state of each git hook.

        >>> memory.hook_status()['hooks'][0]['state']
        'absent'
        """

    @command("hook retry")
    def hook_retry(self) -> Object:
        """Retry the commits that hooks could not ingest.

        >>> memory.hook_retry()['tried']
        0
        """
