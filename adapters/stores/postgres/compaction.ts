/** Replaces old charges of an account by their sum. */
/** The function that compacts. The sum is stored as a charge, so that the audit of every version includes it. */
export const compactionSchema: string = `
    CREATE FUNCTION @.compact_entries(of_account text, before_ms float8, most int) RETURNS int LANGUAGE plpgsql AS $f$
    DECLARE
      opening text := 'opening ' || of_account;
      last bigint;
      replaced int;
      sums record;
    BEGIN
      PERFORM FROM @.accounts WHERE id = of_account FOR UPDATE;
      SELECT max(number) INTO last FROM (
        SELECT number FROM @.entries
        WHERE account = of_account AND kind <> 'credit' AND reference <> opening
          AND at < to_timestamp(before_ms / 1000) ORDER BY number LIMIT most
      ) old;
      IF last IS NULL THEN
        RETURN 0;
      END IF;
      -- Exactly the rows that are deleted are added up, even if the clock was set back between two of them.
      WITH gone AS (
        DELETE FROM @.entries WHERE account = of_account AND kind <> 'credit' AND number <= last
        RETURNING reference, amount, overage, at
      )
      SELECT sum(amount) AS amount, sum(overage) AS overage, max(at) AS at,
        count(*) FILTER (WHERE reference <> opening) AS count INTO sums FROM gone;
      INSERT INTO @.entries (number, account, kind, reference, amount, overage, at) OVERRIDING SYSTEM VALUE
      VALUES (last, of_account, 'settle', opening, sums.amount, sums.overage, sums.at);
      RETURN sums.count;
    END
    $f$;
`
