/** Labels: how requests get one, and how the requests of some are found. */
import type { UsageFilter } from '../index.ts'
import type { Owner, Sql, TableRow, Values } from './sql.ts'
import { where } from './sql.ts'
import { labelTable } from './usage-columns.ts'
import { ownerConditions } from './usage-filter.ts'
import { wholeRow } from './usage-rows.ts'

/** The labels of a filter. An index leads to them, but not to a tag: of labels there may be a million. */
export function ownerOf(sql: Sql, filter: UsageFilter): Owner {
  const { account, key, user, tag } = filter
  return {
    conditions: ownerConditions(sql.dialect, filter),
    isScan: tag !== undefined && (account ?? key ?? user) === undefined,
  }
}

/** Columns of the labels of an owner: of all, or of `most`. */
export async function labelsOf(
  { all, usage }: Sql,
  { conditions, isScan }: Owner,
  columns: string,
  values: Values,
  most: number,
): Promise<readonly TableRow[]> {
  const select = (some: readonly string[]) =>
    `SELECT ${columns} FROM @.usage_labels l ${where([...some, ...conditions, 'within IS NOT NULL'])}`
  if (!isScan) return all(limited(select([])), { ...values, most })
  const found: TableRow[] = []
  const everyone = { conditions: [], isScan: false }
  await usage.inParts([{ rows: select }], everyone, limited, { ...values, most }, (rows) => {
    found.push(...rows)
    return found.length < most
  })
  return found
}

function limited(rows: string): string {
  return `${rows} LIMIT :most`
}

/** What adds the labels of some rows of `callRow` that do not exist. */
export function addingLabels({ all, inserting, dialect }: Sql): (rows: readonly Values[]) => Promise<void> {
  const insert = inserting('usage_labels', labelTable)
  const known = async (rows: ReadonlyMap<unknown, unknown>) => {
    const text = `SELECT digest, label FROM @.usage_labels WHERE ${dialect.among('digest', dialect.each(':digests'))}`
    const found = await all(text, { digests: JSON.stringify([...rows.keys()]) })
    return new Map(found.map(({ digest, label }) => [digest, Number(label)]))
  }
  const add = async (rows: ReadonlyMap<unknown, Values>) => {
    const existing = await known(rows)
    const missing = [...rows].filter(([digest]) => !existing.has(digest)).map(([, row]) => row)
    if (missing.length > 0) await insert(missing)
  }
  return async (rows) => {
    const wholes = new Map(rows.map(wholeRow).map((row) => [row['digest'], row]))
    await add(wholes)
    const within = await known(wholes)
    await add(new Map(rows.map((row) => [row['digest'], { ...row, within: within.get(wholeRow(row)['digest']) }])))
  }
}
