-- Who may do what: a role of the server is a reader, a writer or an admin of a space, or of all ('*'). The owner of the
-- schema may do everything. Each table with a column `space` is under row-level security.

CREATE TABLE access (
    space text COLLATE "C" NOT NULL,
    member text COLLATE "C" NOT NULL,
    level text NOT NULL CHECK (level IN ('reader', 'writer', 'admin')),
    PRIMARY KEY (space, member)
);

-- The spaces of which whoever is connected is at least this; NULL: all.
CREATE FUNCTION spaces_of(wanted text) RETURNS text[] LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT CASE WHEN bool_or(space = '*') THEN NULL ELSE coalesce(array_agg(space), '{}') END
    FROM access
    WHERE to_regrole(quote_ident(member)) IS NOT NULL
        AND pg_has_role(session_user, to_regrole(quote_ident(member)), 'member')
        AND array_position(ARRAY['reader', 'writer', 'admin'], level)
            >= array_position(ARRAY['reader', 'writer', 'admin'], wanted)
$$;

CREATE FUNCTION may(wanted text, one text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce(one = ANY (spaces_of(wanted)), true)
        OR pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = 'space'::regclass), 'member')
$$;

-- Puts a table under row-level security; migrations that add tables call it.
CREATE FUNCTION protect(one regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    allowed text := '((SELECT spaces_of(%L)) IS NULL OR space = ANY ((SELECT spaces_of(%L))::text[]))';
    reader text := format(allowed, 'reader', 'reader');
    writer text := format(allowed, 'writer', 'writer');
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', one);
    EXECUTE format('CREATE POLICY reads ON %s FOR SELECT USING %s', one, reader);
    EXECUTE format('CREATE POLICY adds ON %s FOR INSERT WITH CHECK %s', one, writer);
    EXECUTE format('CREATE POLICY changes ON %s FOR UPDATE USING %s WITH CHECK %s', one, writer, writer);
    EXECUTE format('CREATE POLICY removes ON %s FOR DELETE USING %s', one, writer);
END $$;

DO $$
DECLARE
    one regclass;
BEGIN
    FOR one IN SELECT attrelid::regclass FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND attname = 'space' AND NOT attisdropped
    LOOP
        PERFORM protect(one);
    END LOOP;
    EXECUTE format('ALTER FUNCTION spaces_of SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION may SET search_path = %I, pg_temp', current_schema());
END $$;

-- To delete a space, or to change its policy, takes an admin.
DROP POLICY removes ON space;
CREATE POLICY removes ON space FOR DELETE
    USING ((SELECT spaces_of('admin')) IS NULL OR space = ANY ((SELECT spaces_of('admin'))::text[]));

CREATE FUNCTION check_policy() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF convert_from(new.header, 'UTF8')::jsonb -> 'policy' IS DISTINCT FROM convert_from(old.header, 'UTF8')::jsonb -> 'policy'
        AND NOT may('admin', new.space)
    THEN
        RAISE insufficient_privilege USING MESSAGE = format('the policy of space %s takes an admin', quote_literal(new.space));
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER check_policy BEFORE UPDATE ON space FOR EACH ROW EXECUTE FUNCTION check_policy();

-- admit('ann', 'writer', 'main') lets a role of the server in; admit('ann', NULL, 'main') takes that back.
CREATE FUNCTION admit(role_name text, wanted text, one text DEFAULT '*') RETURNS void LANGUAGE plpgsql AS $$
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
        EXECUTE format('REVOKE INSERT, UPDATE, DELETE ON access, migration FROM %s', who);
        EXECUTE format('REVOKE DELETE ON audit FROM %s', who);
    END IF;
END $$;

-- Whoever calls them has a search path of their own, in which other functions of these names may come first.
DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION admit SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION check_policy SET search_path = %I, pg_temp', current_schema());
END $$;
