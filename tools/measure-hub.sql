-- How fast a hub takes and gives 100,000 records, beside plain COPY into a table with the same indexes.
-- As the owner of a hub in a database that is there to be thrown away:
--   psql -X -f tools/measure-hub.sql postgresql://owner@localhost/hub
\timing on
SELECT is_new FROM heirloom.join_v1('hr_0000000000000000000000000p', 'measured', '{}', '00000000000000ff',
  decode(repeat('01', 32), 'hex'), 0, decode(repeat('00', 32), 'hex'));
SELECT is_new FROM heirloom.join_v1('hr_0000000000000000000000000p', 'measured', '{}', '00000000000000fe',
  decode(repeat('01', 32), 'hex'), 0, decode(repeat('00', 32), 'hex'));

\echo taking, 1,000 a call
DO $$
DECLARE
  zero bytea := decode(repeat('00', 32), 'hex');
  body text := '{"id":"0192f0c1-2345-7000-8000-000000000001","kind":"learning","text":"' || repeat('what was learned ', 8) || '"}';
  ats bigint[]; ids uuid[]; sessions uuid[]; kinds text[]; bare boolean[]; prevs bytea[]; hashes bytea[]; bodies text[];
BEGIN
  SELECT array_agg(1::bigint), array_agg(gen_random_uuid()), array_agg(gen_random_uuid()), array_agg('note.added'::text),
    array_agg(false), array_agg(NULL::bytea), array_agg(sha256(i::text::bytea)), array_agg(body)
    INTO ats, ids, sessions, kinds, bare, prevs, hashes, bodies FROM generate_series(1, 1000) i;
  FOR b IN 0..99 LOOP
    PERFORM heirloom.push_v1('hr_0000000000000000000000000p', '00000000000000ff', b * 1000, zero, (b + 1) * 1000, zero,
      (SELECT array_agg(x) FROM generate_series(b * 1000 + 1::bigint, (b + 1) * 1000) x),
      ats, ids, sessions, kinds, bare, prevs, hashes, bodies, zero, zero || zero);
  END LOOP;
END $$;

\echo the same rows by COPY
\copy (SELECT * FROM heirloom.record) TO '/tmp/hub-rows.copy'
CREATE TABLE heirloom.copied (LIKE heirloom.record INCLUDING ALL);
\copy heirloom.copied FROM '/tmp/hub-rows.copy'
DROP TABLE heirloom.copied;

\echo giving, 4,000 a page
DO $$
DECLARE cursor_at bigint := 0; last bigint;
BEGIN
  LOOP
    SELECT max(pos) INTO last FROM heirloom.pull_v1('hr_0000000000000000000000000p', '00000000000000fe', cursor_at, 4000);
    EXIT WHEN last IS NULL;
    cursor_at := last;
  END LOOP;
END $$;
SELECT (SELECT sum(pg_total_relation_size(t.relid)) FROM pg_partition_tree('heirloom.record') t) / count(*) AS bytes_a_record FROM heirloom.record;
