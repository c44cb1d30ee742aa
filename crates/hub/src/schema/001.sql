-- The first schema of a hub. Members have no right to any table: they have these functions.
CREATE TABLE meta (
  is_one boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  schema int NOT NULL,
  min_client int NOT NULL,
  epoch uuid NOT NULL DEFAULT gen_random_uuid(),
  largest_body int NOT NULL DEFAULT 262144,
  largest_batch int NOT NULL DEFAULT 1000,
  -- Records a member may send a day; nothing stands for no limit.
  quota bigint
);
INSERT INTO meta (schema, min_client) VALUES (1, 1);

CREATE TABLE member (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  login name NOT NULL UNIQUE,
  is_owner boolean NOT NULL DEFAULT false,
  day date NOT NULL DEFAULT '-infinity',
  sent bigint NOT NULL DEFAULT 0,
  since timestamptz NOT NULL DEFAULT clock_timestamp(),
  gone timestamptz
);
INSERT INTO member (login, is_owner) VALUES (session_user, true);

CREATE TABLE repo (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key text NOT NULL UNIQUE CHECK (key ~ '^hr_[0-9a-z]{26}$'),
  name text NOT NULL,
  roots text[] NOT NULL DEFAULT '{}',
  -- The last position given. Hub time in microseconds, never backward.
  pos bigint NOT NULL DEFAULT 0
);

CREATE TABLE access (
  member int REFERENCES member,
  repo int REFERENCES repo,
  level smallint NOT NULL,               -- 1 read, 2 write, 3 admin
  PRIMARY KEY (member, repo)
);

-- A host belongs to one member for ever, and signs with one key.
CREATE TABLE host (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  host text NOT NULL UNIQUE CHECK (host ~ '^[0-9a-f]{16}$'),
  member int NOT NULL REFERENCES member,
  pubkey bytea NOT NULL CHECK (octet_length(pubkey) = 32)
);

-- How far a host is in a repository: the record up to which everything was sent or withheld.
CREATE TABLE stream (
  host int REFERENCES host,
  repo int REFERENCES repo,
  seq bigint NOT NULL,
  hash bytea NOT NULL,
  count bigint NOT NULL DEFAULT 0,
  link bytea NOT NULL,
  seen timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (host, repo)
) WITH (fillfactor = 50);

CREATE TABLE record (
  pos bigint NOT NULL,
  seq bigint NOT NULL,
  at bigint NOT NULL,
  id uuid,                               -- NULL: erased, with its body
  session uuid,
  repo int NOT NULL,
  host int NOT NULL,
  kind text NOT NULL,
  bare boolean NOT NULL,                 -- the record itself names no repository
  prev bytea,                            -- the hash before it, where that record is not here
  hash bytea NOT NULL,
  body text,
  n int,                                 -- the last of a batch: how many it has,
  count bigint,                          -- how many there are of the host up to here,
  base bytea,                            -- the link before the batch,
  sig bytea,                             -- and the signature over the link behind it
  PRIMARY KEY (repo, pos)
);
CREATE INDEX record_erasable ON record (repo, host, seq);

CREATE TABLE claim (
  repo int REFERENCES repo,
  issue text,
  state text NOT NULL DEFAULT 'open',    -- open, closed
  holder text,
  host int REFERENCES host,
  since timestamptz,
  until timestamptz,
  fence bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (repo, issue)
);


CREATE FUNCTION me() RETURNS int STABLE SECURITY DEFINER SET search_path = heirloom, pg_temp
LANGUAGE plpgsql AS $$
DECLARE found int;
BEGIN
  SELECT m.id INTO found FROM member m WHERE m.login = session_user AND m.gone IS NULL;
  IF found IS NULL THEN
    RAISE EXCEPTION '% is not a member of this hub', session_user USING ERRCODE = '42501';
  END IF;
  RETURN found;
END $$;

CREATE FUNCTION my_repos() RETURNS int[] STABLE SECURITY DEFINER SET search_path = heirloom, pg_temp
LANGUAGE sql AS $$
  SELECT coalesce(array_agg(a.repo), '{}') FROM access a JOIN member m ON m.id = a.member
  WHERE m.login = session_user AND m.gone IS NULL
$$;

-- The repository, if the caller has the level there. One that does not exist looks the same.
CREATE FUNCTION repo_for(p_key text, p_level int) RETURNS int STABLE SECURITY DEFINER SET search_path = heirloom, pg_temp
LANGUAGE plpgsql AS $$
DECLARE found int;
BEGIN
  SELECT r.id INTO found FROM repo r JOIN access a ON a.repo = r.id
  WHERE r.key = p_key AND a.member = me() AND a.level >= p_level;
  IF found IS NULL THEN
    RAISE EXCEPTION 'no access to repository %', p_key USING ERRCODE = '42501';
  END IF;
  RETURN found;
END $$;

CREATE FUNCTION host_for(p_host text) RETURNS int STABLE SECURITY DEFINER SET search_path = heirloom, pg_temp
LANGUAGE plpgsql AS $$
DECLARE found int;
BEGIN
  SELECT h.id INTO found FROM host h WHERE h.host = p_host AND h.member = me();
  IF found IS NULL THEN
    RAISE EXCEPTION 'host % is not yours', p_host USING ERRCODE = '42501';
  END IF;
  RETURN found;
END $$;

CREATE FUNCTION hello_v1(p_client int,
  OUT epoch text, OUT min_client int, OUT schema int, OUT login text, OUT now_us bigint,
  OUT largest_body int, OUT largest_batch int)
SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE plpgsql AS $$
DECLARE cluster text;
BEGIN
  PERFORM me();
  -- Who restored a backup or failed over has another cluster, or another timeline of it.
  BEGIN
    SELECT s.system_identifier || ':' || c.timeline_id INTO cluster
    FROM pg_control_system() s, pg_control_checkpoint() c;
  EXCEPTION WHEN insufficient_privilege THEN cluster := '';
  END;
  SELECT m.epoch || ':' || cluster, m.min_client, m.schema, m.largest_body, m.largest_batch
    INTO epoch, min_client, schema, largest_body, largest_batch FROM meta m;
  login := session_user;
  now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
END $$;

CREATE FUNCTION join_v1(p_key text, p_name text, p_roots text[], p_host text, p_pubkey bytea,
  p_seq bigint, p_hash bytea, OUT is_new boolean, OUT others bigint, OUT known_roots text[])
SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE plpgsql AS $$
DECLARE v_me int := me(); v_repo int; v_host record;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('heirloom join ' || p_key, 0));
  SELECT r.id, r.roots INTO v_repo, known_roots FROM repo r WHERE r.key = p_key;
  is_new := v_repo IS NULL;
  IF is_new THEN
    INSERT INTO repo (key, name, roots) VALUES (p_key, p_name, p_roots) RETURNING id INTO v_repo;
    INSERT INTO access VALUES (v_me, v_repo, 3);
  END IF;
  v_repo := repo_for(p_key, 1);
  SELECT h.* INTO v_host FROM host h WHERE h.host = p_host;
  IF v_host IS NULL THEN
    INSERT INTO host (host, member, pubkey) VALUES (p_host, v_me, p_pubkey) RETURNING * INTO v_host;
  ELSIF v_host.member <> v_me OR v_host.pubkey <> p_pubkey THEN
    RAISE EXCEPTION 'host % is not yours', p_host USING ERRCODE = '42501';
  END IF;
  INSERT INTO stream (host, repo, seq, hash, link)
    VALUES (v_host.id, v_repo, p_seq, p_hash, decode(repeat('00', 32), 'hex')) ON CONFLICT DO NOTHING;
  SELECT count(*) INTO others FROM stream s WHERE s.repo = v_repo AND s.host <> v_host.id;
END $$;

CREATE FUNCTION head_v1(p_key text, p_host text,
  OUT seq bigint, OUT hash bytea, OUT count bigint, OUT link bytea, OUT pos bigint)
STABLE SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE sql AS $$
  SELECT s.seq, s.hash, s.count, s.link, r.pos FROM stream s JOIN repo r ON r.id = s.repo
  WHERE s.repo = repo_for(p_key, 1) AND s.host = host_for(p_host)
$$;

-- Takes a batch: everything from behind `p_after` up to `p_to`, of which what is in the arrays is sent.
-- Answers `ok`, `head` (the caller is wrong about where it stands), `too_large` or `later`; always with
-- the head, which is the acknowledgement.
CREATE FUNCTION push_v1(p_key text, p_host text, p_after bigint, p_after_hash bytea,
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

-- Does to a host's records what that host says of their erasure. The hash stays.
CREATE FUNCTION erase(p_repo int, p_host int, p_name text, p_kinds text[], p_bodies text[]) RETURNS void
SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE sql AS $$
  UPDATE record r SET id = NULL, body = NULL
  FROM (SELECT jsonb_array_elements_text(b::jsonb -> 'seqs')::bigint AS seq
        FROM unnest(p_kinds, p_bodies) AS u(k, b)
        WHERE k = 'record.erased' AND b::jsonb ->> 'host' = p_name) e
  WHERE r.repo = p_repo AND r.host = p_host AND r.seq = e.seq AND r.kind <> 'record.erased'
$$;

CREATE FUNCTION hosts_v1(p_key text)
RETURNS TABLE (number int, host text, login text, pubkey bytea, seq bigint, seen_us bigint, is_gone boolean)
STABLE SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE sql AS $$
  SELECT h.id, h.host, m.login::text, h.pubkey, s.seq, (extract(epoch FROM s.seen) * 1000000)::bigint,
    m.gone IS NOT NULL
  FROM stream s JOIN host h ON h.id = s.host JOIN member m ON m.id = h.member
  WHERE s.repo = repo_for(p_key, 1) ORDER BY h.id
$$;

-- A page behind `p_after`, without what `p_host` sent itself.
CREATE FUNCTION pull_v1(p_key text, p_host text, p_after bigint, p_limit int)
RETURNS TABLE (pos bigint, host int, seq bigint, at bigint, id uuid, session uuid, kind text,
  bare boolean, prev bytea, hash bytea, body text, n int, count bigint, base bytea, sig bytea)
STABLE SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE plpgsql AS $$
DECLARE v_repo int := repo_for(p_key, 1); v_host int := host_for(p_host);
BEGIN
  RETURN QUERY SELECT q.pos, q.host, q.seq, q.at, q.id, q.session, q.kind, q.bare, q.prev, q.hash, q.body,
    q.n, q.count, q.base, q.sig
  FROM (SELECT r.*, sum(octet_length(r.body)) OVER (ORDER BY r.pos) AS bytes
        FROM (SELECT x.* FROM record x WHERE x.repo = v_repo AND x.pos > p_after AND x.host <> v_host
              ORDER BY x.pos LIMIT least(p_limit, 5000)) r) q
  -- Larger than any batch, so that a page always has a whole one.
  WHERE q.bytes IS NULL OR q.bytes <= 8388608 ORDER BY q.pos;
END $$;

CREATE FUNCTION invite_v1(p_key text, p_login text, p_verifier text, p_level int, OUT is_new boolean)
SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE plpgsql AS $$
DECLARE v_repo int := repo_for(p_key, 3); v_member int;
BEGIN
  IF p_login !~ '^[a-z][a-z0-9_]{0,39}$' OR p_level NOT BETWEEN 1 AND 3 THEN
    RAISE EXCEPTION 'not a name for a member: %', p_login USING ERRCODE = '22023';
  END IF;
  SELECT m.id INTO v_member FROM member m WHERE m.login = p_login AND m.gone IS NULL;
  is_new := v_member IS NULL;
  IF is_new THEN
    -- A role that is somebody else's is never taken over: this fails if there is one.
    EXECUTE format('CREATE ROLE %I LOGIN PASSWORD %L IN ROLE heirloom_member CONNECTION LIMIT 20', p_login, p_verifier);
    INSERT INTO member (login) VALUES (p_login) ON CONFLICT (login) DO UPDATE SET gone = NULL
      RETURNING id INTO v_member;
  END IF;
  INSERT INTO access VALUES (v_member, v_repo, p_level)
    ON CONFLICT (member, repo) DO UPDATE SET level = greatest(access.level, p_level);
END $$;

-- Takes a member's access to a repository away; an owner of the hub switches the login off as well.
CREATE FUNCTION revoke_v1(p_key text, p_login text, OUT is_off boolean)
SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE plpgsql AS $$
DECLARE v_repo int := repo_for(p_key, 3); v_member int;
BEGIN
  SELECT m.id INTO v_member FROM member m WHERE m.login = p_login AND NOT m.is_owner;
  DELETE FROM access a WHERE a.member = v_member AND a.repo = v_repo;
  IF NOT FOUND THEN RAISE EXCEPTION '% has no access here', p_login USING ERRCODE = '22023'; END IF;
  is_off := NOT EXISTS (SELECT FROM access a WHERE a.member = v_member);
  IF is_off THEN
    EXECUTE format('ALTER ROLE %I NOLOGIN', p_login);
    UPDATE member m SET gone = clock_timestamp() WHERE m.id = v_member;
  END IF;
END $$;

-- The first of `p_ids`, in the caller's order, that is open and free or whose lease is over.
CREATE FUNCTION claim_v1(p_key text, p_host text, p_holder text, p_ids text[], p_lease_ms bigint,
  OUT issue text, OUT fence bigint, OUT took_over text)
SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE plpgsql AS $$
DECLARE v_repo int := repo_for(p_key, 2); v_host int := host_for(p_host); v_found record;
BEGIN
  IF p_lease_ms NOT BETWEEN 1000 AND 86400000 OR cardinality(p_ids) > 500 THEN
    RAISE EXCEPTION 'a lease of % ms, % issues', p_lease_ms, cardinality(p_ids) USING ERRCODE = '22023';
  END IF;
  INSERT INTO claim (repo, issue) SELECT v_repo, i FROM (SELECT DISTINCT unnest(p_ids) AS i) q ORDER BY i
    ON CONFLICT DO NOTHING;
  SELECT c.issue, c.holder INTO v_found
    FROM claim c JOIN unnest(p_ids) WITH ORDINALITY AS u(i, o) ON u.i = c.issue
    WHERE c.repo = v_repo AND c.state = 'open' AND (c.until IS NULL OR c.until < clock_timestamp())
    ORDER BY u.o LIMIT 1 FOR UPDATE OF c SKIP LOCKED;
  IF v_found IS NULL THEN RETURN; END IF;
  UPDATE claim c SET holder = p_holder, host = v_host, since = clock_timestamp(), fence = c.fence + 1,
    until = clock_timestamp() + make_interval(secs => p_lease_ms / 1000.0)
    WHERE c.repo = v_repo AND c.issue = v_found.issue RETURNING c.issue, c.fence INTO issue, fence;
  took_over := v_found.holder;
END $$;

-- Whether the holder still had it, and so has it again for the lease.
CREATE FUNCTION renew_v1(p_key text, p_host text, p_issue text, p_fence bigint, p_lease_ms bigint) RETURNS boolean
SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE plpgsql AS $$
DECLARE v_repo int := repo_for(p_key, 2); v_host int := host_for(p_host);
BEGIN
  UPDATE claim c SET until = clock_timestamp() + make_interval(secs => p_lease_ms / 1000.0)
    WHERE c.repo = v_repo AND c.issue = p_issue AND c.fence = p_fence AND c.host = v_host
      AND c.state = 'open' AND c.until >= clock_timestamp();
  RETURN FOUND;
END $$;

-- Lets go of an issue, done or not. A stale holder is told no, and nothing changes.
CREATE FUNCTION release_v1(p_key text, p_host text, p_issue text, p_fence bigint, p_done boolean) RETURNS boolean
SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE plpgsql AS $$
DECLARE v_repo int := repo_for(p_key, 2); v_host int := host_for(p_host);
BEGIN
  UPDATE claim c SET state = CASE WHEN p_done THEN 'closed' ELSE 'open' END, until = NULL, holder = NULL
    WHERE c.repo = v_repo AND c.issue = p_issue AND c.fence = p_fence AND c.host = v_host
      AND c.state = 'open' AND c.until >= clock_timestamp();
  RETURN FOUND;
END $$;

-- An issue that is open again can be claimed again.
CREATE FUNCTION reopen_v1(p_key text, p_issue text) RETURNS boolean
SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE plpgsql AS $$
DECLARE v_repo int := repo_for(p_key, 2);
BEGIN
  UPDATE claim c SET state = 'open', until = NULL, holder = NULL
    WHERE c.repo = v_repo AND c.issue = p_issue AND c.state = 'closed';
  RETURN FOUND;
END $$;

CREATE FUNCTION size_v1(p_key text, OUT records bigint, OUT erased bigint, OUT bytes bigint, OUT pos bigint)
STABLE SECURITY DEFINER SET search_path = heirloom, pg_temp LANGUAGE sql AS $$
  SELECT (SELECT count(*) FROM record r WHERE r.repo = p.id),
    (SELECT count(*) FROM record r WHERE r.repo = p.id AND r.body IS NULL),
    pg_total_relation_size('heirloom.record'), p.pos
  FROM repo p WHERE p.id = repo_for(p_key, 1)
$$;

-- Drops what is older than `p_keep`, in whole batches. Returns how many records. For owners of the hub.
CREATE FUNCTION forget_older(p_key text, p_keep interval) RETURNS bigint
SECURITY INVOKER SET search_path = heirloom, pg_temp LANGUAGE plpgsql AS $$
DECLARE v_repo int; v_end bigint; v_gone bigint;
BEGIN
  SELECT r.id INTO v_repo FROM repo r WHERE r.key = p_key;
  SELECT max(r.pos) INTO v_end FROM record r WHERE r.repo = v_repo AND r.sig IS NOT NULL
    AND r.pos < (extract(epoch FROM clock_timestamp() - p_keep) * 1000000)::bigint;
  DELETE FROM record r WHERE r.repo = v_repo AND r.pos <= v_end;
  GET DIAGNOSTICS v_gone = ROW_COUNT;
  RETURN v_gone;
END $$;

-- For whoever restored this database from a backup: clients then look again at the last day.
CREATE FUNCTION new_epoch() RETURNS uuid
SECURITY INVOKER SET search_path = heirloom, pg_temp LANGUAGE sql AS $$
  UPDATE meta SET epoch = gen_random_uuid() RETURNING epoch
$$;

-- The second belt: should somebody be granted a table, they still see only what is theirs.
ALTER TABLE meta ENABLE ROW LEVEL SECURITY;
ALTER TABLE member ENABLE ROW LEVEL SECURITY;
ALTER TABLE repo ENABLE ROW LEVEL SECURITY;
ALTER TABLE access ENABLE ROW LEVEL SECURITY;
ALTER TABLE host ENABLE ROW LEVEL SECURITY;
ALTER TABLE stream ENABLE ROW LEVEL SECURITY;
ALTER TABLE record ENABLE ROW LEVEL SECURITY;
ALTER TABLE claim ENABLE ROW LEVEL SECURITY;
CREATE POLICY mine ON record FOR SELECT USING (repo = ANY ((SELECT my_repos())::int[]));

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA heirloom FROM PUBLIC;
GRANT USAGE ON SCHEMA heirloom TO heirloom_member;
GRANT EXECUTE ON FUNCTION hello_v1, join_v1, head_v1, push_v1, hosts_v1, pull_v1, invite_v1, revoke_v1,
  claim_v1, renew_v1, release_v1, reopen_v1, size_v1, my_repos TO heirloom_member;
