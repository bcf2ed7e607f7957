-- What a role may do is for the server to enforce: the log grows by a function alone, only an admin erases for good, and
-- writers wait for rows, which readers cannot lock.

-- A writer of a space holds its row `memories` to the end of its transaction, one who books a call its row `charges`.
CREATE TABLE mutex (
    space text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    PRIMARY KEY (space, name)
);
SELECT protect('mutex');

-- Whether this transaction holds the mutex from here on: one that is not patient does not wait for another.
CREATE FUNCTION seize(asked text, part text, is_patient boolean) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    LOOP
        IF is_patient THEN
            PERFORM FROM mutex WHERE space = asked AND name = part FOR UPDATE;
        ELSE
            PERFORM FROM mutex WHERE space = asked AND name = part FOR UPDATE SKIP LOCKED;
        END IF;
        IF FOUND THEN
            RETURN true;
        END IF;
        INSERT INTO mutex VALUES (asked, part) ON CONFLICT DO NOTHING;
        IF FOUND OR NOT is_patient THEN
            RETURN FOUND;
        END IF;
    END LOOP;
END $$;

-- Waits until whoever holds a space is done. `said`: the answer to a request. Where there is none, the space is held from
-- here on, with all who still wait behind this one: its transaction answers them. `is_known`: false for no such request.
-- Whoever finds an answer gives the space back at once, in the order in which they came.
CREATE OR REPLACE FUNCTION await_answer(asked text, wanted uuid, OUT is_known boolean, OUT said bytea) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM seize(asked, 'memories', true);
    SELECT true, answer INTO is_known, said FROM request WHERE space = asked AND token = wanted;
    is_known := coalesce(is_known, false);
    IF said IS NOT NULL OR NOT is_known THEN
        RAISE SQLSTATE 'MEM01';  -- gives back what the block has locked
    END IF;
EXCEPTION WHEN SQLSTATE 'MEM01' THEN NULL;
END $$;

-- An admin erases for good; where the policy grants no grace, so does whoever removes anything.
CREATE FUNCTION may_erase(asked text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT may('admin', asked) OR coalesce(
        (SELECT (convert_from(header, 'UTF8')::jsonb -> 'policy' ->> 'grace_days')::float8 = 0 FROM space WHERE space = asked),
        false)
$$;

-- Others remove what the trash has, and take out of the trash what the space has again.
CREATE FUNCTION check_erasure() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    is_kept boolean;
BEGIN
    IF tg_table_name = 'memory' THEN
        is_kept := EXISTS (SELECT FROM trash WHERE space = old.space AND ids @> ARRAY[old.id]);
    ELSE
        is_kept := NOT EXISTS (
            SELECT FROM unnest(old.ids) AS lost (id)
            WHERE (tg_op = 'DELETE' OR NOT lost.id = ANY (new.ids))
                AND NOT EXISTS (SELECT FROM memory WHERE memory.space = old.space AND memory.id = lost.id)
        );
    END IF;
    IF NOT is_kept AND NOT may_erase(old.space) THEN
        RAISE insufficient_privilege USING MESSAGE = format(
            'to erase memories of space %s for good takes an admin', quote_literal(old.space));
    END IF;
    RETURN CASE WHEN tg_op = 'DELETE' THEN old ELSE new END;
END $$;
CREATE TRIGGER check_erasure BEFORE DELETE ON memory FOR EACH ROW EXECUTE FUNCTION check_erasure();
CREATE TRIGGER check_erasure BEFORE UPDATE OR DELETE ON trash FOR EACH ROW EXECUTE FUNCTION check_erasure();

-- What the hash of a line of the log binds: see codec/audit.py.
CREATE FUNCTION bound_of(line jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT (line - 'hash') || jsonb_build_object('changes', coalesce(jsonb_agg(
        CASE WHEN jsonb_typeof(one -> 'path') = 'string' THEN one - 'path' || jsonb_build_object('path_hash', encode(
            sha256('memcli/audit/3\000'::bytea || convert_to(one ->> 'path', 'UTF8')), 'hex')) ELSE one - 'path' END ORDER BY n), '[]'))
    FROM jsonb_array_elements(line -> 'changes') WITH ORDINALITY AS every (one, n)
$$;

-- Appends lines to the log of a space, each with the bytes that its hash binds, if they continue the chain. That memories
-- are gone for good, which a line says by leaving out their paths, only those may say who may erase.
CREATE FUNCTION append_audit(asked text, marked uuid, lines bytea[], bounds bytea[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    last record;
    one record;
    said jsonb;
BEGIN
    IF NOT may('writer', asked) THEN
        RAISE insufficient_privilege USING MESSAGE = format('to write space %s takes a writer', quote_literal(asked));
    END IF;
    PERFORM seize(asked, 'memories', true);
    SELECT n, hash INTO last FROM audit WHERE space = asked ORDER BY n DESC LIMIT 1;
    last.n := coalesce(last.n, 0);
    FOR one IN SELECT * FROM unnest(lines, bounds) AS every (line, bound) LOOP
        said := convert_from(one.line, 'UTF8')::jsonb;
        IF said ->> 'hash' IS DISTINCT FROM '3:' || encode(sha256('memcli/audit/3\000'::bytea || one.bound), 'hex')
            OR said ->> 'n' IS DISTINCT FROM (last.n + 1)::text OR said ->> 'prev' IS DISTINCT FROM coalesce(last.hash, '')
            OR said ->> 'space' IS DISTINCT FROM asked OR bound_of(said) <> convert_from(one.bound, 'UTF8')::jsonb
        THEN
            RAISE insufficient_privilege USING MESSAGE = format('a line does not continue the log of space %s', quote_literal(asked));
        END IF;
        IF jsonb_path_exists(said, '$.changes[*] ? (@.after == "" && !exists(@.path))') AND NOT may_erase(asked) THEN
            RAISE insufficient_privilege USING MESSAGE = format(
                'to erase memories of space %s for good takes an admin', quote_literal(asked));
        END IF;
        INSERT INTO audit (space, n, mark, hash, line) VALUES (asked, last.n + 1, marked, said ->> 'hash', one.line);
        last.n := last.n + 1;
        last.hash := said ->> 'hash';
    END LOOP;
END $$;

-- Takes paths out of lines of the log, which stay bound as they are.
CREATE FUNCTION hide_paths(asked text, numbers bigint[], lines bytea[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF NOT may_erase(asked) OR EXISTS (
        SELECT FROM unnest(numbers, lines) AS every (n, line) JOIN audit ON audit.space = asked AND audit.n = every.n
        WHERE bound_of(convert_from(every.line, 'UTF8')::jsonb) <> bound_of(convert_from(audit.line, 'UTF8')::jsonb)
    ) THEN
        RAISE insufficient_privilege USING MESSAGE = format('the log of space %s stays as it is', quote_literal(asked));
    END IF;
    UPDATE audit SET line = every.line FROM unnest(numbers, lines) AS every (n, line)
    WHERE audit.space = asked AND audit.n = every.n;
END $$;

-- Writes a table and its indexes anew, without the rows that were removed from it; of those that a transaction may still
-- see, it tells the client the number.
CREATE FUNCTION rewrite(asked text, one name) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    whole regclass := format('%I.%I', current_schema(), one)::regclass;
    ordered name;
BEGIN
    IF NOT may('admin', asked) THEN
        RAISE insufficient_privilege USING MESSAGE = format(
            'to erase memories of space %s for good takes an admin', quote_literal(asked));
    END IF;
    SELECT relname INTO ordered FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
    WHERE indrelid = whole AND amname = 'btree' AND indpred IS NULL ORDER BY indisprimary DESC, indexrelid LIMIT 1;
    EXECUTE format('CLUSTER VERBOSE %s USING %I', whole, ordered);
END $$;

-- Under statistics the server keeps texts of its own, which no rewriting reaches. No query needs them.
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT attrelid::regclass AS whole, attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
            AND atttypid IN ('text'::regtype, 'text[]'::regtype, 'bytea'::regtype) AND attname NOT IN ('space', 'id', 'kind', 'model', 'key')
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 0', one.whole, one.attname);
    END LOOP;
END $$;
ALTER INDEX term_lexemes ALTER COLUMN 1 SET STATISTICS 0;

-- admit('ann', 'writer', 'main') lets a role of the server in; admit('ann', NULL, 'main') takes that back.
CREATE OR REPLACE FUNCTION admit(role_name text, wanted text, one text DEFAULT '*') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    home text := quote_ident(current_schema());
    who text := quote_ident(role_name);
BEGIN
    IF wanted IS NULL THEN
        DELETE FROM access WHERE space = one AND member = role_name;
        RETURN;
    END IF;
    INSERT INTO access VALUES (one, role_name, wanted)
    ON CONFLICT (space, member) DO UPDATE SET level = excluded.level;
    EXECUTE format('GRANT USAGE ON SCHEMA %s TO %s', home, who);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %s TO %s', home, who);
    IF wanted <> 'reader' THEN
        EXECUTE format('GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %s TO %s', home, who);
        EXECUTE format('GRANT USAGE ON ALL SEQUENCES IN SCHEMA %s TO %s', home, who);
        EXECUTE format('REVOKE INSERT, UPDATE, DELETE ON access, migration, audit FROM %s', who);
    END IF;
END $$;

DO $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT oid::regprocedure AS name, proname FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
        AND proname IN ('admit', 'seize', 'await_answer', 'may_erase', 'check_erasure', 'append_audit', 'hide_paths', 'rewrite')
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', one.name, current_schema());
    END LOOP;
    FOR one IN SELECT * FROM access WHERE to_regrole(quote_ident(member)) IS NOT NULL LOOP
        PERFORM admit(one.member, one.level, one.space);
    END LOOP;
END $$;
