import type { UsageFilter } from '../../adapters/stores/index.ts'
import type { UsageStore } from '../../src/index.ts'

/** Every combination of these filters: frequent values, rare ones, and one that no record has. */
function combinations(start: number, day: number): UsageFilter[] {
  const values: readonly (readonly UsageFilter[])[] = [
    [{ account: 'account_0' }, { account: 'account_500' }],
    [{ key: 'key_account_0_0123456789ab' }],
    [{ model: 'gpt-5' }, { model: 'none' }],
    [{ user: 'user_1' }],
    [{ session: 'session_7' }],
    [{ outcome: 'completed' }, { outcome: 'failed' }, { outcome: 'refused' }],
    [{ code: 'server_error' }, { code: 'conflict' }],
    [{ from: start + day, to: start + 2 * day }],
  ]
  const none: readonly UsageFilter[] = [{}]
  return values.reduce(
    (all, each) => all.flatMap((one) => [one, ...each.map((more) => ({ ...one, ...more }))]),
    none,
  ) as UsageFilter[]
}

/** The slowest first page of all combinations of filters. */
export async function slowestPage(
  usage: UsageStore,
  start: number,
  day: number,
): Promise<{ readonly count: number; readonly ms: number; readonly filter: string }> {
  const all = combinations(start, day)
  let slowest = { ms: 0, filter: '' }
  for (const filter of all) {
    const since = performance.now()
    await usage.list({ ...filter, limit: 50 })
    const ms = performance.now() - since
    if (ms > slowest.ms) slowest = { ms, filter: JSON.stringify(filter) }
  }
  return { count: all.length, ...slowest }
}
