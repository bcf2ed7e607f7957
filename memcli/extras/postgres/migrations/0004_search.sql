-- Under row-level security PostgreSQL looks at every row before it trusts an operator of text search with it. This finds the
-- memories of one space by its index, for those who may read the space.

CREATE FUNCTION matching(asked text, wanted text) RETURNS SETOF term LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT term.* FROM term
    WHERE lexemes_of(term.space, term.lexemes) @@ wanted::tsquery AND term.space = asked AND may('reader', asked)
$$;

DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION matching SET search_path = %I, public, pg_temp', current_schema());
END $$;
