/** Where keys are kept: each account, with all that is its own, under one of 256 hash tags. */
import { accountOf } from '../index.ts'

/**
 * Version of the names and the contents of the keys. A process reads only keys of its own version, so a change that an older
 * process could not read needs a new version and a migration; further fields and keys do not.
 */
const version = 2
/** Number of hash tags. Many more than nodes, so that every node of a cluster gets about as many. */
const tags = 256
/** Maximum number of buckets whose key base is remembered. */
const mostKnown = 10_000

/** The first part of the name of every key, up to the kind of the key: `{modelhatch:2:17}:`. */
export class Layout {
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
