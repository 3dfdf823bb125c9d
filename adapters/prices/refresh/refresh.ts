/** Takes newer documents of prices, once the host has approved them. */
import { createHash } from 'node:crypto'
import { findProvider, type Provider } from '@pydantic/genai-prices'
import { GatewayError } from '../../../src/errors.ts'
import { within } from '../../../src/http/deadline.ts'
import { callback, checkKnown, elsewhere, texts, timer } from '../../../src/records/known-options.ts'
import { differenceOf, requireLikely, type Difference } from './difference.ts'
import { readDocument, type Vendors } from './documents.ts'

/** What a newer document changes. */
export interface PriceDifference extends Difference {
  /** What it is a document of. */
  readonly name: 'genai-prices' | 'models.dev'
  /** The SHA-256 of its bytes, in hexadecimal. */
  readonly sha256: string
}

/** How the table is kept up to date. The library fetches nothing itself. */
export interface RefreshOptions {
  /**
   * Returns the document: that of models.dev (`https://models.dev/api.json`) or of genai-prices (its `v2/data.json`), as it came.
   */
  readonly load: () => Promise<string | Uint8Array>
  /**
   * Decides whether a document takes effect, given what it changes: it prices the calls that are admitted from then on. Asked once
   * for each document.
   */
  readonly approve: (difference: PriceDifference) => boolean | Promise<boolean>
  /** Milliseconds from one load to the next, the first of which is at the start of the gateway. Default a day. */
  readonly everyMs?: number
  /** The SHA-256 of documents: all others are refused. Default: none is. */
  readonly sha256?: string | readonly string[]
  /** Vendors by their ids in the table: the entries of all others stay as they are. Default: all that the document has. */
  readonly vendors?: readonly string[]
}

/** Where the data in use is from. */
export interface RefreshedSource {
  readonly name: string
  readonly date: string
}

const dayMs = 86_400_000

/** The documents of one table. */
export class Refresh {
  /** Undefined until a document was approved. */
  source: RefreshedSource | undefined
  readonly #options: RefreshOptions
  readonly #pinned: readonly string[] | undefined
  #vendors: Vendors = new Map()
  /** The hash of the document that was decided on last. */
  #decided: string | undefined
  #timer: NodeJS.Timeout | undefined
  /** How the gateways with this table report a failure. */
  readonly #users = new Set<(error: unknown) => void>()
  #isLoading = false

  /** Throws a `TypeError` that names an invalid option. */
  constructor(options: RefreshOptions) {
    checkKnown('prices.refresh', options, {
      load: callback,
      approve: callback,
      everyMs: timer,
      sha256: elsewhere,
      vendors: texts,
    })
    for (const name of ['load', 'approve'] as const) {
      if (options[name] === undefined) throw new TypeError(`prices: "refresh.${name}" is required.`)
    }
    const { sha256 } = options
    this.#options = options
    this.#pinned = typeof sha256 === 'string' ? [sha256] : sha256
    if (this.#pinned?.every((each) => /^[0-9a-f]{64}$/.test(each)) === false) {
      throw new TypeError('prices: "refresh.sha256" must be a SHA-256 in 64 hexadecimal digits, or a list of them.')
    }
  }

  /** The vendor's entry in the approved document, or in the package. */
  readonly find = (id: string): Provider | undefined => this.#vendors.get(id) ?? installed(id)

  /** Loads now and from then on at intervals. Returns what ends it. */
  start(failed: (error: unknown) => void): () => void {
    this.#users.add(failed)
    if (this.#users.size === 1) {
      this.#timer = setInterval(() => void this.#load(), this.#options.everyMs ?? dayMs).unref()
      void this.#load()
    }
    return () => {
      if (this.#users.delete(failed) && this.#users.size === 0) clearInterval(this.#timer)
    }
  }

  async #load(): Promise<void> {
    if (this.#isLoading) return
    this.#isLoading = true
    try {
      const { load, everyMs = dayMs } = this.#options
      await this.#take(Buffer.from((await within(everyMs, Promise.resolve(load()), 'refresh.load()')) as string))
    } catch (error) {
      const why = (GatewayError.is(error) ? error.cause : undefined) ?? error
      const reason = why instanceof Error ? why.message : String(why)
      const failure = new Error(`The new document of prices is not used: ${reason}. The present prices stay.`, {
        cause: error,
      })
      for (const failed of this.#users) failed(failure)
    } finally {
      this.#isLoading = false
    }
  }

  async #take(bytes: Buffer): Promise<void> {
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    if (sha256 === this.#decided || this.#users.size === 0) return
    if (this.#pinned?.includes(sha256) === false) throw new Error(`its SHA-256 is ${sha256}, which is not pinned`)
    const { name, vendors: all } = readDocument(bytes.toString('utf8'), this.find)
    const { vendors: wanted } = this.#options
    const vendors = wanted === undefined ? all : new Map([...all].filter(([id]) => wanted.includes(id)))
    const difference = differenceOf(this.find, vendors)
    requireLikely(vendors, difference, this.find)
    const isApproved = await this.#options.approve({ name, sha256, ...difference })
    this.#decided = sha256
    // The gateway may have closed meanwhile.
    if (!isApproved || this.#users.size === 0) return
    this.#vendors = new Map([...this.#vendors, ...vendors])
    this.source = { name: `${name} ${sha256.slice(0, 12)}`, date: new Date().toISOString().slice(0, 10) }
  }
}

/** The vendor's entry in the package, which also finds vendors by parts of a name. */
export function installed(id: string): Provider | undefined {
  const found = findProvider({ providerId: id })
  return found?.id === id ? found : undefined
}
