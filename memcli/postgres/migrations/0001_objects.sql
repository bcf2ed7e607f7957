-- Spaces and their memories, and what is kept beside them. Every key begins with the space.

CREATE TABLE space (
    space text COLLATE "C" PRIMARY KEY,
    epoch bigint GENERATED ALWAYS AS IDENTITY,  -- differs where a space was deleted and made again
    version bigint NOT NULL,                    -- one more with each write
    header bytea NOT NULL,                      -- the canonical file of the space without its memories
    objects bigint NOT NULL,
    bytes bigint NOT NULL,                      -- of all bodies
    collected text NOT NULL DEFAULT ''          -- when gc last did its work
) WITH (fillfactor = 50);

CREATE TABLE memory (
    space text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    row bigint GENERATED ALWAYS AS IDENTITY,
    path text COLLATE "C" NOT NULL,
    hash text COLLATE "C" NOT NULL,
    updated_at text COLLATE "C" NOT NULL,
    body bytea NOT NULL,                        -- as it stands in a space file, byte for byte
    PRIMARY KEY (space, id),
    UNIQUE (space, row)
);
CREATE INDEX memory_path ON memory (space, path);
CREATE INDEX memory_hash ON memory (space, hash);
CREATE INDEX memory_order ON memory (space, updated_at, id);

CREATE TABLE trash (
    space text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    written bigint GENERATED ALWAYS AS IDENTITY,
    ids text[] COLLATE "C" NOT NULL,            -- of the memories in it
    body bytea NOT NULL,
    PRIMARY KEY (space, name)
);
CREATE INDEX trash_ids ON trash USING gin (ids);

CREATE TABLE audit (
    space text COLLATE "C" NOT NULL,
    n bigint NOT NULL,
    mark uuid NOT NULL,                         -- of the write: by it a writer finds out whether it was committed
    hash text NOT NULL,
    line bytea NOT NULL,
    PRIMARY KEY (space, n)
);
CREATE INDEX audit_mark ON audit (space, mark);

CREATE TABLE request (
    space text COLLATE "C" NOT NULL,
    number bigint GENERATED ALWAYS AS IDENTITY,
    at timestamptz NOT NULL DEFAULT now(),
    body bytea NOT NULL,                        -- what a writer wants of whoever holds the space
    answer bytea,
    PRIMARY KEY (space, number)
);

CREATE TABLE charge (
    space text COLLATE "C" NOT NULL,
    day text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    booked bytea NOT NULL,
    settled bytea,
    PRIMARY KEY (space, day, number)
);
