-- The owner calls admit as memcli.admit(), with any search path.

DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION admit SET search_path = %I, pg_temp', current_schema());
END $$;
