/** The tables and functions of the ledger. */
import { lotColumns } from '../sql/lots.ts'
import { plannedOnce } from './batch-columns.ts'
import { dialect } from './dialect.ts'

/**
 * Every change of an account locks its row first. Ending a hold deletes it from `holds` and inserts its only row in `entries`.
 * Amounts are returned as text, because not every client supports 64-bit numbers. Conditions on `kind` are written exactly like
 * those of the partial indexes, so that the planner uses these. As accounts are locked, foreign keys would only cost a statement
 * for each row.
 */
export const ledgerSchema: string = `
    CREATE TABLE @.accounts (
      id text COLLATE "C" PRIMARY KEY,
      balance bigint NOT NULL DEFAULT 0,
      unlimited bool NOT NULL DEFAULT false,
      name text,
      created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      ${lotColumns(dialect)}
    ) WITH (fillfactor = 50);
    CREATE INDEX accounts_due ON @.accounts (lots_due) WHERE lots_due IS NOT NULL;

    CREATE TABLE @.holds (
      id text COLLATE "C" PRIMARY KEY,
      account text COLLATE "C" NOT NULL,
      amount bigint NOT NULL CHECK (amount >= 0),
      ends timestamptz NOT NULL
    );
    CREATE INDEX ON @.holds (account, ends);

    CREATE TABLE @.entries (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      account text COLLATE "C" NOT NULL,
      kind text NOT NULL CHECK (kind IN ('credit', 'settle', 'release')),
      reference text COLLATE "C" NOT NULL,
      amount bigint NOT NULL,
      overage bigint NOT NULL DEFAULT 0,
      note text,
      at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    CREATE INDEX ON @.entries (account, number);
    CREATE UNIQUE INDEX entries_ended ON @.entries (reference) WHERE kind <> 'credit';
    CREATE UNIQUE INDEX entries_credited ON @.entries (reference) WHERE kind = 'credit';

    CREATE FUNCTION @.open_account(of_account text, new_name text, new_unlimited bool) RETURNS void
    LANGUAGE plpgsql AS $f$
    BEGIN
      INSERT INTO @.accounts AS a (id, name, unlimited) VALUES (of_account, new_name, coalesce(new_unlimited, false))
      ON CONFLICT (id) DO UPDATE SET
        name = coalesce(new_name, a.name), unlimited = coalesce(new_unlimited, a.unlimited);
    END
    $f$;

    CREATE FUNCTION @.credit(
      of_account text, by bigint, payment text, remark text,
      new_lots text DEFAULT NULL, was int DEFAULT NULL, due float8 DEFAULT NULL, spent_to bigint DEFAULT NULL
    ) RETURNS jsonb LANGUAGE plpgsql AS $f$
    DECLARE
      made record;
      now_balance bigint;
      booked bigint := by;
      outcome text := 'credited';
    BEGIN
      -- Two credits with the same reference may name different accounts, so that locking the account is not enough.
      PERFORM pg_advisory_xact_lock(hashtext('@.credit'), hashtext(payment));
      SELECT * INTO made FROM @.entries WHERE kind = 'credit' AND reference = payment;
      IF made.number IS NULL THEN
        INSERT INTO @.accounts (id) VALUES (of_account) ON CONFLICT DO NOTHING;
        PERFORM FROM @.accounts WHERE id = of_account FOR UPDATE;
        IF was IS NOT NULL THEN
          UPDATE @.accounts SET lots = new_lots, lots_version = was + 1, lots_due = due
          WHERE id = of_account AND lots_version = was;
          outcome := CASE WHEN FOUND THEN 'credited' ELSE 'changed' END;
        END IF;
        IF spent_to IS NOT NULL THEN
          SELECT -greatest(0, least(-by, balance, spent_to - credited + balance)) INTO booked
          FROM @.accounts WHERE id = of_account;
        END IF;
        IF outcome = 'credited' AND booked <> 0 THEN
          UPDATE @.accounts SET balance = balance + booked, credited = credited + booked WHERE id = of_account;
          INSERT INTO @.entries (account, kind, reference, amount, note)
          VALUES (of_account, 'credit', payment, booked, remark);
        END IF;
      ELSE
        outcome := CASE WHEN made.account = of_account AND (spent_to IS NOT NULL OR made.amount = by)
          THEN 'already' ELSE 'conflict' END;
        booked := made.amount;
      END IF;
      SELECT balance INTO now_balance FROM @.accounts WHERE id = of_account;
      RETURN jsonb_build_object('outcome', outcome, 'balance', coalesce(now_balance, 0)::text, 'amount', booked::text);
    END
    $f$;

    -- Skips holds that are locked, because they are ending: it locks many in any order, and could deadlock with a batch of
    -- endings if it waited.
    CREATE FUNCTION @.renew_holds(renewed jsonb, lease_ms float8) RETURNS void
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
