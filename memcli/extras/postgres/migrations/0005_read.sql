-- Whether a memory was read from a document or a change: more must speak for it before it answers. Earlier entries are
-- indexed anew.

ALTER TABLE entry ADD COLUMN is_read boolean NOT NULL DEFAULT false;
