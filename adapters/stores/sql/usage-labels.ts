/** Labels: how requests get one, and how the requests of some are found. */
import type { UsageFilter } from '../index.ts'
import type { Owner, Source, Sql, TableRow, Values } from './sql.ts'
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
  const select = labelRows(columns, conditions)
  if (!isScan) return all(limited(select([])), { ...values, most })
  const found: TableRow[] = []
  const everyone = { conditions: [], isScan: false }
  await usage.inParts([{ rows: select }], everyone, limited, { ...values, most }, (rows) => {
    found.push(...rows)
    return found.length < most
  })
  return found
}

/** A statement of the labels that meet the conditions of an owner, or of some of them. */
export function labelRows(columns: string, conditions: readonly string[]): Source['rows'] {
  return (some) => `SELECT ${columns} FROM ${labelsBy(some)} ${where([...some, ...conditions, 'within IS NOT NULL'])}`
}

/** The table of labels. Those of a part are found by their numbers; SQLite, which alone reads in parts, would use an index. */
export function labelsBy(some: readonly string[]): string {
  return `@.usage_labels l ${some.length > 0 ? 'NOT INDEXED' : ''}`
}

function limited(rows: string): string {
  return `${rows} LIMIT :most`
}

/** What adds the labels of some rows of `callRow` that do not exist. */
export function addingLabels({ all, inserting, dialect }: Sql): (rows: readonly Values[]) => Promise<void> {
  const insert = inserting('usage_labels', labelTable)
  const known = async (...given: readonly ReadonlyMap<unknown, Values>[]) => {
    const text = `SELECT digest, label FROM @.usage_labels WHERE ${dialect.among('digest', dialect.each(':digests'))}`
    const found = await all(text, { digests: JSON.stringify(given.flatMap((rows) => [...rows.keys()])) })
    return new Map(found.map(({ digest, label }) => [digest, Number(label)]))
  }
  return async (rows) => {
    const labels = new Map(rows.map((row) => [row['digest'], row]))
    const wholes = new Map(rows.map(wholeRow).map((row) => [row['digest'], row]))
    let found = await known(labels, wholes)
    // Those of all accounts exist, but for the first request to a model.
    const missing = lacking(wholes, found)
    if (missing.length > 0) {
      await insert(missing)
      found = await known(labels, wholes)
    }
    const owned = lacking(labels, found).map((row) => ({ ...row, within: found.get(wholeRow(row)['digest']) }))
    if (owned.length > 0) await insert(owned)
  }
}

function lacking(rows: ReadonlyMap<unknown, Values>, found: ReadonlyMap<unknown, number>): readonly Values[] {
  return [...rows].filter(([digest]) => !found.has(digest)).map(([, row]) => row)
}
