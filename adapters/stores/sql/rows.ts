/** What the rows of both SQL stores say. Numbers may come as bigint or text, depending on the client. */
import type { IdempotencyVerdict, Json, KeyRecord, ResponseRecord, TaskRecord } from '../index.ts'

export type TableRow = Readonly<Record<string, unknown>>

/** For `JSON.stringify`: amounts as text, because numbers in JSON are exact only up to 2^53. */
export function bigintsAsText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

/** A key without its hash, which has its own column and never changes. */
export function keyText(record: KeyRecord): string {
  return JSON.stringify({ ...record, hash: undefined })
}

export function keyOf({ hash, record }: TableRow): KeyRecord {
  return { ...(JSON.parse(record as string) as Omit<KeyRecord, 'hash'>), hash: hash as string }
}

export function responseOf(account: string, { id, items, body }: TableRow): ResponseRecord {
  return { account, id: id as string, items: JSON.parse(items as string) as string[], body: body as string }
}

export function taskOf(row: TableRow): TaskRecord {
  return {
    account: row['tenant'] as string,
    id: row['id'] as string,
    version: Number(row['version']),
    createdAt: Number(row['created_at']),
    expiresAt: Number(row['expires_at']),
    dueAt: row['due_at'] === null ? null : Number(row['due_at']),
    leasedUntil: Number(row['leased_until']),
    data: JSON.parse(row['data'] as string) as Json,
  }
}

/** The verdict on an attempt whose key has a row already. */
export function attemptVerdict(row: TableRow): IdempotencyVerdict {
  const digest = row['digest'] as string
  if (Number(row['ended']) === 0) return { outcome: 'running', digest }
  if (row['status'] === null) return { outcome: 'ended', digest }
  const headers = JSON.parse(row['headers'] as string) as Record<string, string>
  return {
    outcome: 'ended',
    digest,
    answer: { status: Number(row['status']), headers, body: row['body'] as Uint8Array },
  }
}
