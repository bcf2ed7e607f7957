"""`memcli metrics`"""

from __future__ import annotations

from memcli.cli.options import Options, option
from memcli.cli.verb import PLUMBING, CommandContext, Http, verb
from memcli.model.space import READER, STORE

# node_exporter reads the file as another user.
_FOR_ALL = 0o644


class MetricsOptions(Options):
    """What `memcli metrics` takes."""

    textfile: str | None = option(
        metavar="FILE", help="Replace FILE at once, for the textfile collector of node_exporter, instead of printing."
    )


@verb(
    MetricsOptions,
    reach=STORE,
    section=PLUMBING,
    line="Print metrics for Prometheus",
    role=READER,
    http=(Http(path="/metrics", summary="Metrics as Prometheus text", media="text/plain; version=0.0.4"),),
)
def command(session: CommandContext, options: MetricsOptions) -> None:
    """Print metrics in the text format of Prometheus: memories by space, recalls, writes, injections, costs and durations.

    Commands, hooks, MCP and the Python interface count in .memory/local on this machine, without texts. Nothing is counted
    under a frozen clock, while memory is off, or in a clone that is not trusted.

    Traces are a matter of the environment: MEMCLI_OTEL=1 sends spans without texts by OTLP over HTTP (extra `otel`), to
    where OTEL_EXPORTER_OTLP_ENDPOINT, or with precedence MEMCLI_OTEL_EXPORTER_OTLP_ENDPOINT, says; not with --offline.

    Example: memcli metrics --textfile /var/lib/node_exporter/memcli.prom

    >>> memory.metrics()['metrics'][0]['name']
    'memcli_memory_objects'
    """
    from memcli.extras.telemetry.metrics import metrics, render

    workspace = session.open()
    if session.output.json and options.textfile is None:
        session.output.answer({"metrics": [family.to_json() for family in metrics(workspace)]}, "")
        return
    text = render(metrics(workspace))
    if options.textfile is None:
        session.output.write(text)
        return
    from memcli.store.target import write_out

    # Replaced as a whole, since node_exporter may read it at any moment.
    write_out(options.textfile, text.encode(), _FOR_ALL)
    session.output.confirm({"textfile": options.textfile}, f"metrics written to {options.textfile}")
