/** The tables and functions of the ledger. */
import { plannedOnce } from './columns.ts'
import type { Part } from './migration.ts'

/**
 * The function that renews holds. Skips those that are locked, because they are ending: it locks many in any order, and
 * could deadlock with a batch of endings if it waited.
 */
export const renewHolds: string = `
    CREATE OR REPLACE FUNCTION @.renew_holds(renewed jsonb, lease_ms float8) RETURNS void
    LANGUAGE plpgsql ${plannedOnce} AS $f$
    DECLARE
      until timestamptz := clock_timestamp() + lease_ms * interval '1 millisecond';
      ids text[] := ARRAY(SELECT h->>'id' FROM jsonb_array_elements(renewed) WITH ORDINALITY n (h, i) ORDER BY i);
      payers text[] := ARRAY(SELECT h->>'account' FROM jsonb_array_elements(renewed) WITH ORDINALITY n (h, i) ORDER BY i);
      sooner jsonb;
    BEGIN
      sooner := (
        SELECT jsonb_agg(DISTINCT jsonb_build_object('name', c.name, 'kind', c.kind)) FROM @.cap_holds c
        JOIN @.holds h ON h.id = c.hold AND h.ends > until WHERE c.hold = ANY (ids)
      );
      IF sooner IS NOT NULL THEN
        PERFORM @.lock_caps(sooner);
        UPDATE @.caps o SET soonest = least(o.soonest, until)
        FROM jsonb_to_recordset(sooner) c (name text, kind text) WHERE o.name = c.name AND o.kind = c.kind;
      END IF;
      UPDATE @.holds o SET ends = until FROM (
        SELECT h.ctid FROM unnest(ids, payers) n (id, account)
        JOIN @.holds h ON h.id = n.id AND h.account = n.account AND h.ends > clock_timestamp()
        FOR UPDATE OF h SKIP LOCKED
      ) n WHERE o.ctid = n.ctid;
    END
    $f$;
`

/**
 * Conditions on `kind` are written exactly like those of the partial indexes, so that the planner uses these. It could not
 * use an index on the expression `kind = 'credit'` before Postgres 18, because it rewrites `(kind = 'credit') = false`.
 */
const functions = `
    ${renewHolds}

    CREATE OR REPLACE FUNCTION @.return_expired(of_account text) RETURNS void LANGUAGE sql AS $f$
      -- The subquery reads the clock only once, so that the index can be used.
      WITH gone AS (
        DELETE FROM @.holds WHERE account = of_account AND ends <= (SELECT clock_timestamp()) RETURNING amount
      )
      UPDATE @.accounts SET balance = balance + (SELECT coalesce(sum(amount), 0) FROM gone)
      WHERE id = of_account AND EXISTS (SELECT FROM gone)
    $f$;

    CREATE OR REPLACE FUNCTION @.hold(hold_id text, of_account text, want bigint, lease_ms float8) RETURNS jsonb
    LANGUAGE plpgsql AS $f$
    DECLARE
      acc record;
      known record;
    BEGIN
      SELECT * INTO acc FROM @.accounts WHERE id = of_account FOR UPDATE;
      IF EXISTS (SELECT FROM @.entries WHERE kind <> 'credit' AND reference = hold_id) THEN
        RETURN jsonb_build_object('outcome', 'ended', 'balance', coalesce(acc.balance, 0)::text);
      END IF;
      IF acc.id IS NULL THEN
        RETURN jsonb_build_object('outcome', 'insufficient', 'balance', '0');
      END IF;
      SELECT * INTO known FROM @.holds WHERE id = hold_id;
      IF acc.balance < want OR known.ends <= clock_timestamp() THEN
        PERFORM @.return_expired(of_account);
        SELECT * INTO acc FROM @.accounts WHERE id = of_account;
        SELECT * INTO known FROM @.holds WHERE id = hold_id;
      END IF;
      IF known.id IS NOT NULL THEN
        RETURN jsonb_build_object('outcome', 'held', 'balance', acc.balance::text);
      END IF;
      IF acc.balance < want AND NOT acc.unlimited THEN
        RETURN jsonb_build_object('outcome', 'insufficient', 'balance', acc.balance::text);
      END IF;
      INSERT INTO @.holds (id, account, amount, ends)
      VALUES (hold_id, of_account, want, clock_timestamp() + lease_ms * interval '1 millisecond');
      UPDATE @.accounts SET balance = balance - want WHERE id = of_account RETURNING * INTO acc;
      RETURN jsonb_build_object('outcome', 'held', 'balance', acc.balance::text);
    END
    $f$;

    CREATE OR REPLACE FUNCTION @.end_hold(hold_id text, of_account text, cost bigint) RETURNS jsonb LANGUAGE plpgsql AS $f$
    DECLARE
      ended record;
      held bigint;
      kind text := CASE WHEN cost IS NULL THEN 'release' ELSE 'settle' END;
      charge bigint := coalesce(cost, 0);
    BEGIN
      INSERT INTO @.accounts (id) VALUES (of_account) ON CONFLICT DO NOTHING;
      PERFORM FROM @.accounts WHERE id = of_account FOR UPDATE;
      SELECT * INTO ended FROM @.entries e WHERE e.kind <> 'credit' AND e.reference = hold_id;
      IF ended.number IS NOT NULL THEN
        RETURN jsonb_build_object(
          'outcome', CASE ended.kind WHEN 'settle' THEN 'already' ELSE 'released' END,
          'charged', (-ended.amount)::text, 'overage', ended.overage::text);
      END IF;
      PERFORM @.return_expired(of_account);
      DELETE FROM @.holds WHERE id = hold_id AND account = of_account RETURNING amount INTO held;
      held := coalesce(held, 0);
      INSERT INTO @.entries (account, kind, reference, amount, overage)
      VALUES (of_account, kind, hold_id, -charge, greatest(0, charge - held));
      UPDATE @.accounts SET balance = balance + held - charge WHERE id = of_account;
      RETURN jsonb_build_object('outcome', 'settled', 'charged', charge::text, 'overage', greatest(0, charge - held)::text);
    END
    $f$;

    CREATE OR REPLACE FUNCTION @.credit(of_account text, by bigint, payment text, remark text) RETURNS jsonb LANGUAGE plpgsql AS $f$
    DECLARE
      made record;
      now_balance bigint;
      outcome text := 'credited';
    BEGIN
      -- Two credits with the same reference may name different accounts, so that locking the account is not enough.
      PERFORM pg_advisory_xact_lock(hashtext('@.credit'), hashtext(payment));
      SELECT * INTO made FROM @.entries WHERE kind = 'credit' AND reference = payment;
      IF made.number IS NULL THEN
        INSERT INTO @.accounts AS a (id, balance) VALUES (of_account, by)
        ON CONFLICT (id) DO UPDATE SET balance = a.balance + by;
        INSERT INTO @.entries (account, kind, reference, amount, note)
        VALUES (of_account, 'credit', payment, by, remark);
      ELSE
        outcome := CASE WHEN made.account = of_account AND made.amount = by THEN 'already' ELSE 'conflict' END;
      END IF;
      SELECT balance INTO now_balance FROM @.accounts WHERE id = of_account;
      RETURN jsonb_build_object('outcome', outcome, 'balance', coalesce(now_balance, 0)::text);
    END
    $f$;
`

/**
 * Every change of an account locks its row first. Ending a hold deletes it from `holds` and inserts its only row in `entries`.
 * Amounts are returned as text, because not every client supports 64-bit numbers.
 */
export const ledgerPart: Part = {
  name: 'ledger',
  versions: [
    `
    CREATE TABLE @.accounts (
      id text COLLATE "C" PRIMARY KEY,
      balance bigint NOT NULL DEFAULT 0,
      unlimited bool NOT NULL DEFAULT false,
      name text,
      created_at timestamptz NOT NULL DEFAULT clock_timestamp()
    ) WITH (fillfactor = 50);

    CREATE TABLE @.holds (
      id text COLLATE "C" PRIMARY KEY,
      account text COLLATE "C" NOT NULL REFERENCES @.accounts,
      amount bigint NOT NULL CHECK (amount >= 0),
      ends timestamptz NOT NULL
    );
    CREATE INDEX ON @.holds (account, ends);

    CREATE TABLE @.entries (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      account text COLLATE "C" NOT NULL REFERENCES @.accounts,
      kind text NOT NULL CHECK (kind IN ('credit', 'settle', 'release')),
      reference text COLLATE "C" NOT NULL,
      amount bigint NOT NULL,
      overage bigint NOT NULL DEFAULT 0,
      note text,
      at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    CREATE INDEX ON @.entries (account, number);

    CREATE FUNCTION @.account_json(a @.accounts) RETURNS jsonb LANGUAGE sql STABLE AS $f$
      SELECT jsonb_strip_nulls(jsonb_build_object(
        'id', a.id,
        'balance', (a.balance + coalesce(sum(h.amount) FILTER (WHERE h.ends <= clock_timestamp()), 0))::text,
        'held', coalesce(sum(h.amount) FILTER (WHERE h.ends > clock_timestamp()), 0)::text,
        'unlimited', a.unlimited,
        'name', a.name,
        'createdAt', floor(extract(epoch FROM a.created_at) * 1000)))
      FROM (SELECT amount, ends FROM @.holds WHERE account = a.id) h
    $f$;

    CREATE FUNCTION @.open_account(of_account text, new_name text, new_unlimited bool) RETURNS jsonb
    LANGUAGE plpgsql AS $f$
    DECLARE
      acc @.accounts;
    BEGIN
      INSERT INTO @.accounts AS a (id, name, unlimited) VALUES (of_account, new_name, coalesce(new_unlimited, false))
      ON CONFLICT (id) DO UPDATE SET
        name = coalesce(new_name, a.name), unlimited = coalesce(new_unlimited, a.unlimited)
      RETURNING * INTO acc;
      RETURN @.account_json(acc);
    END
    $f$;

    CREATE FUNCTION @.audit() RETURNS jsonb LANGUAGE sql STABLE AS $f$
      WITH books AS (
        SELECT account,
          coalesce(sum(amount) FILTER (WHERE kind = 'credit'), 0) AS credits,
          -coalesce(sum(amount) FILTER (WHERE kind = 'settle'), 0) AS settlements
        FROM @.entries GROUP BY account
      ), open AS (
        SELECT account,
          coalesce(sum(amount) FILTER (WHERE ends > now()), 0) AS held,
          coalesce(sum(amount) FILTER (WHERE ends <= now()), 0) AS expired
        FROM @.holds GROUP BY account
      ), standing AS (
        SELECT a.id, a.balance + coalesce(o.expired, 0) AS balance, coalesce(o.held, 0) AS held,
          coalesce(b.credits, 0) AS credits, coalesce(b.settlements, 0) AS settlements
        FROM @.accounts a LEFT JOIN books b ON b.account = a.id LEFT JOIN open o ON o.account = a.id
      )
      SELECT jsonb_build_object(
        'accounts', count(*),
        'credits', coalesce(sum(credits), 0)::text,
        'balances', coalesce(sum(balance), 0)::text,
        'holds', coalesce(sum(held), 0)::text,
        'settlements', coalesce(sum(settlements), 0)::text,
        'faults', coalesce(jsonb_agg(jsonb_build_object(
          'account', id, 'balance', balance::text, 'expected', (credits - settlements - held)::text
        )) FILTER (WHERE balance <> credits - settlements - held), '[]'))
      FROM standing
    $f$;
    `,
    [
      { index: 'entries_ended', table: 'entries', on: `(reference) WHERE kind <> 'credit'`, unique: true },
      { index: 'entries_credited', table: 'entries', on: `(reference) WHERE kind = 'credit'`, unique: true },
      { run: functions },
      { dropIndex: 'entries_expr_reference_idx' },
    ],
  ],
}
