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

-- Makes the table of the month that a position is in, if there is none.
CREATE FUNCTION month_for(p_pos bigint) RETURNS void
SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE plpgsql AS $$
DECLARE
  v_from timestamp := date_trunc('month', to_timestamp(p_pos / 1000000) AT TIME ZONE 'UTC');
  v_name text := 'record_' || to_char(v_from, 'YYYYMM');
  v_first bigint := extract(epoch FROM v_from)::bigint * 1000000;
  v_last bigint := extract(epoch FROM v_from + interval '1 month')::bigint * 1000000;
BEGIN
  IF EXISTS (SELECT FROM month m WHERE m.name = v_name) THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('heirloom month', 0));
  IF EXISTS (SELECT FROM month m WHERE m.name = v_name) THEN RETURN; END IF;
  EXECUTE format('CREATE TABLE %I PARTITION OF record FOR VALUES FROM (%s) TO (%s)', v_name, v_first, v_last);
  EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', v_name);
  INSERT INTO month VALUES (v_name, v_first, v_last);
END $$;

SELECT month_for(pos) FROM (SELECT DISTINCT ON (date_trunc('month', to_timestamp(pos / 1000000))) pos
  FROM record_before) q;
INSERT INTO record SELECT * FROM record_before;
DROP TABLE record_before;

-- Where a batch goes that could go to `p_pos`: never over the end of a month, so that months are dropped
-- without cutting one in two. The month's table is there then.
CREATE FUNCTION place_for(p_pos bigint, p_n int) RETURNS bigint
SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE plpgsql AS $$
DECLARE v_end bigint;
BEGIN
  PERFORM month_for(p_pos);
  SELECT m.pos_to INTO v_end FROM month m WHERE p_pos >= m.pos_from AND p_pos < m.pos_to;
  IF p_pos + p_n <= v_end THEN RETURN p_pos; END IF;
  PERFORM month_for(v_end);
  RETURN v_end;
END $$;

CREATE OR REPLACE FUNCTION push_v1(p_key text, p_host text, p_after bigint, p_after_hash bytea,
  p_to bigint, p_to_hash bytea, p_seqs bigint[], p_ats bigint[], p_ids uuid[], p_sessions uuid[],
  p_kinds text[], p_bare boolean[], p_prevs bytea[], p_hashes bytea[], p_bodies text[],
  p_link bytea, p_sig bytea,
  OUT state text, OUT seq bigint, OUT hash bytea, OUT count bigint, OUT link bytea, OUT wait_ms bigint)
SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE plpgsql AS $$
DECLARE
  v_me int := me();
  v_repo int := repo_for(p_key, 2);
  v_host int := host_for(p_host);
  v_n int := coalesce(array_length(p_seqs, 1), 0);
  v_limits meta;
  v_head stream;
  v_pos bigint;
BEGIN
  SELECT * INTO v_limits FROM meta;
  SELECT s.* INTO v_head FROM stream s WHERE s.host = v_host AND s.repo = v_repo FOR UPDATE;
  IF v_head IS NULL THEN
    RAISE EXCEPTION 'host % has not joined %', p_host, p_key USING ERRCODE = '42501';
  END IF;
  seq := v_head.seq; hash := v_head.hash; count := v_head.count; link := v_head.link; wait_ms := 0;
  IF v_head.seq <> p_after OR v_head.hash <> p_after_hash THEN state := 'head'; RETURN; END IF;
  IF v_n > v_limits.largest_batch OR EXISTS (
    SELECT FROM unnest(p_bodies) AS b WHERE octet_length(b) > v_limits.largest_body)
  THEN state := 'too_large'; RETURN; END IF;
  IF p_to <= p_after OR EXISTS (
    SELECT FROM (SELECT s, lag(s, 1, p_after) OVER (ORDER BY o) AS before
                 FROM unnest(p_seqs) WITH ORDINALITY AS u(s, o)) q
    WHERE s <= before OR s > p_to)
  THEN RAISE EXCEPTION 'records out of order' USING ERRCODE = '22023'; END IF;
  IF v_n <> ALL (ARRAY[cardinality(p_ats), cardinality(p_ids), cardinality(p_sessions),
    cardinality(p_kinds), cardinality(p_bare), cardinality(p_prevs), cardinality(p_hashes), cardinality(p_bodies)])
    OR (v_n > 0 AND (octet_length(p_sig) <> 64 OR octet_length(p_link) <> 32))
  THEN RAISE EXCEPTION 'a batch that is not whole' USING ERRCODE = '22023'; END IF;
  IF v_limits.quota IS NOT NULL AND EXISTS (
    SELECT FROM member m WHERE m.id = v_me AND m.day = current_date AND m.sent + v_n > v_limits.quota)
  THEN
    state := 'later';
    wait_ms := (extract(epoch FROM (current_date + 1) - clock_timestamp()) * 1000)::bigint;
    RETURN;
  END IF;
  IF v_n > 0 THEN
    -- Held to the commit: the order of positions is the order of commits, so no reader misses one.
    SELECT greatest(r.pos + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
      INTO v_pos FROM repo r WHERE r.id = v_repo FOR UPDATE;
    v_pos := place_for(v_pos, v_n);
    UPDATE repo r SET pos = v_pos + v_n - 1 WHERE r.id = v_repo;
    INSERT INTO record (pos, seq, at, id, session, repo, host, kind, bare, prev, hash, body, n, count, base, sig)
    SELECT v_pos + o - 1, s, a, i, e, v_repo, v_host, k, w, p, h, b,
      CASE WHEN o = v_n THEN v_n END, CASE WHEN o = v_n THEN v_head.count + v_n END,
      CASE WHEN o = v_n THEN v_head.link END, CASE WHEN o = v_n THEN p_sig END
    FROM unnest(p_seqs, p_ats, p_ids, p_sessions, p_kinds, p_bare, p_prevs, p_hashes, p_bodies)
      WITH ORDINALITY AS u(s, a, i, e, k, w, p, h, b, o)
    ORDER BY o;
    IF 'record.erased' = ANY (p_kinds) THEN PERFORM erase(v_repo, v_host, p_host, p_kinds, p_bodies); END IF;
    UPDATE member m SET sent = CASE WHEN m.day = current_date THEN m.sent ELSE 0 END + v_n,
      day = current_date WHERE m.id = v_me;
    count := v_head.count + v_n; link := p_link;
  END IF;
  seq := p_to; hash := p_to_hash; state := 'ok';
  UPDATE stream s SET seq = push_v1.seq, hash = push_v1.hash, count = push_v1.count, link = push_v1.link,
    seen = clock_timestamp() WHERE s.host = v_host AND s.repo = v_repo;
END $$;

-- Packs a month. Batches stay whole, so that what is packed can be read and dropped by itself.
CREATE FUNCTION seal(p_name text) RETURNS bigint
SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE plpgsql AS $$
DECLARE v_n bigint;
BEGIN
  EXECUTE format($q$
    INSERT INTO sealed
    SELECT repo, min(pos), max(pos), count(*)::int, array_agg(pos ORDER BY pos), array_agg(seq ORDER BY pos),
      array_agg(at ORDER BY pos), array_agg(id ORDER BY pos), array_agg(session ORDER BY pos),
      array_agg(host ORDER BY pos), array_agg(kind ORDER BY pos), array_agg(bare ORDER BY pos),
      array_agg(prev ORDER BY pos), array_agg(hash ORDER BY pos), array_agg(body ORDER BY pos),
      array_agg(n ORDER BY pos), array_agg(count ORDER BY pos), array_agg(base ORDER BY pos),
      array_agg(sig ORDER BY pos)
    FROM (SELECT b.*, min(b.place) OVER (PARTITION BY b.repo, b.batch) / 500 AS part,
            min(b.bytes) OVER (PARTITION BY b.repo, b.batch) / 4194304 AS share
          FROM (SELECT r.*, row_number() OVER w - 1 AS place,
                  coalesce(sum(octet_length(r.body)) OVER w, 0) AS bytes,
                  count(r.sig) OVER (PARTITION BY r.repo ORDER BY r.pos ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS batch
                FROM %I r WINDOW w AS (PARTITION BY r.repo ORDER BY r.pos)) b) q
    GROUP BY repo, part, share $q$, p_name);
  UPDATE month m SET sealed = clock_timestamp() WHERE m.name = p_name;
  SELECT coalesce(sum(s.n), 0) INTO v_n FROM sealed s, month m
    WHERE m.name = p_name AND s.pos_from >= m.pos_from AND s.pos_from < m.pos_to;
  RETURN v_n;
END $$;

-- Drops what is older than `p_keep`, in whole batches. Returns how many records. For owners of the hub.
CREATE OR REPLACE FUNCTION forget_older(p_key text, p_keep interval) RETURNS bigint
SECURITY INVOKER SET search_path = heirloom, pg_temp LANGUAGE plpgsql AS $$
DECLARE v_repo int; v_before bigint; v_end bigint; v_packed bigint := 0; v_gone bigint; v_twice bigint;
BEGIN
  SELECT r.id INTO v_repo FROM repo r WHERE r.key = p_key;
  v_before := (extract(epoch FROM clock_timestamp() - p_keep) * 1000000)::bigint;
  SELECT coalesce(max(s.pos_to), 0) INTO v_end FROM sealed s WHERE s.repo = v_repo AND s.pos_to < v_before;
  SELECT greatest(v_end, coalesce(max(r.pos), 0)) INTO v_end FROM record r
    WHERE r.repo = v_repo AND r.sig IS NOT NULL AND r.pos < v_before
      AND r.pos > coalesce((SELECT max(s.pos_to) FROM sealed s WHERE s.repo = v_repo), 0);
  SELECT coalesce(sum(s.n), 0) INTO v_packed FROM sealed s WHERE s.repo = v_repo AND s.pos_to <= v_end;
  -- Rows of a month that was packed a moment ago are there twice.
  SELECT count(*) INTO v_twice FROM record r WHERE r.repo = v_repo AND r.pos <= v_end AND EXISTS (
    SELECT FROM sealed s WHERE s.repo = v_repo AND r.pos BETWEEN s.pos_from AND s.pos_to);
  DELETE FROM sealed s WHERE s.repo = v_repo AND s.pos_to <= v_end;
  DELETE FROM record r WHERE r.repo = v_repo AND r.pos <= v_end;
  GET DIAGNOSTICS v_gone = ROW_COUNT;
  UPDATE repo r SET forgotten = greatest(r.forgotten, v_end) WHERE r.id = v_repo;
  RETURN v_gone + v_packed - v_twice;
END $$;

-- What has to be done now and then, whoever comes by: packs a month, takes away the rows of one that was
-- packed, drops what is older than the hub keeps. One at a time, and one month a call.
CREATE FUNCTION tend_v1() RETURNS text
SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE plpgsql AS $$
DECLARE v_meta meta; v_month month; v_now bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
BEGIN
  PERFORM me();
  IF NOT pg_try_advisory_xact_lock(hashtextextended('heirloom tend', 0)) THEN RETURN 'busy'; END IF;
  SELECT * INTO v_meta FROM meta;
  IF v_meta.keep IS NOT NULL THEN
    SELECT m.* INTO v_month FROM month m WHERE m.pos_to <= v_now - extract(epoch FROM v_meta.keep)::bigint * 1000000
      ORDER BY m.pos_from LIMIT 1;
    IF FOUND THEN
      DELETE FROM sealed s WHERE s.pos_to < v_month.pos_to;
      EXECUTE format('DROP TABLE IF EXISTS %I', v_month.name);
      UPDATE repo r SET forgotten = greatest(r.forgotten, v_month.pos_to - 1);
      DELETE FROM month m WHERE m.name = v_month.name;
      RETURN 'dropped ' || v_month.name;
    END IF;
  END IF;
  SELECT m.* INTO v_month FROM month m WHERE m.sealed < clock_timestamp() - interval '1 day'
    AND to_regclass('heirloom.' || m.name) IS NOT NULL ORDER BY m.pos_from LIMIT 1;
  IF FOUND THEN
    EXECUTE format('DROP TABLE %I', v_month.name);
    RETURN 'tidied ' || v_month.name;
  END IF;
  SELECT m.* INTO v_month FROM month m WHERE m.sealed IS NULL
    AND m.pos_to <= v_now - extract(epoch FROM v_meta.seal_after)::bigint * 1000000 ORDER BY m.pos_from LIMIT 1;
  IF FOUND THEN
    RETURN 'sealed ' || v_month.name || ': ' || seal(v_month.name);
  END IF;
  RETURN 'nothing';
END $$;

-- Does to a host's records what that host says of their erasure. The hash stays.
CREATE OR REPLACE FUNCTION erase(p_repo int, p_host int, p_name text, p_kinds text[], p_bodies text[]) RETURNS void
SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE plpgsql AS $$
DECLARE v_seqs bigint[];
BEGIN
  SELECT array_agg(e.seq::bigint) INTO v_seqs
    FROM unnest(p_kinds, p_bodies) AS u(k, b), jsonb_array_elements_text(b::jsonb -> 'seqs') AS e(seq)
    WHERE k = 'record.erased' AND b::jsonb ->> 'host' = p_name;
  UPDATE record r SET id = NULL, body = NULL
    WHERE r.repo = p_repo AND r.host = p_host AND r.seq = ANY (v_seqs) AND r.kind <> 'record.erased';
  UPDATE sealed s SET (ids, bodies) = (
    SELECT array_agg(CASE WHEN x.gone THEN NULL ELSE x.i END ORDER BY x.o),
      array_agg(CASE WHEN x.gone THEN NULL ELSE x.b END ORDER BY x.o)
    FROM (SELECT i, b, o, h = p_host AND q = ANY (v_seqs) AND k <> 'record.erased' AS gone
          FROM unnest(s.ids, s.bodies, s.hosts, s.seqs, s.kinds) WITH ORDINALITY AS u(i, b, h, q, k, o)) x)
    WHERE s.repo = p_repo AND s.hosts @> ARRAY[p_host] AND s.seqs && v_seqs;
END $$;

-- A page behind `p_after`, without what `p_host` sent itself: first what is packed, then what is not.
CREATE OR REPLACE FUNCTION pull_v1(p_key text, p_host text, p_after bigint, p_limit int)
RETURNS TABLE (pos bigint, host int, seq bigint, at bigint, id uuid, session uuid, kind text,
  bare boolean, prev bytea, hash bytea, body text, n int, count bigint, base bytea, sig bytea)
STABLE SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE plpgsql AS $$
DECLARE
  v_repo int := repo_for(p_key, 1); v_host int := host_for(p_host);
  v_after bigint := p_after; v_left int := least(p_limit, 5000); v_bytes bigint := 0; v_part sealed; v_found bigint;
BEGIN
  FOR v_part IN SELECT s.* FROM sealed s WHERE s.repo = v_repo AND s.pos_to > p_after ORDER BY s.pos_from LOOP
    RETURN QUERY SELECT u.* FROM unnest(v_part.poss, v_part.hosts, v_part.seqs, v_part.ats, v_part.ids, v_part.sessions,
        v_part.kinds, v_part.bares, v_part.prevs, v_part.hashes, v_part.bodies, v_part.ns, v_part.counts, v_part.bases,
        v_part.sigs) AS u(pos, host, seq, at, id, session, kind, bare, prev, hash, body, n, count, base, sig)
      WHERE u.pos > p_after AND u.host <> v_host ORDER BY u.pos;
    GET DIAGNOSTICS v_found = ROW_COUNT;
    v_after := v_part.pos_to; v_left := v_left - v_found;
    IF v_found > 0 THEN
      v_bytes := v_bytes + (SELECT coalesce(sum(octet_length(b)), 0) FROM unnest(v_part.bodies) AS b);
    END IF;
    IF v_left <= 0 OR v_bytes > 8388608 THEN RETURN; END IF;
  END LOOP;
  RETURN QUERY SELECT q.pos, q.host, q.seq, q.at, q.id, q.session, q.kind, q.bare, q.prev, q.hash, q.body,
    q.n, q.count, q.base, q.sig
  FROM (SELECT r.*, sum(octet_length(r.body)) OVER (ORDER BY r.pos) AS bytes
        FROM (SELECT x.* FROM record x WHERE x.repo = v_repo AND x.pos > v_after AND x.host <> v_host
              ORDER BY x.pos LIMIT v_left) r) q
  -- Larger than any batch, so that a page always has a whole one.
  WHERE q.bytes IS NULL OR q.bytes <= 8388608 ORDER BY q.pos;
END $$;

-- Lets a host send everything again from its beginning. What was sent stays where it is.
CREATE FUNCTION restart_v1(p_key text, p_host text) RETURNS void
SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE sql AS $$
  UPDATE stream s SET seq = 0, hash = decode(repeat('00', 32), 'hex'), count = 0,
    link = decode(repeat('00', 32), 'hex')
  WHERE s.repo = repo_for(p_key, 2) AND s.host = host_for(p_host)
$$;

-- Up to where what was sent has been dropped.
CREATE FUNCTION forgotten_v1(p_key text) RETURNS bigint
STABLE SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE sql AS $$
  SELECT r.forgotten FROM repo r WHERE r.id = repo_for(p_key, 1)
$$;

-- Those of `p_ids` that nobody had; now the caller has them.
CREATE FUNCTION reserve_v1(p_key text, p_host text, p_ids text[]) RETURNS text[]
SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE plpgsql AS $$
DECLARE v_repo int := repo_for(p_key, 2); v_host int := host_for(p_host); v_got text[];
BEGIN
  IF cardinality(p_ids) > 100 THEN RAISE EXCEPTION 'too many ids' USING ERRCODE = '22023'; END IF;
  WITH new AS (INSERT INTO issue_id SELECT v_repo, i, v_host FROM unnest(p_ids) AS i
    ON CONFLICT DO NOTHING RETURNING issue_id.id)
  SELECT coalesce(array_agg(new.id), '{}') INTO v_got FROM new;
  RETURN v_got;
END $$;

CREATE FUNCTION size_v2(p_key text, OUT records bigint, OUT sealed bigint, OUT erased bigint, OUT bytes bigint,
  OUT sealed_bytes bigint, OUT oldest_us bigint, OUT keep_days double precision)
STABLE SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE sql AS $$
  SELECT p.n + p.hot, p.n, p.erased, p.hot_bytes + pg_total_relation_size('heirloom.sealed'),
    pg_total_relation_size('heirloom.sealed'), p.oldest, extract(epoch FROM m.keep) / 86400
  FROM meta m, LATERAL (SELECT
    coalesce((SELECT sum(s.n) FROM heirloom.sealed s WHERE s.repo = q.repo), 0)::bigint AS n,
    (SELECT count(*) FROM record r WHERE r.repo = q.repo AND r.pos > q.packed) AS hot,
    (SELECT count(*) FROM record r WHERE r.repo = q.repo AND r.pos > q.packed AND r.body IS NULL)
      + (SELECT count(*) FROM heirloom.sealed s, unnest(s.bodies) AS b WHERE s.repo = q.repo AND b IS NULL) AS erased,
    (SELECT coalesce(sum(pg_total_relation_size(t.relid)), 0) FROM pg_partition_tree('heirloom.record') t)::bigint AS hot_bytes,
    least((SELECT min(s.pos_from) FROM heirloom.sealed s WHERE s.repo = q.repo),
      (SELECT min(r.pos) FROM record r WHERE r.repo = q.repo)) AS oldest
    FROM (SELECT a.id AS repo, coalesce((SELECT max(s.pos_to) FROM heirloom.sealed s WHERE s.repo = a.id), 0) AS packed
          FROM (SELECT repo_for(p_key, 1) AS id) a) q) p
$$;
CREATE OR REPLACE FUNCTION size_v1(p_key text, OUT records bigint, OUT erased bigint, OUT bytes bigint, OUT pos bigint)
STABLE SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE sql AS $$
  SELECT s.records, s.erased, s.bytes, r.pos FROM size_v2(p_key) s, repo r WHERE r.id = repo_for(p_key, 1)
$$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA heirloom FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tend_v1, restart_v1, forgotten_v1, reserve_v1, size_v2 TO heirloom_member;
