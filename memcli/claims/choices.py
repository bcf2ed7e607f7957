"""Names among which a project chooses one: two of one class in the same place exclude each other. Data."""

from __future__ import annotations

from collections.abc import Mapping

from memcli.regex import regex

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


def _members() -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for kind, names in _CLASSES.items():
        for group in names.split():
            same = group.split("=")
            for name in same:
                found.setdefault(name, (kind, same[0]))
    return found


NAMES = _members()
"""For each name in lower case, words joined by a hyphen: its class, and the one name for all its spellings."""

CASED = frozenset("go swift express spring make just less beam metal square can lin can't lion drone flux teams linear "
                  "unity ember chef ent ava pip black nose comet temporal hive scratch sequence state space "
                  "teams puppet loki vault scratch linear bun spark presto lucene double".split())  # fmt: skip
"""Names that are also plain words: they count where they begin with a capital inside a sentence, or stand as code."""

PLAIN = frozenset("space double sequence scratch".split())
"""Of these the ones that are hardly ever written with a capital when they are meant."""

FIRST_PARTS = frozenset(name.split("-")[0] for name in NAMES if "-" in name)
LONGEST = max(name.count("-") for name in NAMES) + 1
