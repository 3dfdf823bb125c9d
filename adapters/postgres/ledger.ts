/** The ledger: accounts, open holds, and the books. */
import { pageOf } from '../../src/billing/page.ts'
import type { Account, Audit, CreditVerdict, Entry, Hold, HoldVerdict, Ledger, SettleVerdict } from '../../src/index.ts'
import type { Database } from './database.ts'
import type { Part } from './migration.ts'

/**
 * Whoever changes anything of an account locks its row first. A hold that was ended is gone from `holds`; the line in
 * `entries` that ended it, of which there can be only one, is what is left of it. Amounts leave as text: not every client
 * has numbers of 64 bits.
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
    CREATE UNIQUE INDEX ON @.entries ((kind = 'credit'), reference);
    CREATE INDEX ON @.entries (account, number);

    CREATE FUNCTION @.return_expired(of_account text) RETURNS void LANGUAGE sql AS $f$
      WITH gone AS (
        DELETE FROM @.holds WHERE account = of_account AND ends <= clock_timestamp() RETURNING amount
      )
      UPDATE @.accounts SET balance = balance + (SELECT coalesce(sum(amount), 0) FROM gone)
      WHERE id = of_account AND EXISTS (SELECT FROM gone)
    $f$;

    CREATE FUNCTION @.hold(hold_id text, of_account text, want bigint, lease_ms float8) RETURNS jsonb
    LANGUAGE plpgsql AS $f$
    DECLARE
      acc record;
      known record;
    BEGIN
      SELECT * INTO acc FROM @.accounts WHERE id = of_account FOR UPDATE;
      IF EXISTS (SELECT FROM @.entries WHERE (kind = 'credit') = false AND reference = hold_id) THEN
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

    CREATE FUNCTION @.end_hold(hold_id text, of_account text, cost bigint) RETURNS jsonb LANGUAGE plpgsql AS $f$
    DECLARE
      ended record;
      held bigint;
      kind text := CASE WHEN cost IS NULL THEN 'release' ELSE 'settle' END;
      charge bigint := coalesce(cost, 0);
    BEGIN
      INSERT INTO @.accounts (id) VALUES (of_account) ON CONFLICT DO NOTHING;
      PERFORM FROM @.accounts WHERE id = of_account FOR UPDATE;
      SELECT * INTO ended FROM @.entries e WHERE (e.kind = 'credit') = false AND e.reference = hold_id;
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

    CREATE FUNCTION @.renew_holds(renewed jsonb, lease_ms float8) RETURNS void LANGUAGE sql AS $f$
      UPDATE @.holds SET ends = clock_timestamp() + lease_ms * interval '1 millisecond'
      FROM jsonb_array_elements(renewed) h
      WHERE id = h->>'id' AND account = h->>'account' AND ends > clock_timestamp()
    $f$;

    CREATE FUNCTION @.credit(of_account text, by bigint, payment text, remark text) RETURNS jsonb LANGUAGE plpgsql AS $f$
    DECLARE
      made record;
      now_balance bigint;
      outcome text := 'credited';
    BEGIN
      -- Two credits with one reference may be for two accounts: they meet at the reference.
      PERFORM pg_advisory_xact_lock(hashtext('@.credit'), hashtext(payment));
      SELECT * INTO made FROM @.entries WHERE (kind = 'credit') = true AND reference = payment;
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
  ],
}

/** As the schema gives it: amounts are text. */
type Told<T> = { readonly [K in keyof T]: T[K] extends bigint ? string : T[K] }

export function postgresLedger(database: Database): Ledger {
  return {
    async hold({ id, account, amount, leaseMs }) {
      return holdVerdict(await database.call('hold', id, account, String(amount), leaseMs))
    },
    async settle({ id, account, amount }) {
      const told = await database.call<Told<SettleVerdict>>('end_hold', id, account, String(amount))
      return { outcome: told.outcome, charged: BigInt(told.charged), overage: BigInt(told.overage) }
    },
    async release({ id, account }) {
      await database.call('end_hold', id, account, null)
    },
    async renew(holds: readonly Pick<Hold, 'id' | 'account'>[], leaseMs) {
      await database.call('renew_holds', JSON.stringify(holds.map(({ id, account }) => ({ id, account }))), leaseMs)
    },
    async credit({ account, amount, reference, note }) {
      const told = await database.call<Told<CreditVerdict>>('credit', account, String(amount), reference, note ?? null)
      return { outcome: told.outcome, balance: BigInt(told.balance) }
    },
    async open({ id, name, unlimited }) {
      return accountOf(await database.call('open_account', id, name ?? null, unlimited ?? null))
    },
    async account(id) {
      const [account] = await accounts(database, 'WHERE id = $1', [id])
      return account
    },
    async accounts({ limit = 100, after = '' }) {
      const found = await accounts(database, 'WHERE id > $1 ORDER BY id LIMIT $2', [after, limit + 1])
      return pageOf(found, limit, (last) => last.id)
    },
    async entries(account, { limit = 100, after }) {
      const found = await database.manyRows<{ entry: unknown }>(
        `SELECT jsonb_strip_nulls(jsonb_build_object(
          'number', number, 'account', account, 'kind', kind, 'reference', reference, 'amount', amount::text,
          'overage', overage::text, 'note', note, 'at', floor(extract(epoch FROM at) * 1000))) AS entry
        FROM @.entries WHERE account = $1 AND number < $2 ORDER BY number DESC LIMIT $3`,
        [account, after ?? '9223372036854775807', limit + 1],
      )
      const entries = found.map(({ entry }): Entry => {
        const told = parsed(entry) as Told<Entry>
        return { ...told, amount: BigInt(told.amount), overage: BigInt(told.overage) }
      })
      return pageOf(entries, limit, (last) => String(last.number))
    },
    async audit() {
      const [row] = await database.manyRows<{ audit: unknown }>('SELECT @.audit() AS audit', [])
      const told = parsed(row?.audit) as Told<Audit>
      const faults = told.faults as unknown as readonly Told<Audit['faults'][number]>[]
      return {
        accounts: told.accounts,
        credits: BigInt(told.credits),
        balances: BigInt(told.balances),
        holds: BigInt(told.holds),
        settlements: BigInt(told.settlements),
        faults: faults.map(({ account, balance, expected }) => ({
          account,
          balance: BigInt(balance),
          expected: BigInt(expected),
        })),
      }
    },
  }
}

export function holdVerdict({ outcome, balance }: Told<HoldVerdict>): HoldVerdict {
  return { outcome, balance: BigInt(balance) }
}

async function accounts(database: Database, which: string, values: unknown[]): Promise<Account[]> {
  const text = `SELECT @.account_json(a) AS account FROM @.accounts a ${which}`
  const rows = await database.manyRows<{ account: unknown }>(text, values)
  return rows.map(({ account }) => accountOf(parsed(account) as Told<Account>))
}

function accountOf(told: Told<Account>): Account {
  return { ...told, balance: BigInt(told.balance), held: BigInt(told.held) }
}

function parsed(json: unknown): unknown {
  return typeof json === 'string' ? JSON.parse(json) : json
}
