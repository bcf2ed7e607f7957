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
    token uuid NOT NULL,                        -- chosen by who asks, so that asking again is safe
    number bigint GENERATED ALWAYS AS IDENTITY, -- in this order they are answered
    at timestamptz NOT NULL DEFAULT now(),
    body bytea NOT NULL,                        -- what a writer wants of whoever holds the space
    answer bytea,
    PRIMARY KEY (space, token)
);
CREATE INDEX request_open ON request (space, number) WHERE answer IS NULL;
CREATE INDEX request_answered ON request (space, at) WHERE answer IS NOT NULL;

-- Waits until whoever holds a space is done. `said`: the answer to a request. Where there is none, the space is held from
-- here on, with all who still wait behind this one: its transaction answers them. `is_known`: false for no such request.
-- Only one of those who find no answer asks for the space; the others go on together when that one is done.
CREATE FUNCTION await_answer(asked text, wanted uuid, OUT is_known boolean, OUT said bytea) LANGUAGE plpgsql AS $$
DECLARE
    of_space text := current_schema() || '/' || asked;
BEGIN
    LOOP
        BEGIN
            PERFORM pg_advisory_xact_lock_shared(hashtextextended(of_space, 0));
            RAISE SQLSTATE 'MEM01';  -- gives back what the block has locked
        EXCEPTION WHEN SQLSTATE 'MEM01' THEN NULL;
        END;
        SELECT true, answer INTO is_known, said FROM request WHERE space = asked AND token = wanted;
        EXIT WHEN is_known IS NULL OR said IS NOT NULL;
        IF pg_try_advisory_xact_lock(hashtextextended(of_space, 2)) THEN
            PERFORM pg_advisory_xact_lock(hashtextextended(of_space, 0));
            SELECT true, answer INTO is_known, said FROM request WHERE space = asked AND token = wanted;
            EXIT;
        END IF;
    END LOOP;
    is_known := coalesce(is_known, false);
END $$;

CREATE TABLE charge (
    space text COLLATE "C" NOT NULL,
    day text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    booked bytea NOT NULL,
    settled bytea,
    PRIMARY KEY (space, day, number)
);
