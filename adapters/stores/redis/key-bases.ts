/** Where keys are kept: each account, with all that is its own, under one of 256 hash tags. */
import { accountOf } from '../index.ts'
import { requireUsable, unknownLayout } from '../layout.ts'
import type { Send } from './clients.ts'
import { keysOf, script } from './scripts.ts'

/**
 * Version of the names and the contents of the keys. A change that an older process could not read needs a new version, which
 * refuses the keys of this one and is refused by this one; further fields and keys do not.
 */
const version = 2
/** Keys of storages without a record of their layout, which no hash tags spread. */
const unversioned = ['key ids:', 'accounts:', 'due', 'over']
/** Number of hash tags. Many more than nodes, so that every node of a cluster gets about as many. */
const tags = 256
/** Maximum number of buckets whose key base is remembered. */
const mostKnown = 10_000

/** The first part of the name of every key, up to the kind of the key: `{modelhatch:2:17}:`. */
export class KeyBases {
  /** The bases of all accounts. */
  readonly all: readonly string[]
  /** Base of the buckets that accounts share. One for all of them, so that a claim draws from them in one step. */
  readonly shared: string
  readonly #prefix: string
  readonly #ofBuckets = new Map<string, string>()

  constructor(prefix: string) {
    this.#prefix = prefix
    this.shared = this.base('shared')
    this.all = Array.from({ length: tags }, (_, tag) => this.base(String(tag)))
  }

  base(tag: string): string {
    return `{${this.#prefix}:${version}:${tag}}:`
  }

  /** The base of an account, or of another name. */
  baseOf(account: string): string {
    return this.all[hashOf(account) % tags] as string
  }

  baseOfBucket(bucket: string): string {
    let base = this.#ofBuckets.get(bucket)
    if (base === undefined) {
      const account = accountOf(bucket)
      base = account === undefined ? this.shared : this.baseOf(account)
      if (this.#ofBuckets.size >= mostKnown) this.#ofBuckets.clear()
      this.#ofBuckets.set(bucket, base)
    }
    return base
  }
}

/** FNV-1a over the UTF-16 units. Part of the layout: another hash would not find the accounts. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < name.length; index++) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** The eviction policy of a server with a memory limit; empty if it evicts no keys, or does not report its policy. */
const evictionText = `
local done, text = pcall(redis.call, 'INFO', 'memory')
if not done or type(text) ~= 'string' or string.match(text, '\\nmaxmemory:(%d+)') == '0' then return '' end
local policy = string.match(text, '\\nmaxmemory_policy:([%w-]+)')
return policy ~= 'noeviction' and policy or ''
`

function requireKept(policy: unknown): void {
  if (typeof policy !== 'string' || policy === '') return
  throw new Error(
    `redis: cannot use a server that evicts keys, balances and limits among them: set its maxmemory-policy, which is ${policy}, to noeviction`,
  )
}

/**
 * Sends nothing until the layout of the keys with a prefix is known to be this one, and that the server evicts none. Without any
 * keys, records this layout; for another, every command rejects. The key that records it is named alike in all layouts.
 */
export function requiringLayout(send: Send, prefix: string): Send {
  const read = script(send, `return redis.call('GET', KEYS[1])`)
  const record = script(send, `return redis.call('SET', KEYS[1], ARGV[1], 'NX')`)
  const count = script(send, `return redis.call('EXISTS', unpack(KEYS))`)
  const eviction = script(send, evictionText)
  const name = keysOf([`{${prefix}:layout}`])
  const what = `the Redis prefix "${prefix}"`
  const remedy = `pass another \`prefix\` to redis(), or delete the keys that begin with "{${prefix}"`
  let isKnown = false
  let checking: Promise<void> | undefined

  const check = async () => {
    try {
      const found = (await read(name)) as string | null
      if (found === null) {
        if (Number(await count(unversioned.map((key) => `{${prefix}}:${key}`))) > 0)
          throw unknownLayout(what, `keys in "{${prefix}}:" and no layout version`, remedy)
        await record(name, `${version} ${version}`)
      } else {
        const [recorded = 0, serves = 0] = found.split(' ').map(Number)
        requireUsable(what, { version: recorded, serves }, { version, oldest: version, remedy })
      }
      requireKept(await eviction(name))
      isKnown = true
    } finally {
      checking = undefined
    }
  }
  return (...args) => (isKnown ? send(...args) : (checking ??= check()).then(() => send(...args)))
}
