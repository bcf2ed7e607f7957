"""Words by what they do to a claim: deny it, limit it, turn it to its opposite, or add nothing. Data.

Phrases of several words that count as other words. Data.

Names among which a project chooses one: two of one class in the same place exclude each other. Data.
"""

from __future__ import annotations

from collections.abc import Mapping

from memcli.regex import regex
from memcli.text.words import STOP_WORDS, stem


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in text.split())


NEGATIONS = _words("not never no cannot nobody none nothing neither nor without hardly nowhere")
"""Words that deny; contractions are written out before."""

DENYING = _stems(
    """
    forbid forbidden prohibit prohibited ban banned disallow disallowed avoid disable disabled deny denied exclude
    excluded excluding unsupported unsigned unencrypted uncompressed unversioned unavailable unnecessary off optional
    unacceptable impossible refrain skip
    """
)
"""Stems of words that deny what they are said of."""

REFUSING = _stems(
    "reject refuse ignore remove drop gone deprecate abandon prevent block missing lack retire scrap ditch"
)
"""Stems of verbs that deny what they are said of, and are also what is done to it."""

AFFIRMING = _stems(
    """
    allow allowed permit permitted enable enabled support supported require required mandatory include included on
    accept accepted fine okay ok acceptable must need needed always obligatory compulsory possible encouraged
    """
)
"""Stems of words that affirm what they are said of, and add nothing else."""

OPPOSITES: Mapping[str, tuple[str, str]] = {
    "order": ("before", "after"),
    "concurrency": ("parallel parallelised concurrent concurrently simultaneously", "sequential sequentially serial serially"),
    "waiting": ("synchronous synchronously sync blocking", "asynchronous asynchronously async non-blocking"),
    "laziness": ("lazy lazily on-demand", "eager eagerly upfront up-front"),
    "locking": ("optimistic", "pessimistic"),
    "access": ("public publicly open", "private internal"),
    "automation": ("automatic automatically generated auto", "manual manually hand"),
    "bound": ("bounded capped", "unbounded unlimited infinite"),
    "mutability": ("mutable", "immutable read-only readonly"),
    "payment": ("advance prepaid", "arrears postpaid afterwards"),
    "state": ("stateful", "stateless"),
    "typing": ("strict strictly", "lenient loose loosely"),
    "length": ("short-lived", "long-lived"),
    "growth": ("incremental incrementally delta changed", "full fully complete completely scratch whole entire"),
    "place": ("bundled embedded", "remote fetched downloaded"),
    "sort": ("ascending oldest", "descending newest"),
    "strategy": ("push pushed", "pull poll polling"),
    "end": ("immediate immediately instantly", "delayed deferred eventually restored recoverable"),
    "ownership": ("shared share", "own dedicated separate individual"),
    "cable": ("usb wired", "air wireless ota"),
    "hardness": ("hard-delete permanent permanently", "soft-delete soft"),
    "use": ("single-use once", "reusable multi-use"),
    "case": ("sensitive case-sensitive", "insensitive case-insensitive"),
    "balance": ("static statically", "dynamic dynamically"),
    "cover": ("encrypted", "plaintext plain cleartext unencrypted"),
    "version": ("latest", "pinned"),
    "count": ("single one", "multiple many several"),
    "visibility": ("visible shown", "hidden invisible removed"),
    "login": ("anonymous anonymously guest guests", "logged-in authenticated signed-in"),
    "persistence": ("survive survives persist persists persisted remains", "ends lost cleared discarded forgotten"),
    "failure": ("skip skips skipped skipping continue continues", "stop stops abort aborts halt halts"),
    "night": ("clock 24/7", "zero night overnight"),
}  # fmt: skip
"""Axes with the words at their two ends, of which a thing can be at one alone."""


POLES: Mapping[str, tuple[str, int]] = {
    stem(word): (axis, sign)
    for axis, ends in OPPOSITES.items()
    for sign, words in zip((1, -1), ends, strict=True)
    for word in words.split()
}

SCOPES: Mapping[str, str] = {
    **dict.fromkeys("staging stage preprod pre-production".split(), "staging"),
    **dict.fromkeys("production prod".split(), "production"),
    **dict.fromkeys("development dev local locally laptop".split(), "development"),
    **dict.fromkeys("nightly-build nightly-builds nightlies".split(), "nightly"),
    **dict.fromkeys("debug-build debug-builds".split(), "debug"),
    **dict.fromkeys("release-build release-builds".split(), "release"),
    **dict.fromkeys("ios iphone ipad".split(), "ios"),
    **{name: name for name in "android linux windows macos europe us eu asia legacy free old new".split()},
    **dict.fromkeys("weekend weekends".split(), "weekend"),
    **dict.fromkeys("weekday weekdays".split(), "weekday"),
    "european": "europe", "american": "us",
}  # fmt: skip
"""Words that say where something holds: elsewhere the opposite may."""

SOFT_SCOPES = frozenset({"old", "new"})
"""Of them those that only tell two things apart when each has one."""

PLACES = _words("in for on of by under at within inside during per")
"""Prepositions before what a claim is about, rather than before its value."""

CONDITIONS = _words("if when whenever unless except while during until whether where once")
"""Words that begin what a claim is limited to."""

BREAKS = _words("so but therefore hence")
"""Words between two claims of one sentence."""

VERB_MARKS = _words(
    "is are was were be been must should shall can may will would has have had does do did needs need gets get"
)
"""Verbs at which a subject ends."""

REASONS = _words("because since although though whereas which due thanks otherwise")
"""Words that begin what is told beside a claim: its reason, its consequence."""

HEDGES = _words("considered consider considering discussed proposed propose propose might maybe perhaps "
                "suggested looked investigated thinking wonder wondering idea")  # fmt: skip
"""Words of sentences that claim nothing yet."""

NEWER = (
    "now", "nowadays", "no longer", "not any more", "anymore", "any more", "instead of", "in place of", "switched",
    "switch from", "switch to", "switched from", "moved off", "moved from", "moved to", "migrated", "replaced",
    "replaces", "from now on", "these days", "gave up", "since the upgrade", "thought about it again", "changed from",
    "was shortened", "was raised", "was lowered", "is gone", "are gone", "has changed", "have changed", "as of",
)  # fmt: skip
"""Phrases that say that something held before and this holds now."""

REPLACED = (
    "instead of", "rather than", "in place of", "switched from", "switch from", "moved off", "moved from", "migrated from",
    "migrate from", "replaces", "replaced", "replace", "over", "away from", "gave up on", "drop", "dropped", "in favour of not",
    "not", "no longer", "no more", "without", "ditched", "abandoned", "than", "retired", "got rid of", "removed",
)  # fmt: skip
"""Phrases before the name of what was not chosen, or no longer is."""

NUMBERS = {
    word: number
    for number, words in enumerate(
        "zero one=once=single two=twice three=thrice four five six seven eight nine ten eleven twelve".split()
    )
    for word in words.split("=")
} | {"fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50, "sixty": 60, "ninety": 90, "hundred": 100}

GENERIC = frozenset(STOP_WORDS) | _stems(
    """
    can could would may must should shall need needs ever never zero one two three four five six seven eight nine ten three-times
    than larger smaller bigger more less fewer over under
    use used using run runs running make made do does done get gets got go goes set sets be have has had let put take
    takes choose chose chosen decide decided decision pick picked settle settled keep kept store stored storing save
    saved live lives sit sits reside hold held serve served back backed base based want wanted work works thing things
    way now currently today anymore more any every each all always only just still also even then there here new old
    per via within at about around least most maximum minimum max min up long day days week weeks month months year
    hour hours minute minutes second seconds ms time times please reminder note notes remember record heads hey
    we our us you your they them their it its this that these those one ones someone people who what which how
    default defaults value values number size amount limit limited setting settings since because after before case
    turn turns turned out off on through straight directly direct everywhere again longer rule standing reason context
    consequence feat fix chore refactor perf docs policy prefer preferred
    like such some other own same good better best well very much many few several both either fully own certain
    decided agreed agree from into onto over under between with without for of to by as in
    come comes came give gives gave start starts started happen happens become becomes place mean means
    """
)
"""Stems that say nothing of what a claim is about."""

LIGHT = _stems(
    """
    read reads write written build built report reports leave return returned raise raised count counts compile target
    promise follow offer provide handle process create produce emit expose listen connect talk stay remain show shown
    display displayed print print contain support add added copy copied load loaded send sent receive get apply applied
    change changed try tried ship shipped deliver delivered expire answer accept take pass passed call called define
    defined configure configured perform performed execute executed trigger triggered consist fixed pin pinned
    """
)
"""Stems of verbs that say little of what a claim is about: others often stand in their place."""

SAME_WORDS: Mapping[str, str] = {
    stem(word): stem(group.split()[0])
    for group in (
        "pullrequest pr prs mr mrs mergerequest", "database db dbs", "repository repo repos", "configuration config cfg conf",
        "authentication auth login authenticate authenticated", "expire expires expired expiry ttl valid validity lifetime lifespan",
        "retention retain retained keep kept", "timeout timeouts timed giveup", "delete deleted deletion remove removed purge erase",
        "upload uploads uploaded", "cache caches cached caching", "deploy deploys deployed deployment deployments rollout rolled",
        "log logs logged logging", "build builds", "test tests testing tested", "retry retries retried attempt attempts",
        "forcepush force-push", "merge merged merging", "translation translations localized localised strings",
        "session sessions", "bus queue broker", "commit commits committing", "fail fails failing break breaks breaking",
        "vat tax taxes", "indent indentation indented", "partition partitions partitioned", "reject rejected rejects refuse refused",
        "train training trained", "paginate pagination paging", "password passwords", "personal pii", "network internet",
        "kubernetes k8s", "request requests call calls", "startup start-up", "credential credentials secret secrets",
        "format formatting formatted formatter", "lint linting linter", "docstring docstrings", "machine node nodes server-node",
        "overnight night", "message messages payload payloads", "user users", "review reviews reviewed",
        "import importer imports", "frequency hz", "approval approvals approve", "latency latencies", "release releases",
        "row rows record", "account accounts", "uptime availability", "handover rotation shift", "coverage covered",
        "generate generated", "render renderer rendering", "index indexes indexed", "heartbeat ping pings",
        "price prices", "folder directory", "exit exits", "unit units", "sla", "schema migration",
    )
    for word in group.split()
}  # fmt: skip
"""Stems that mean the same in notes of engineers."""

EXCEPTIONS = _words("except unless apart besides")
"""Words that take something out of a claim."""

EVENTS = _words("incident postmortem bug crashed crash happened outage took broke leaked reached")
"""Words that begin an account of what happened."""

ROLES = _stems(
    """
    level format language framework tool strategy algorithm method mode type protocol provider engine backend driver licence
    license color colour theme name prefix suffix branch region zone currency encoding convention style approach runner
    manager port target platform owner lead maintainer codec model order direction unit resolution
    """
)
"""Stems of nouns that stand for one thing alone at a time."""

HOSTING = _words(
    "stored store stores kept keep keeps live lives hosted deployed run runs running saved located sits held put written "
    "write writes generated done happens decoded made rendered evaluated"
)
"""Verbs behind which `in`, `on` and `at` lead to a value."""

VALUE_PLACES: Mapping[str, str] = {
    **dict.fromkeys("by via through with using over".split(), "by"),
    **dict.fromkeys("to into".split(), "to"),
    "from": "from",
    "as": "as",
    **dict.fromkeys("in on at".split(), "in"),
}
"""Prepositions that lead to a value, by those that mean the same."""

OWNING = _words("owns owned maintains maintained leads led reviews")


_MODALS = "may must can should shall do does did will".split()
_MORE = "more larger longer bigger greater higher".split()
_GROUPS: Mapping[str, tuple[str, ...]] = {
    "pr": ("pull request", "pull requests", "merge request", "merge requests"),
    "timeout": (
        "time out", "times out", "timed out", "timing out", "time-out", "time-outs", "timeouts",
        "give up", "gives up", "giving up", "give up on", "gives up on", "giving up on",
    ),
    "dropped": ("gave up on", "moved off", "moved away from", "got rid of", "getting rid of", "said goodbye to"),
    "logged-in": ("logged in", "signed in", "signed-in"),
    "no longer": ("no more", "not any more", "not anymore"),
    "because": ("so that",),
    "fully": ("from scratch",),
    "manually": ("by hand",),
    "force-push": ("force push", "force pushes", "force pushing", "force-pushes", "force-pushing", "force-pushed"),
    "unit-test tests": ("unit tests",),
    "integration-test tests": ("integration tests",),
    "ota": ("over the air", "over-the-air"),
    "debug-build": ("debug build", "debug builds"),
    "release-build": ("release build", "release builds"),
    "nightly-build": ("nightly build", "nightly builds"),
    "≤": (
        "up to", "exceed", "exceeds", "exceeding", *(f"{modal} not exceed" for modal in _MODALS),
        *(f"{no} {more} than" for no in ("no", "not", "never") for more in _MORE),
    ),
    "setup": ("set up",),
    "startup": ("start up", "start-up"),
    "deployed": ("rolled out",),
    "on": ("turned on", "switched on"),
    "off": ("turned off", "switched off"),
    "at-least-once": ("at least once",),
    "at-most-once": ("at most once",),
    "exactly-once": ("exactly once",),
    "": (
        "as well", "in order", "at once", "without exception", "not only", "no matter", "whether or not",
        "no need to worry", "of course",
    ),
    **{f"{verb} not": (f"{verb}nt",) for verb in "do does did is are was must should could would".split()},
    "will not": ("wont",),
    "can not": ("cant",),
}  # fmt: skip


PHRASES: Mapping[tuple[str, ...], tuple[str, ...]] = {
    tuple(phrase.split()): tuple(written.split()) for written, group in _GROUPS.items() for phrase in group
}
"""The words that a sequence of words in lower case stands for."""

LONGEST_PHRASE = max(map(len, PHRASES))
FIRST_WORDS = frozenset(phrase[0] for phrase in PHRASES)


REGION = "region"
REGIONS = regex(r"(?:[a-z]{2}|[a-z]{4,12})(?:-gov)?-(?:north|south|east|west|central){1,2}-?\d{1,2}[a-z]?")
"""The names of regions of clouds: there are too many to list."""
_CLASSES: Mapping[str, str] = {
    "database": """postgresql=postgres=postgre=pg mysql mariadb sqlite mongodb=mongo oracle mssql=sqlserver=sql-server
        cassandra scylladb cockroachdb dynamodb couchdb firestore neo4j clickhouse duckdb snowflake bigquery redshift
        redis=redis-cluster memcached valkey rocksdb leveldb influxdb timescaledb supabase planetscale""",
    "search engine": "elasticsearch=elastic opensearch meilisearch solr typesense algolia lucene tantivy sphinx",
    "broker": """kafka rabbitmq nats pulsar activemq zeromq mosquitto redpanda sqs kinesis pubsub=pub/sub eventbridge
        celery sidekiq""",
    "language": """python java kotlin swift typescript javascript rust golang=go ruby php perl scala elixir erlang
        haskell clojure c++=cpp c# f# dart lua ocaml zig julia gdscript""",
    "web framework": """django flask fastapi rails=ruby-on-rails express nestjs spring=spring-boot laravel symfony gin
        actix axum phoenix starlette bottle tornado sinatra ktor""",
    "frontend framework": "react vue angular svelte solidjs preact ember backbone htmx nextjs=next.js nuxt sveltekit remix",
    "mobile framework": "flutter react-native swiftui uikit jetpack-compose xamarin ionic cordova maui",
    "bundler": "webpack vite rollup esbuild parcel turbopack rspack browserify",
    "package manager": "npm yarn pnpm bun poetry pip pipenv uv conda mamba cargo maven gradle bazel buck",
    "test runner": "jest vitest mocha jasmine ava pytest unittest nose junit testng rspec minitest catch2 gtest=googletest",
    "browser driver": "cypress playwright selenium puppeteer webdriverio testcafe",
    "linter": "eslint flake8 ruff pylint biome tslint standardjs golangci-lint rubocop clippy",
    "formatter": "prettier black yapf autopep8 gofmt rustfmt clang-format dprint",
    "type checker": "mypy pyright pyre pytype",
    "ci": """github-actions gitlab-ci jenkins circleci travis=travis-ci buildkite teamcity drone azure-pipelines
        bitbucket-pipelines""",
    "cloud": "aws gcp azure hetzner digitalocean linode ovh heroku vercel netlify fly.io cloudflare",
    "object store": "s3 gcs minio azure-blob r2 ceph backblaze",
    "orchestrator": "kubernetes=k8s nomad docker-swarm mesos ecs openshift systemd docker-compose",
    "provisioning": "terraform pulumi cloudformation ansible chef puppet saltstack opentofu",
    "delivery": "argo-cd=argocd flux fluxcd spinnaker capistrano",
    "registry": "ghcr ghcr.io ecr dockerhub=docker-hub quay artifactory harbor nexus",
    "secrets": "vault sops doppler aws-secrets-manager infisical",
    "monitoring": "prometheus datadog newrelic=new-relic graphite zabbix nagios influx dynatrace",
    "error tracker": "sentry rollbar bugsnag honeybadger",
    "log store": "loki splunk graylog fluentd logstash papertrail cloudwatch",
    "proxy": "nginx apache caddy traefik haproxy envoy kong varnish",
    "api style": "rest graphql grpc soap trpc json-rpc thrift",
    "transport": "websocket=websockets sse=server-sent-events long-polling polling webhook=webhooks",
    "format": "yaml=yml toml ini hcl json xml csv parquet avro protobuf=protobufs msgpack=messagepack cbor flatbuffers",
    "image format": "webp avif png jpeg=jpg gif svg",
    "font format": "woff woff2 ttf otf",
    "audio format": "mp3 aac opus ogg flac wav",
    "texture format": "astc etc2 bc7 dxt pvrtc",
    "compression": "gzip=gz zstd=zstandard brotli lz4 snappy bzip2 xz deflate zlib",
    "hash": "bcrypt scrypt argon2=argon2id=argon2i pbkdf2 md5 sha1=sha-1 sha256=sha-256 sha512=sha-512 blake3 xxhash",
    "cipher": "aes chacha20 des blowfish rsa ed25519 ecdsa aes-256-gcm aes-128-cbc",
    "auth": "oauth=oauth2 saml ldap basic-auth jwt=jwts api-key=api-keys session-cookies mtls passkeys kerberos",
    "branching": "trunk-based=trunk-based-development git-flow=gitflow github-flow",
    "repository layout": "monorepo=mono-repo=single-repository polyrepo=multi-repo=own-repository=separate-repositories",
    "merge": "squash=squashed=squash-merge rebase=rebased=rebasing merge-commit=merge-commits fast-forward",
    "version control": "git mercurial=hg subversion=svn perforce",
    "naming": """snake_case=snake-case=snake camelcase=camel-case=lowercamelcase kebab-case=kebab pascalcase=pascal-case
        screaming_snake_case""",
    "indentation": "tabs=tab spaces=space",
    "id": """uuid=uuids=uuidv4=uuidv7=uuid4=uuid7 bigint=bigserial=serial=auto-increment=autoincrement=sequence ulid=ulids
        snowflake-id nanoid""",
    "number type": """float=floats=floating-point=double integer=integers=int=ints=cents=integer-cents
        decimal=decimals=numeric fixed-point""",
    "time zone": "utc=gmt=zulu local-time=local-timezone=local-time-zone cet est pst",
    "temperature": "celsius fahrenheit kelvin",
    "measure": "metric imperial",
    "weekday": """monday=mondays tuesday=tuesdays wednesday=wednesdays thursday=thursdays friday=fridays
        saturday=saturdays sunday=sundays""",
    "period": """hourly=hour daily=nightly=day=night weekly=week biweekly=fortnightly=fortnight monthly=month
        quarterly=quarter yearly=annually=annual=year""",
    "optimizer": "adam adamw sgd rmsprop adagrad lion adafactor lbfgs",
    "ml framework": "pytorch=torch tensorflow jax keras mxnet scikit-learn=sklearn",
    "boosting": "xgboost lightgbm catboost random-forest",
    "loss": "cross-entropy mse mae hinge-loss focal-loss huber",
    "precision": "fp32=float32 fp16=float16 bf16=bfloat16 fp8 int8 int4",
    "workflow": "airflow dagster prefect luigi argo-workflows temporal step-functions cron",
    "query engine": "spark flink beam trino presto hive dask polars pandas",
    "experiment tracker": "mlflow wandb=weights-and-biases neptune tensorboard comet",
    "vector store": "pgvector faiss pinecone weaviate qdrant milvus chroma",
    "game engine": "unity unreal=unreal-engine godot bevy cryengine phaser",
    "physics": "box2d bullet physx havok jolt rapier",
    "graphics": "opengl vulkan directx=direct3d metal webgl webgpu",
    "rtos": "freertos zephyr threadx rtthread=rt-thread nuttx vxworks",
    "mcu": "esp32 esp8266 stm32 rp2040 nrf52 arduino atmega avr",
    "bus": "i2c spi uart can lin usb ethernet modbus bluetooth=ble zigbee lora wifi=wi-fi",
    "debugger": "openocd jlink=j-link st-link pyocd",
    "compiler": "gcc clang msvc icc llvm",
    "build tool": "cmake meson make=makefile=makefiles ninja scons autotools just taskfile",
    "base image": "alpine debian ubuntu distroless scratch busybox ubi centos fedora",
    "licence": "mit apache-2.0=apache2=apache-license gpl=gplv3=gplv2 bsd mpl agpl lgpl proprietary",
    "docs": "sphinx mkdocs docusaurus mdbook jekyll hugo gitbook asciidoctor",
    "css": "tailwind=tailwindcss bootstrap bulma styled-components css-modules sass=scss less emotion",
    "state": "redux zustand mobx pinia vuex recoil jotai xstate",
    "orm": "sqlalchemy prisma typeorm sequelize hibernate activerecord django-orm drizzle knex ent gorm",
    "migration tool": "alembic flyway liquibase goose dbmate",
    "feature flags": "launchdarkly unleash flagsmith growthbook",
    "mail": "ses=amazon-ses sendgrid mailgun postmark mailchimp smtp",
    "payments": "stripe paypal adyen braintree mollie square",
    "issue tracker": "jira linear asana trello youtrack redmine bugzilla github-issues",
    "chat": "slack teams=microsoft-teams discord mattermost zulip irc",
    "human language": "english german french spanish italian portuguese polish russian japanese chinese",
    "consistency": "at-least-once at-most-once exactly-once",
    "paging": "cursor=cursors=cursor-based=keyset offset=offsets=offset-based page-number",
    "encoding": "utf-8=utf8 utf-16=utf16 latin-1=latin1=iso-8859-1 ascii",
    "endianness": "little-endian big-endian",
    "colour order": "rgb grb bgr rgba",
    "quote": "single-quotes double-quotes",
    "line end": "crlf lf",
    "instance": "spot=spot-instances=preemptible on-demand=on-demand-instances reserved-instances",
    "queue order": "fifo lifo",
    "eviction": "lru lfu",
    "side": "server=server-side=backend=back-end client=client-side=browser=frontend=front-end",
    "agreement": "cla dco",
    "replica": "primary=master replica=read-replica=secondary=standby",
    "branch": "main=trunk develop",
    "failure": "exceptions=exception error-values=result-type",
    REGION: "eu-west-1 us-east-1 us-west-2 eu-central-1 ap-southeast-1",
    "severity": "debug-level info-level warn-level error-level",
    "role": "platform-team backend-team frontend-team data-team security-team support-team infra-team ops-team",
}

SCOPED = frozenset({"side", "replica", "weekday", "human language", "role", "branch", REGION})
"""Classes whose names are also what a sentence is about: as its subject they tell two things apart."""


NAMES: dict[str, tuple[str, str]] = {
    name: (kind, group.split("=")[0])
    for kind, names in reversed(tuple(_CLASSES.items()))  # the first class that has a name counts
    for group in reversed(names.split())
    for name in group.split("=")
}
"""For each name in lower case, words joined by a hyphen: its class, and the one name for all its spellings."""

CASED = frozenset("go swift express spring make just less beam metal square can lin can't lion drone flux teams linear "
                  "unity ember chef ent ava pip black nose comet temporal hive scratch sequence state space "
                  "teams puppet loki vault scratch linear bun spark presto lucene double".split())  # fmt: skip
"""Names that are also plain words: they count where they begin with a capital inside a sentence, or stand as code."""

PLAIN = frozenset("space double sequence scratch".split())
"""Of these the ones that are hardly ever written with a capital when they are meant."""

FIRST_PARTS = frozenset(name.split("-")[0] for name in NAMES if "-" in name)
LONGEST = max(name.count("-") for name in NAMES) + 1
