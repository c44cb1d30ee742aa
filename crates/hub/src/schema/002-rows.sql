-- The rows there were, each in its month.
SELECT month_for(p) FROM (SELECT DISTINCT extract(epoch FROM
    date_trunc('month', to_timestamp(pos / 1000000) AT TIME ZONE 'UTC'))::bigint * 1000000 AS p
  FROM record_before) q;
INSERT INTO record SELECT * FROM record_before;
DROP TABLE record_before;
