-- What the trigger calls is looked up here, and not where whoever writes has put a function of the same name.

DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION check_policy SET search_path = %I, pg_temp', current_schema());
END $$;
