-- What recall needs beside the memories. All of it follows from them, and `memcli store index rebuild` makes it again.
-- Text is compared by its bytes, as everywhere in memcli.

CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;

CREATE SEQUENCE entry_row;

-- A row stands for one version of a memory: a memory that changes gets another row.
CREATE TABLE entry (
    space text COLLATE "C" NOT NULL,
    row bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    path text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    tags text COLLATE "C" NOT NULL,
    relevance text COLLATE "C" NOT NULL,
    pinned boolean NOT NULL,
    scope text COLLATE "C" NOT NULL,
    created_at text COLLATE "C" NOT NULL,
    updated_at text COLLATE "C" NOT NULL,
    importance float8 NOT NULL,
    confidence float8 NOT NULL,
    grp text COLLATE "C" NOT NULL,
    position text COLLATE "C" NOT NULL,
    terms integer NOT NULL,
    speaker text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    hidden boolean NOT NULL,
    active boolean NOT NULL,
    superseded_by text COLLATE "C" NOT NULL,
    valid_from text COLLATE "C" NOT NULL,
    valid_until text COLLATE "C" NOT NULL,
    triggers text COLLATE "C" NOT NULL,
    commit_hash text COLLATE "C" NOT NULL,
    confirmed_at text COLLATE "C" NOT NULL,
    season text COLLATE "C" NOT NULL,
    tells boolean NOT NULL,
    characters integer NOT NULL,
    is_odd boolean NOT NULL,
    PRIMARY KEY (space, row)
);
CREATE UNIQUE INDEX entry_id ON entry (space, id);
CREATE INDEX entry_path ON entry (space, path, id);
CREATE INDEX entry_kind ON entry (space, kind);
CREATE INDEX entry_created ON entry (space, created_at);
CREATE INDEX entry_updated ON entry (space, updated_at);
CREATE INDEX entry_group ON entry (space, grp, position, row, terms) WHERE grp <> '';
CREATE INDEX entry_commit ON entry (space, commit_hash, id) WHERE commit_hash <> '';
CREATE INDEX entry_pinned ON entry (space, row) WHERE pinned;
CREATE INDEX entry_triggers ON entry (space, row) WHERE triggers <> '';
CREATE INDEX entry_odd ON entry (space, row) WHERE is_odd;
CREATE INDEX entry_limited ON entry (space, row) WHERE hidden OR valid_from <> '' OR valid_until <> '';

-- The analysed terms of each field, with blanks between them, in order.
CREATE TABLE field (
    space text COLLATE "C" NOT NULL,
    row bigint NOT NULL,
    path text COLLATE "C" NOT NULL,
    tags text COLLATE "C" NOT NULL,
    summary text COLLATE "C" NOT NULL,
    raw text COLLATE "C" NOT NULL,
    content text COLLATE "C" NOT NULL,
    PRIMARY KEY (space, row)
);

-- The distinct terms of all fields, twice what the occurrences of each count together, and the number of all occurrences.
CREATE TABLE term (
    space text COLLATE "C" NOT NULL,
    row bigint NOT NULL,
    size integer NOT NULL,
    lexemes text[] COLLATE "C" NOT NULL,
    weights smallint[] NOT NULL,
    PRIMARY KEY (space, row)
);

-- A lexeme of the index begins with the space, so that a term is looked up among the memories of one space alone.
CREATE FUNCTION lexemes_of(space text, terms text[]) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT array_to_tsvector(string_to_array(space || '/' || array_to_string(terms, ' ' || space || '/'), ' ')) $$;

CREATE INDEX term_lexemes ON term USING gin (lexemes_of(space, lexemes)) WITH (gin_pending_list_limit = 256);

-- In how many memories each term stands, but for what is pending.
CREATE TABLE frequency (
    space text COLLATE "C" NOT NULL,
    term text COLLATE "C" NOT NULL,
    memories bigint NOT NULL,
    PRIMARY KEY (space, term)
);

CREATE INDEX frequency_none ON frequency (space) WHERE memories = 0;

-- The sums over a space, but for what is pending.
CREATE TABLE total (
    space text COLLATE "C" NOT NULL PRIMARY KEY,
    version text COLLATE "C" NOT NULL,
    memories bigint NOT NULL,
    tokens bigint NOT NULL,
    path bigint NOT NULL,
    tags bigint NOT NULL,
    summary bigint NOT NULL,
    raw bigint NOT NULL,
    content bigint NOT NULL,
    passages bigint NOT NULL,
    terms bigint NOT NULL
);

-- What each write adds to both: writers only insert here, so that none waits for another.
CREATE TABLE pending (
    space text COLLATE "C" NOT NULL,
    number bigint GENERATED ALWAYS AS IDENTITY,
    memories bigint NOT NULL,
    tokens bigint NOT NULL,
    path bigint NOT NULL,
    tags bigint NOT NULL,
    summary bigint NOT NULL,
    raw bigint NOT NULL,
    content bigint NOT NULL,
    passages bigint NOT NULL,
    terms bigint NOT NULL,
    lexemes text[] COLLATE "C" NOT NULL,
    counts integer[] NOT NULL,
    PRIMARY KEY (space, number)
);

CREATE TABLE passage (
    space text COLLATE "C" NOT NULL,
    row bigint NOT NULL,
    n integer NOT NULL,
    form text COLLATE "C" NOT NULL,
    first integer NOT NULL,
    last integer NOT NULL,
    heading text COLLATE "C" NOT NULL,
    is_versioned boolean NOT NULL,
    key bytea NOT NULL,
    PRIMARY KEY (space, row, n)
);
CREATE INDEX passage_key ON passage (space, key);

-- What was said, with what was said right before it.
CREATE TABLE turn (
    space text COLLATE "C" NOT NULL,
    row bigint NOT NULL,
    before bigint NOT NULL,
    grp text COLLATE "C" NOT NULL,
    key bytea NOT NULL,
    PRIMARY KEY (space, row)
);
CREATE INDEX turn_group ON turn (space, grp);
CREATE INDEX turn_key ON turn (space, key);

CREATE TABLE link (
    space text COLLATE "C" NOT NULL,
    row bigint NOT NULL,
    target text COLLATE "C" NOT NULL,
    relation text COLLATE "C" NOT NULL,
    weight float8 NOT NULL
);
CREATE INDEX link_row ON link (space, row);
CREATE INDEX link_target ON link (space, target);

CREATE TABLE anchor (
    space text COLLATE "C" NOT NULL,
    row bigint NOT NULL,
    file text COLLATE "C" NOT NULL,
    first bigint NOT NULL,
    last bigint NOT NULL
);
CREATE INDEX anchor_row ON anchor (space, row);
CREATE INDEX anchor_file ON anchor (space, file);

-- The vector of a text by one model, its components as whole numbers, with its squared norm.
CREATE TABLE embedding (
    space text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    key bytea NOT NULL,
    square bigint NOT NULL,
    value halfvec NOT NULL,
    PRIMARY KEY (space, model, key)
);

-- Up to which row every text has a vector by the model.
CREATE TABLE embedded (
    space text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    row bigint NOT NULL,
    PRIMARY KEY (space, model)
);

CREATE TABLE clustering (
    space text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    data text NOT NULL,
    PRIMARY KEY (space, model)
);
