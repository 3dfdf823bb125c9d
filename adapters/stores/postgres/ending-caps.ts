/**
 * Parts of `end_calls` that concern caps and notices. `scopes` are the periods of caps in which settlements count, sorted by
 * cap and start, and `charge_*` the settlements that count there. The charge `carry_charge` carries the mark `carry_mark` of
 * `marks`. `levels` are the balances below which settlements record a notice.
 */

/** Variables. */
export const capVariables: string = `
      claims jsonb := '[]';
      repeated bool;
      noticed jsonb := '[]';
      -- Per account: credits less settlements, if a level may be crossed.
      lefts bigint[];
      balance_marks jsonb[];
      mark record;
      -- Per scope: its cap, when it and its window begin, and what is settled.
      scope_cap int[];
      starts float8[];
      froms float8[];
      sum_money bigint[];
      sum_tokens bigint[];
      sum_calls bigint[];
      -- Per charge: what was settled before it.
      was_money bigint[];
      was_tokens bigint[];
      was_calls bigint[];
      h int;
      s int;
      later int;`

/** Locks all caps that the holds, slices or settlements count for. Finds whether one of the holds has ended before. */
export const lockingCaps: string = `
        SELECT scopes || (
          SELECT coalesce(jsonb_agg(jsonb_build_object('name', c.name, 'kind', c.kind)), '[]') FROM @.cap_holds c
          WHERE c.hold = ANY (ids || slices || returned)
        ), EXISTS (SELECT FROM @.entries o WHERE o.kind <> 'credit' AND o.reference = ANY (ids)) INTO claims, repeated;
        IF claims <> '[]' THEN
          PERFORM @.lock_caps(claims);
        END IF;`

/** Adds a notice to those to be recorded. */
function noting(hold: string, value: string): string {
  return `noticed := noticed || jsonb_build_object('id', mark.id, 'notice', mark.notice, 'settlement', ids[${hold}],
                'account', accounts[payers[${hold}]], 'value', ${value});`
}

/** Finds the levels that the settlements take their accounts below. Open holds are added up only if one is possible. */
export const crossingLevels: string = `
          lefts := array_fill(NULL::bigint, ARRAY[cardinality(accounts)]);
          balance_marks := array_fill(NULL::jsonb, ARRAY[cardinality(ids)]);
          FOR r IN SELECT n.hold, n.marks FROM jsonb_to_recordset(levels) n (hold int, marks jsonb) LOOP
            balance_marks[r.hold] := r.marks;
          END LOOP;
          FOR r IN
            SELECT n.payer, o.balance + coalesce((SELECT sum(amount) FROM @.holds WHERE account = o.id), 0) AS funds FROM (
              SELECT t.payer, sum(t.charge) AS charged, max(t.highest) AS highest FROM (
                SELECT i.payer, i.charge, (SELECT max(m.at) FROM jsonb_to_recordset(i.marks) m (at bigint)) AS highest
                FROM unnest(payers, charged, balance_marks) i (payer, charge, marks)
              ) t GROUP BY t.payer
            ) n JOIN @.accounts o ON o.id = accounts[n.payer]
            WHERE NOT o.unlimited AND o.balance - n.charged < n.highest
          LOOP
            lefts[r.payer] := r.funds;
          END LOOP;
          FOR i IN 1..cardinality(ids) LOOP
            IF outcomes[i] = 'settled' AND lefts[payers[i]] IS NOT NULL THEN
              FOR mark IN SELECT * FROM jsonb_to_recordset(balance_marks[i]) m (id text, at bigint, notice text) LOOP
                IF lefts[payers[i]] >= mark.at AND lefts[payers[i]] - charged[i] < mark.at THEN
                  ${noting('i', 'lefts[payers[i]] - charged[i]')}
                END IF;
              END LOOP;
              lefts[payers[i]] := lefts[payers[i]] - charged[i];
            END IF;
          END LOOP;`

/** The scopes of the batch, numbered. */
const scopesFrom = `ROWS FROM (jsonb_to_recordset(scopes) AS (
            name text, kind text, start float8, counts_until float8, rolling float8, cap int
          )) WITH ORDINALITY s (name, kind, start, counts_until, rolling, cap, i)`

/**
 * Finds the marks that the settlements reach, one after the other. A settlement counts in its scope and in the later ones
 * of the same cap whose window contains it; these follow it in `scopes`.
 */
const reachingMarks = `
            FOR r IN
              SELECT s.i, s.start, s.rolling, s.cap, u.money, u.tokens, u.calls FROM ${scopesFrom}
              CROSS JOIN LATERAL @.cap_sums(s.name, s.kind, s.start - s.rolling, s.start) u ORDER BY s.i
            LOOP
              scope_cap[r.i] := r.cap;
              starts[r.i] := r.start;
              froms[r.i] := r.start - r.rolling;
              sum_money[r.i] := r.money;
              sum_tokens[r.i] := r.tokens;
              sum_calls[r.i] := r.calls;
            END LOOP;
            was_money := array_fill(NULL::bigint, ARRAY[cardinality(charge_hold)]);
            was_tokens := was_money;
            was_calls := was_money;
            FOR k IN 1..cardinality(charge_hold) LOOP
              h := charge_hold[k];
              IF outcomes[h] = 'settled' AND amounts[h] IS NOT NULL THEN
                s := charge_scope[k];
                was_money[k] := sum_money[s];
                was_tokens[k] := sum_tokens[s];
                was_calls[k] := sum_calls[s];
                later := s;
                WHILE scope_cap[later] = scope_cap[s] LOOP
                  IF froms[later] <= starts[s] THEN
                    sum_money[later] := sum_money[later] + charged[h];
                    sum_tokens[later] := sum_tokens[later] + tokens[h];
                    sum_calls[later] := sum_calls[later] + 1;
                  END IF;
                  later := later + 1;
                END LOOP;
              END IF;
            END LOOP;
            FOR mark IN
              SELECT * FROM (
                SELECT m.id, m.at, m.notice, charge_hold[n.charge] AS hold, n.i,
                  CASE m.measure WHEN 'money' THEN was_money[n.charge] WHEN 'tokens' THEN was_tokens[n.charge]
                    ELSE was_calls[n.charge] END AS value,
                  CASE m.measure WHEN 'money' THEN charged[charge_hold[n.charge]]
                    WHEN 'tokens' THEN tokens[charge_hold[n.charge]] ELSE 1 END AS more
                FROM ROWS FROM (jsonb_to_recordset(marks) AS (id text, at bigint, notice text, measure text))
                  WITH ORDINALITY m (id, at, notice, measure, i)
                JOIN unnest(carry_charge, carry_mark) WITH ORDINALITY n (charge, mark, i) ON n.mark = m.i
              ) t WHERE t.value < t.at AND t.value + t.more >= t.at ORDER BY t.i
            LOOP
              ${noting('mark.hold', 'mark.value + mark.more')}
            END LOOP;`

/** Takes the holds and slices that have ended off their caps. */
export const releasingCaps: string = `
        WITH gone AS (
          DELETE FROM @.cap_holds c WHERE c.hold = ANY (ids || returned)
            AND (SELECT h.id FROM @.holds h WHERE h.id = c.hold) IS NULL
          RETURNING c.name, c.kind, c.start, c.money, c.tokens, c.calls
        )
        UPDATE @.cap_use u SET held_money = u.held_money - n.money, held_tokens = u.held_tokens - n.tokens,
          held_calls = u.held_calls - n.calls
        FROM (
          SELECT g.name, g.kind, g.start, sum(g.money) AS money, sum(g.tokens) AS tokens, sum(g.calls) AS calls FROM gone g
          GROUP BY g.name, g.kind, g.start
        ) n WHERE u.name = ANY (ARRAY(SELECT name FROM gone)) AND u.name = n.name AND u.kind = n.kind AND u.start = n.start;`

/** Counts the settlements. */
export const countingSettlements: string = `
          IF cardinality(carry_charge) > 0 THEN
            ${reachingMarks}
          END IF;
          INSERT INTO @.cap_use AS u (name, kind, start, counts_until, money, tokens, calls)
          SELECT s.name, s.kind, s.start, max(s.counts_until), sum(charged[n.hold]), sum(tokens[n.hold]), count(*)
          FROM ${scopesFrom} JOIN unnest(charge_hold, charge_scope) n (hold, scope) ON n.scope = s.i
          WHERE outcomes[n.hold] = 'settled' AND amounts[n.hold] IS NOT NULL
          GROUP BY s.name, s.kind, s.start ORDER BY s.name COLLATE "C", s.kind COLLATE "C", s.start
          ON CONFLICT (name, kind, start) DO UPDATE SET money = u.money + excluded.money,
            tokens = u.tokens + excluded.tokens, calls = u.calls + excluded.calls;
          INSERT INTO @.cap_charges (hold, account, refundable, caps, ends)
          SELECT ids[n.hold], accounts[payers[n.hold]], charged[n.hold],
            jsonb_agg(jsonb_build_object('name', s.name, 'kind', s.kind, 'start', s.start)),
            to_timestamp(max(s.counts_until) / 1000)
          FROM ${scopesFrom} JOIN unnest(charge_hold, charge_scope) n (hold, scope) ON n.scope = s.i
          WHERE outcomes[n.hold] = 'settled' AND amounts[n.hold] > 0 GROUP BY n.hold ORDER BY 1
          ON CONFLICT DO NOTHING;`

/** Records the notices, sorted by id: another transaction may be recording one with the same id. */
export const recordingNotices: string = `
          INSERT INTO @.notices (id, notice, settlement, account, value)
          SELECT n.id, n.notice, n.settlement, n.account, n.value
          FROM jsonb_to_recordset(noticed) n (id text, notice text, settlement text, account text, value bigint)
          ORDER BY n.id COLLATE "C" ON CONFLICT DO NOTHING;`
