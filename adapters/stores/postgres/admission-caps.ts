/**
 * Parts of `admit_calls` that concern caps. `scopes` are the caps of the batch and their periods; `caps` is the number of
 * claims per call in the columns `cap_*`, and entries of `cap_scope` are positions in `scopes`.
 */

/** Variables. What the calls of the batch add to a scope is counted in that with the same period at `first_of`. */
export const capVariables: string = `
      -- Per scope.
      scope_name text[];
      scope_kind text[];
      starts float8[];
      finishes float8[];
      rollings float8[];
      resets float8[];
      settled_money bigint[];
      settled_tokens bigint[];
      settled_calls bigint[];
      held_money bigint[];
      held_tokens bigint[];
      held_calls bigint[];
      overrides jsonb[];
      first_of int[];
      -- Per claim: what is held with it, or the state of a hold made by an earlier call.
      claim_money bigint[];
      claim_tokens bigint[];
      claim_calls bigint[];
      earlier jsonb[];
      s int;`

/** Opens the accounts of holds of zero. It must precede the locks of caps: another transaction may be opening one. */
export const openingAccounts: string = `
          IF 0 = ANY (amounts) THEN
            WITH made AS (
              INSERT INTO @.accounts (id) SELECT n.id FROM (
                SELECT DISTINCT accounts[n.payer] AS id FROM unnest(payers, amounts, caps) n (payer, amount, caps)
                WHERE n.payer > 0 AND n.amount = 0 AND n.caps > 0
              ) n WHERE (SELECT o.id FROM @.accounts o WHERE o.id = n.id) IS NULL ORDER BY n.id COLLATE "C"
              ON CONFLICT DO NOTHING RETURNING id
            )
            SELECT array_agg(id) INTO opened FROM made;
          END IF;`

/** Locks the caps, and reads their use. */
export const readingCaps: string = `
        moment := @.lock_caps(scopes);
        moment_ms := date_part('epoch', moment) * 1000;
        earlier := array_fill(NULL::jsonb, ARRAY[cardinality(cap_scope)]);
        claim_money := array_fill(NULL::bigint, ARRAY[cardinality(cap_scope)]);
        claim_tokens := claim_money;
        claim_calls := claim_money;
        FOR r IN
          SELECT t.*, min(t.i) OVER (PARTITION BY t.name, t.kind, t.start, t.rolling)::int AS first_of
          FROM @.cap_states(scopes, moment_ms) t ORDER BY t.i
        LOOP
          IF r.start IS NULL OR r.finish IS NULL THEN
            RAISE 'the clock of the database is outside the periods of the cap "%"', r.name USING
              ERRCODE = 'check_violation', HINT = 'Set the clocks of the gateway and the database server.';
          END IF;
          scope_name[r.i] := r.name;
          scope_kind[r.i] := r.kind;
          starts[r.i] := r.start;
          finishes[r.i] := r.finish;
          rollings[r.i] := r.rolling;
          resets[r.i] := coalesce(r.first, r.finish + r.rolling);
          settled_money[r.i] := r.money;
          settled_tokens[r.i] := r.tokens;
          settled_calls[r.i] := r.calls;
          held_money[r.i] := r.held_money;
          held_tokens[r.i] := r.held_tokens;
          held_calls[r.i] := r.held_calls;
          overrides[r.i] := r.limits;
          first_of[r.i] := r.first_of;
        END LOOP;`

/** The limit of a measure for the claim at `i` of the scope `s`. NULL: none. */
export function limitOf(measure: string): string {
  return `CASE WHEN overrides[s] ? '${measure}' THEN (overrides[s]->>'${measure}')::bigint ELSE cap_${measure}[i] END`
}

/** Whether what is counted and `more` are over the limit of a measure. */
function exceeds(measure: string, more: string): string {
  return `coalesce(settled_${measure}[s] + held_${measure}[s] + ${more} > ${limitOf(measure)}, false)`
}

/** Draws the hold of the call `c` from its caps, or sets its outcome to `capped`. */
export const drawingCaps: string = `
            FOR i IN cap + 1..cap + caps[c] LOOP
              s := first_of[cap_scope[i]];
              IF ${exceeds('money', 'amounts[c]')} OR ${exceeds('tokens', 'tokens[c]')} OR ${exceeds('calls', '1')} THEN
                outcomes[c] := 'capped';
              END IF;
            END LOOP;
            IF outcomes[c] = 'held' THEN
              FOR i IN cap + 1..cap + caps[c] LOOP
                s := first_of[cap_scope[i]];
                held_money[s] := held_money[s] + amounts[c];
                held_tokens[s] := held_tokens[s] + tokens[c];
                held_calls[s] := held_calls[s] + 1;
              END LOOP;
            END IF;`

/** What is held for the caps of the call `c`. For a hold made by an earlier call, its states in the periods of that call. */
export const describingCaps: string = `
            FOR i IN cap + 1..cap + caps[c] LOOP
              s := first_of[cap_scope[i]];
              IF outcomes[c] = 'capped' OR made[c] THEN
                claim_money[i] := held_money[s];
                claim_tokens[i] := held_tokens[s];
                claim_calls[i] := held_calls[s];
              ELSE
                earlier[i] := (
                  SELECT jsonb_build_object('start', h.start, 'end', o.counts_until - rollings[s], 'resetsAt', u.first,
                    'settled', ARRAY[u.money, u.tokens, u.calls]::text[],
                    'held', ARRAY[u.held_money, u.held_tokens, u.held_calls]::text[])
                  FROM @.cap_holds h
                  JOIN @.cap_use o ON o.name = h.name AND o.kind = h.kind AND o.start = h.start
                  CROSS JOIN LATERAL @.cap_sums(h.name, h.kind, h.start - rollings[s], h.start) u
                  WHERE h.hold = holds[c] AND h.name = scope_name[s] AND h.kind = scope_kind[s]);
              END IF;
            END LOOP;`

/** The result: scopes, and claims. Amounts are text. */
export const cappedResult: string = `jsonb_build_object('start', starts, 'end', finishes, 'resetsAt', resets,
          'settled', ARRAY[settled_money, settled_tokens, settled_calls]::text[], 'overrides', overrides,
          'scope', cap_scope, 'held', ARRAY[claim_money, claim_tokens, claim_calls]::text[], 'earlier', earlier)`

/** Records what the new holds count. */
export const countingHolds: string = `
          INSERT INTO @.cap_use AS u (name, kind, start, counts_until, held_money, held_tokens, held_calls)
          SELECT scope_name[n.s], scope_kind[n.s], starts[n.s], max(finishes[n.s] + rollings[n.s]),
            sum(amounts[n.c]), sum(tokens[n.c]), sum(counts[n.c])
          FROM unnest(cap_call, cap_scope) n (c, s) WHERE made[n.c] GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
          ON CONFLICT (name, kind, start) DO UPDATE SET held_money = u.held_money + excluded.held_money,
            held_tokens = u.held_tokens + excluded.held_tokens, held_calls = u.held_calls + excluded.held_calls;
          INSERT INTO @.cap_holds (hold, name, kind, start, money, tokens, calls)
          SELECT holds[n.c], scope_name[n.s], scope_kind[n.s], starts[n.s], amounts[n.c], tokens[n.c], counts[n.c]
          FROM unnest(cap_call, cap_scope) n (c, s) WHERE made[n.c]
          ON CONFLICT (hold, name, kind) DO UPDATE SET start = excluded.start, money = excluded.money,
            tokens = excluded.tokens, calls = excluded.calls;
          UPDATE @.caps o SET soonest = n.ends FROM (
            SELECT scope_name[t.s] AS name, scope_kind[t.s] AS kind,
              moment + min(hold_ms[t.c]) * interval '1 millisecond' AS ends
            FROM unnest(cap_call, cap_scope) t (c, s) WHERE made[t.c] GROUP BY 1, 2
          ) n WHERE o.name = ANY (scope_name) AND o.name = n.name AND o.kind = n.kind
            AND (o.soonest IS NULL OR o.soonest > n.ends);
          IF opened IS NOT NULL THEN
            DELETE FROM @.accounts WHERE id = ANY (opened)
              AND id <> ALL (ARRAY(SELECT accounts[n.payer] FROM unnest(payers, made) n (payer, made) WHERE n.made));
          END IF;`
