/** Content in objects: files of a directory, or of a service such as S3. */
import { createHash } from 'node:crypto'
import { cursorOf, readCursor } from '../../records/page.ts'
import { objectIn } from '../../records/unreadable.ts'
import type { ContentRecord, ContentStore } from './contract.ts'

/** Where objects are kept, each by a name of letters, digits, `.`, `-` and `/`, of at most 400 characters. */
export interface ObjectBucket {
  /** Required. Stores an object in the place of the one with the same name. Must be durable before it resolves. */
  put(name: string, bytes: Uint8Array): Promise<void> | void
  /** Required. The bytes of an object; undefined if there is none. */
  get(name: string): Promise<Uint8Array | undefined> | Uint8Array | undefined
  /** Required. At most `limit` names that begin with `prefix` and are behind `after`, in the order of their bytes. */
  list(prefix: string, after: string, limit: number): Promise<readonly string[]> | readonly string[]
  /** Required. Deletes the objects of these names that exist. */
  delete(names: readonly string[]): Promise<void> | void
  /** Optional. Releases its resources. Called once by `gateway.close()`. */
  close?(): Promise<void> | void
}

/** Names that are listed at once, and objects that are written or read at the same time. */
const [batch, atOnce] = [500, 20]
/** Behind every name with the same beginning. */
const end = '~'

/**
 * Keeps content in objects: one for each request, one that leads to it by its id, and one by its session. Names have hashes of
 * accounts, users and sessions. Keep the keys elsewhere: in a database, by `content.keyStore`.
 */
export function objectContentStore(bucket: ObjectBucket): ContentStore {
  const read = async (name: string): Promise<ContentRecord | undefined> => {
    const bytes = await bucket.get(name)
    return bytes && recordOf(name, bytes)
  }
  /** The record to whose name an object leads. */
  const followed = async (link: string) => {
    const name = await bucket.get(link)
    return name && read(Buffer.from(name).toString())
  }
  const namesIn = async (prefix: string, after: string, limit: number, accepts: (name: string) => boolean) => {
    const found: string[] = []
    for (let last = after; found.length < limit;) {
      const names = await bucket.list(prefix, last, batch)
      found.push(...names.filter(accepts))
      if (names.length < batch) break
      last = names.at(-1) as string
    }
    return found.slice(0, limit)
  }
  /** The names of the account's records, a day after the other. */
  const namesOf = async (account: string, after: string, limit: number, accepts: (name: string) => boolean) => {
    const found: string[] = []
    let day = /^content\/(\d{4}-\d\d-\d\d)\//.exec(after)?.[1]
    for (day ??= await nextDay(); day !== undefined && found.length < limit; day = await nextDay(day))
      found.push(...(await namesIn(`content/${day}/${hashOf(account)}/`, after, limit - found.length, accepts)))
    return found
  }
  const nextDay = async (day?: string) =>
    (await bucket.list('content/', day === undefined ? '' : `content/${day}/${end}`, 1))[0]?.split('/')[1]
  const remove = (names: readonly string[]) =>
    inGroups(names, async (name) => {
      const record = await read(name)
      await bucket.delete([name, ...(record === undefined ? [] : [idName(record.id), ...sessionNames(record)])])
    })
  return {
    async append(records) {
      await inGroups(records, async (record) => {
        if ((await bucket.get(idName(record.id))) !== undefined) return
        const name = nameOf(record)
        await bucket.put(name, bytesOf(record))
        for (const each of sessionNames(record)) await bucket.put(each, Buffer.from(name))
        await bucket.put(idName(record.id), Buffer.from(name))
      })
    },
    get: (id) => followed(idName(id)),
    async list({ account, session, limit = 100, after }) {
      const [, last] = after === undefined ? [0, ''] : readCursor(after)
      const [names, found] =
        session === undefined
          ? [await namesOf(account, last, limit + 1, any), read]
          : [await namesIn(`sessions/${hashOf(account)}/${hashOf(session)}/`, last, limit + 1, any), followed]
      const shown = names.slice(0, limit)
      const records = await inGroups(shown, found)
      // The page goes on behind a name although its record was deleted meanwhile.
      const next = names.length > limit ? { next: cursorOf(0, shown.at(-1) as string) } : {}
      return { items: records.filter((record) => record !== undefined), ...next }
    },
    async erase(account, user) {
      const isOf = user === undefined ? any : (name: string) => name.endsWith(`.${hashOf(user)}`)
      const names = await namesOf(account, '', batch, isOf)
      await remove(names)
      return names.length === batch
    },
    async removeBefore(day, most) {
      const names = (await bucket.list('content/', '', most)).filter((name) => (name.split('/')[1] as string) < day)
      await remove(names)
      return names.length
    },
    close: () => bucket.close?.(),
  }
}

function nameOf({ day, account, user, at, id }: ContentRecord): string {
  return `content/${day}/${hashOf(account)}/${timed(at, id)}.${hashOf(user)}`
}

function idName(id: string): string {
  return `ids/${hashOf(id)}`
}

function sessionNames({ account, session, at, id }: ContentRecord): string[] {
  return session === undefined ? [] : [`sessions/${hashOf(account)}/${hashOf(session)}/${timed(at, id)}`]
}

/** In the order of times and ids. */
function timed(at: number, id: string): string {
  return `${String(Math.floor(at)).padStart(15, '0')}.${Buffer.from(id).toString('hex')}`
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 40)
}

function any(): boolean {
  return true
}

/** A line with all but the body, and the body. */
function bytesOf({ body, ...head }: ContentRecord): Uint8Array {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body])
}

/** Of one that cannot be read, the name of its object. */
function recordOf(name: string, given: Uint8Array): ContentRecord {
  const bytes = Buffer.from(given)
  const line = bytes.indexOf('\n')
  const head = objectIn(bytes.toString('utf8', 0, line)) as Omit<ContentRecord, 'body'> | undefined
  const unknown = { id: name, key: '', account: '', user: '', day: '', at: 0, body: new Uint8Array() }
  return head === undefined ? unknown : { ...head, body: bytes.subarray(line + 1) }
}

/** The results in the order of the items, of which some are worked on at the same time. */
async function inGroups<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let at = 0; at < items.length; at += atOnce)
    results.push(...(await Promise.all(items.slice(at, at + atOnce).map((item) => work(item)))))
  return results
}
