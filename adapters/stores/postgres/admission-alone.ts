/** What admits a call that is alone in its batch: with fewer values, statements and expressions than `admit_calls`. */
import type { AdmissionItem } from '../batched-admission.ts'
import { shares } from '../slice-shares.ts'
import { admissionTypes, callOf, parametersOf, relaxing, stillAwaited } from './batch-columns.ts'
import { readingSorted } from './buckets.ts'

/**
 * The parameters of `admit_one`. `buckets`: sorted. `room`: the burst of each rate. `free`: the number of places of each slot. The
 * function subtracts from both what is in use. `more`: the maximum number of calls to draw a slice for. `others`: the columns for
 * `admit_calls`.
 */
const types = {
  buckets: 'text[]',
  claim: 'text',
  claim_ms: 'float8',
  rate_bucket: 'int[]',
  costs: 'float8[]',
  per_ms: 'float8[]',
  room: 'float8[]',
  slot_bucket: 'int[]',
  free: 'int[]',
  hold: 'text',
  payer: 'text',
  price: 'bigint',
  hold_ms: 'float8',
  slice: 'text',
  more: 'int',
  durable: 'bool',
  others: 'text',
} as const

/**
 * Admits a call without caps that is refused by nothing. Otherwise it writes nothing, and `admit_calls` decides. The locks and
 * their order are the same. Only here, a slice is drawn for further calls.
 */
export const aloneSchema: string = `
    CREATE FUNCTION @.admit_one(${parametersOf(types)}) RETURNS json
    LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $f$
    #variable_conflict use_variable
    DECLARE
      used float8[];
      at float8[];
      held int[];
      soonest timestamptz[];
      b int;
      was float8;
      remaining bigint;
      moment timestamptz;
      moment_ms float8;
      leased timestamptz;
      ignored text;
      verdict json;
    BEGIN
      <<usual>>
      BEGIN
        IF cardinality(buckets) > 0 THEN
          ${readingSorted}
          EXIT usual WHEN used IS NULL;
        END IF;
        moment := clock_timestamp();
        moment_ms := date_part('epoch', moment) * 1000;
        FOR i IN 1..cardinality(costs) LOOP
          b := rate_bucket[i];
          was := greatest(0, used[b] - greatest(0, moment_ms - at[b]) * per_ms[i]);
          room[i] := room[i] - was;
          EXIT usual WHEN room[i] < costs[i];
          IF more > 0 THEN
            more := least(more, floor((room[i] - costs[i]) / greatest(1e-6, costs[i] * ${shares.units})));
          END IF;
          used[b] := was + costs[i];
          at[b] := moment_ms;
        END LOOP;
        FOR i IN 1..cardinality(free) LOOP
          b := slot_bucket[i];
          free[i] := free[i] - held[b];
          EXIT usual WHEN free[i] < 1 OR soonest[b] <= moment - interval '1 second';
          more := least(more, (free[i] - 1) / ${shares.places});
        END LOOP;
        IF more > 0 THEN
          SELECT greatest(0, least(more, (balance - price) / (greatest(1, price) * ${shares.units}))) INTO more
          FROM @.accounts WHERE id = payer FOR UPDATE;
        END IF;
        UPDATE @.accounts SET balance = balance - price * (1 + more) WHERE id = payer AND balance >= price * (1 + more)
          AND NOT EXISTS (SELECT FROM @.places WHERE bucket = ANY (buckets) AND holder = claim)
        RETURNING balance INTO remaining;
        EXIT usual WHEN remaining IS NULL;
        INSERT INTO @.holds (id, account, amount, ends)
        SELECT hold, payer, price, clock_timestamp() + hold_ms * interval '1 millisecond'
        WHERE NOT EXISTS (SELECT FROM @.entries WHERE kind <> 'credit' AND reference = hold) ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
          UPDATE @.accounts SET balance = balance + price * (1 + more) WHERE id = payer;
          EXIT usual;
        END IF;
        IF more > 0 THEN
          INSERT INTO @.holds (id, account, amount, ends)
          VALUES (slice, payer, price * more, clock_timestamp() + hold_ms * interval '1 millisecond');
          FOR i IN 1..cardinality(costs) LOOP
            used[rate_bucket[i]] := used[rate_bucket[i]] + costs[i] * more;
          END LOOP;
        END IF;
        ${stillAwaited}
        IF cardinality(free) > 0 THEN
          leased := clock_timestamp() + claim_ms * interval '1 millisecond';
          FOR i IN 1..cardinality(free) LOOP
            b := slot_bucket[i];
            held[b] := held[b] + 1 + more;
            soonest[b] := least(soonest[b], leased);
          END LOOP;
          INSERT INTO @.places (bucket, holder, ends) SELECT buckets[n.b], claim, leased FROM unnest(slot_bucket) n (b);
          IF more > 0 THEN
            INSERT INTO @.places (bucket, holder, ends, count)
            SELECT buckets[n.b], slice, leased, more FROM unnest(slot_bucket) n (b);
          END IF;
        END IF;
        IF cardinality(buckets) > 0 THEN
          UPDATE @.buckets o SET used = used[array_position(buckets, o.name)], held = held[array_position(buckets, o.name)],
            soonest = soonest[array_position(buckets, o.name)],
            at = CASE WHEN at[array_position(buckets, o.name)] = moment_ms THEN moment ELSE o.at END
          WHERE o.name = ANY (buckets);
        END IF;
        IF NOT durable THEN
          ${relaxing}
        END IF;
        RETURN json_build_object('admitted', ARRAY[true], 'left', room, 'free', free,
          'outcomes', ARRAY['held'], 'balances', ARRAY[remaining::text], 'ahead', more);
      END;
      ${callOf('admit_calls', admissionTypes, ', durable', 'others::jsonb').replace(' AS result', ' INTO verdict')};
      RETURN verdict;
    END
    $f$;
`

/** The statement that admits such a call. Arrays are sent as text, because not every client knows the type of a parameter. */
export const admitOneSql: string = `SELECT @.admit_one(${Object.values(types)
  .map((type, index) => `$${index + 1}::${type.endsWith('[]') ? 'text::' : ''}${type}`)
  .join(', ')}) AS result`

/** Its parameters, with `others`; undefined if the call is to be admitted by `admit_calls`. */
export function valuesAlone(
  { claim, hold, slice }: AdmissionItem,
  durable: boolean,
  others: string,
): unknown[] | undefined {
  if (hold === undefined || (hold.caps ?? []).length > 0) return undefined
  const rates = claim?.rates ?? []
  const places = claim?.places ?? []
  const names = [...new Set([...rates, ...places].map(({ bucket }) => bucket))].sort(byBytes)
  const texts = [...names, claim?.id ?? '', hold.id, hold.account]
  // Escaped in JSON, but replaced in parameters.
  if (!texts.every((text) => text.isWellFormed())) return undefined
  const numberOf = ({ bucket }: { readonly bucket: string }) => names.indexOf(bucket) + 1
  return [
    `{${names.map((name) => `"${name.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`,
    claim?.id ?? '',
    claim?.leaseMs ?? 0,
    arrayOf(rates.map(numberOf)),
    arrayOf(rates.map(({ cost }) => cost)),
    arrayOf(rates.map(({ limit, periodMs }) => limit / periodMs)),
    arrayOf(rates.map(({ burst }) => burst)),
    arrayOf(places.map(numberOf)),
    arrayOf(places.map((place) => place.places)),
    hold.id,
    hold.account,
    String(hold.amount),
    hold.leaseMs,
    slice?.id ?? '',
    slice?.calls ?? 0,
    durable,
    others,
  ]
}

/** As the collation "C". */
function byBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right))
}

function arrayOf(numbers: readonly number[]): string {
  return `{${numbers.join(',')}}`
}
