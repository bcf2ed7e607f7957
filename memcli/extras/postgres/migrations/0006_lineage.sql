-- Which store this is: clones that sync with it know it by this id again, and by how far its history has come.

CREATE TABLE lineage (store uuid NOT NULL DEFAULT gen_random_uuid());
INSERT INTO lineage DEFAULT VALUES;
GRANT SELECT ON lineage TO PUBLIC;
ALTER TABLE lineage ENABLE ROW LEVEL SECURITY;
CREATE POLICY reads ON lineage FOR SELECT USING (true);

-- What whoever wrote or last changed a line of the audit log may do, by the server's own account: clones erase memories
-- for good for the line of an admin alone. Lines from before count as an admin's.

ALTER TABLE audit ADD COLUMN level text NOT NULL DEFAULT 'admin';

CREATE FUNCTION note_level() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT may('admin', new.space) THEN
        new.level := 'writer';
    ELSIF TG_OP = 'UPDATE' THEN
        new.level := old.level;
    ELSE
        new.level := 'admin';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER note_level BEFORE INSERT OR UPDATE ON audit FOR EACH ROW EXECUTE FUNCTION note_level();

DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION note_level SET search_path = %I, pg_temp', current_schema());
END $$;
