/** Requests about batches, which are alike at all vendors. */
import { linesOf } from '../http/lines.ts'
import { fieldsOf, type Fields } from '../wire/json.ts'
import { readJsonObject, requireSuccess } from './answer.ts'
import type { BatchContext } from './batches.ts'
import type { Client, VendorRequest } from './client.ts'
import { unreadable } from './failure.ts'
import type { FaultReader } from './vendor-error.ts'
import { requireFound } from './videos/content.ts'

/** By how much the clocks of vendor and gateway may differ, in milliseconds. */
export const clockMs = 300_000
/** Maximum size of a batch, a file or a page of a list, in bytes. */
const answerBytes = 1024 * 1024

type BatchRequest = Omit<VendorRequest, 'signal'>

export interface BatchDialect {
  /** Of all batches. */
  readonly path: string
  /** The parameter for the id of a batch, behind which a page of the list begins. */
  readonly after: string
  /** When a batch was made, in milliseconds since the epoch; not a number if it does not say. */
  readonly timeOf: (batch: Fields) => number
  /** Default: none. */
  readonly headers?: VendorRequest['headers']
  /** Default: errors are in OpenAI's format. */
  readonly fault?: FaultReader
}

export class BatchClient {
  readonly #client: Client
  readonly #dialect: BatchDialect

  constructor(client: Client, dialect: BatchDialect) {
    this.#client = client
    this.#dialect = dialect
  }

  pathOf(id: string): string {
    return `${this.#dialect.path}/${encodeURIComponent(id)}`
  }

  async read(request: BatchRequest, context: BatchContext): Promise<Fields> {
    return fieldsOf((await readJsonObject(await this.#ask(request, context), answerBytes)).value)
  }

  /** Creates what has an id, and resolves to that. */
  async create(request: BatchRequest, context: BatchContext): Promise<string> {
    const { id } = await this.read({ method: 'POST', ...request }, context)
    if (typeof id === 'string' && id !== '') return id
    throw unreadable("the vendor's response has no id")
  }

  async *lines(path: string, context: BatchContext): AsyncGenerator<Buffer, void, void> {
    yield* linesOf(await this.#ask({ path, maxBytes: Infinity }, context))
  }

  /** The batches since a time, latest first, with some before it. Throws if they cannot be read. */
  async *madeSince(since: number, context: BatchContext): AsyncGenerator<Fields, void, void> {
    const { path, after, timeOf } = this.#dialect
    for (let last = ''; ;) {
      const from = last === '' ? '' : `&${after}=${encodeURIComponent(last)}`
      const { data, has_more: more } = await this.read({ path: `${path}?limit=100${from}` }, context)
      if (!Array.isArray(data)) throw unreadable("the vendor's response has no list of batches")
      const page = data.map(fieldsOf)
      yield* page
      const oldest = page.at(-1) ?? {}
      const { id } = oldest
      if (more !== true || typeof id !== 'string' || !(timeOf(oldest) >= since - clockMs)) return
      if (id === last) throw unreadable('the vendor repeats a page of its list of batches')
      last = id
    }
  }

  async #ask(request: BatchRequest, { signal }: BatchContext): ReturnType<Client['send']> {
    const { headers, fault } = this.#dialect
    const transfer = await this.#client.send({ method: 'GET', headers, ...request, signal })
    // What is created has no id that could be unknown.
    if (request.body === undefined) requireFound(transfer)
    await requireSuccess(transfer, undefined, fault)
    return transfer
  }
}
