/** The labels that a question selects. */
import type { UsageFilter } from '../index.ts'
import { where, type Condition } from './conditions.ts'
import type { Database } from './database.ts'
import { SlicedReads } from './sliced-reads.ts'

/** Number of labels up to which they are read one by one. */
const few = 2_000

/** Whether no index leads to the labels of a filter: they are found by reading all labels, of which there may be a million. */
export function readsAllLabels({ account, key, user, tag }: UsageFilter): boolean {
  return tag !== undefined && account === undefined && key === undefined && user === undefined
}

/** The labels of a filter, at most one more than `most`. `owner`: its conditions on labels. */
export async function labelsOf(
  database: Database,
  filter: UsageFilter,
  owner: readonly Condition[],
  most: number,
): Promise<bigint[]> {
  const found: bigint[] = []
  const read = (some: readonly Condition[], hint: string) => {
    const { text, values } = where([...some, ...owner, ['within IS NOT NULL']])
    const sql = `SELECT label FROM modelhatch_usage_labels l ${hint} ${text} LIMIT ?`
    for (const { label } of database.all(sql, ...values, most + 1 - found.length)) found.push(label as bigint)
    return found.length <= most
  }
  if (readsAllLabels(filter)) await new SlicedReads(database).ofLabels(undefined, (some) => read([some], 'NOT INDEXED'))
  else await database.read(() => read([], ''))
  return found
}

/** The labels of a filter. Undefined: too many to read them one by one. */
export async function fewLabels(
  database: Database,
  filter: UsageFilter,
  owner: readonly Condition[],
): Promise<readonly bigint[] | undefined> {
  const labels = await labelsOf(database, filter, owner, few)
  return labels.length > few ? undefined : labels
}
