-- A month of records is a table of its own, and packed once it is old; a history can be sent after a join;
-- ids of issues are given out once.
UPDATE meta SET schema = 2;
-- Months are packed when they are that old, and dropped when they are that old; nothing stands for never.
ALTER TABLE meta ADD seal_after interval DEFAULT '3 months', ADD keep interval;
-- Up to where what was sent has been dropped.
ALTER TABLE repo ADD forgotten bigint NOT NULL DEFAULT 0;

ALTER TABLE record RENAME TO record_before;
ALTER TABLE record_before RENAME CONSTRAINT record_pkey TO record_before_pkey;
ALTER INDEX record_erasable RENAME TO record_before_erasable;
CREATE TABLE record (LIKE record_before) PARTITION BY RANGE (pos);
ALTER TABLE record ADD PRIMARY KEY (repo, pos);
CREATE INDEX record_erasable ON record (repo, host, seq);
ALTER TABLE record ENABLE ROW LEVEL SECURITY;
CREATE POLICY mine ON record FOR SELECT USING (repo = ANY ((SELECT my_repos())::int[]));

-- Whole batches of a repository, as arrays: half the room of rows.
CREATE TABLE sealed (
  repo int NOT NULL,
  pos_from bigint NOT NULL,
  pos_to bigint NOT NULL,
  n int NOT NULL,
  poss bigint[] NOT NULL, seqs bigint[] NOT NULL, ats bigint[] NOT NULL, ids uuid[] NOT NULL,
  sessions uuid[] NOT NULL, hosts int[] NOT NULL, kinds text[] NOT NULL, bares boolean[] NOT NULL,
  prevs bytea[] NOT NULL, hashes bytea[] NOT NULL, bodies text[] NOT NULL, ns int[] NOT NULL,
  counts bigint[] NOT NULL, bases bytea[] NOT NULL, sigs bytea[] NOT NULL,
  PRIMARY KEY (repo, pos_from)
);
ALTER TABLE sealed ENABLE ROW LEVEL SECURITY;
DO $$ BEGIN
  ALTER TABLE sealed ALTER bodies SET COMPRESSION lz4, ALTER kinds SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN NULL; -- A server that was built without it packs as it can.
END $$;

-- The months there are, and when they were packed. Their rows stay for a day: a reader that began before
-- sees those, one that began after sees what was packed, and none sees neither.
CREATE TABLE month (name text PRIMARY KEY, pos_from bigint NOT NULL, pos_to bigint NOT NULL, sealed timestamptz);
ALTER TABLE month ENABLE ROW LEVEL SECURITY;

CREATE TABLE issue_id (
  repo int REFERENCES repo,
  id text CHECK (length(id) <= 128),
  host int NOT NULL REFERENCES host,
  PRIMARY KEY (repo, id)
);
ALTER TABLE issue_id ENABLE ROW LEVEL SECURITY;
