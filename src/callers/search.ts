import { cursorOf, pageOf, readCursor, type Page } from '../records/page.ts'
import type { KeyQuestion, KeyRecord } from './contract.ts'
import { keySearched } from './key-fields.ts'

/** Whether a question selects a key. Does not look at `limit` and `after`. */
export function selectsKey(question: KeyQuestion, record: KeyRecord): boolean {
  const { account, group, user, tag, text, state, now } = question
  return (
    (account === undefined || record.account === account) &&
    (group === undefined || record.group === group) &&
    (user === undefined || record.user === user) &&
    (tag === undefined || record.tags?.includes(tag) === true) &&
    (state === undefined || keyStateOf(record, now) === state) &&
    (text === undefined || textsOf(record).some((each) => lower(each).includes(lower(text))))
  )
}

/** The page that a question asks for, of all records of a store: for stores that have no index to search. */
export function pageOfKeys(records: readonly KeyRecord[], question: KeyQuestion): Page<KeyRecord> {
  const { limit = 100, after } = question
  const [time = Infinity, id = ''] = after === undefined ? [] : readCursor(after, Number.isSafeInteger)
  const found = records
    .filter((record) => record.createdAt < time || (record.createdAt === time && record.id < id))
    .filter((record) => selectsKey(question, record))
    .sort(newestFirst)
  return pageOf(found, limit, (last) => cursorOf(last.createdAt, last.id))
}

/** By time, then by id. */
export function newestFirst(left: KeyRecord, right: KeyRecord): number {
  return right.createdAt - left.createdAt || (left.id < right.id ? 1 : -1)
}

function keyStateOf({ revokedAt, expiresAt = Infinity }: KeyRecord, now: number): KeyQuestion['state'] {
  if (revokedAt !== undefined) return 'revoked'
  return expiresAt <= now ? 'expired' : 'active'
}

function textsOf(record: KeyRecord): string[] {
  return keySearched.map((name) => (record[name as keyof KeyRecord] as string | undefined) ?? '')
}

/** Only the letters of ASCII, as databases do it whatever their locale is. */
function lower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
