import { GatewayError } from '../../errors.ts'
import type { ConversationMemory } from '../../http/exchange.ts'
import type { ResponseRecord, ResponseStore } from '../../responses/contract.ts'
import type { CompactionObject, InputItem, OutputItem, ResponseObject } from '../../wire/responses.ts'

/** A stored response with its complete input. */
export interface StoredResponse {
  /** The items of all turns up to the response; each has an id. */
  readonly input: readonly InputItem[]
  readonly response: ResponseObject | CompactionObject
}

/** How a request's response is kept. */
export interface Keeping {
  /** Whether it is stored. */
  readonly isStored: boolean
  /** Where it is remembered if it is not stored. */
  readonly memory: ConversationMemory | undefined
}

/** The stored responses of one account. No other account's responses can be read through it. */
export class ResponseArchive {
  readonly #store: ResponseStore
  readonly #account: string
  readonly #keeping: Keeping | undefined

  /** `keeping`: absent for reading only. */
  constructor(store: ResponseStore, account: string, keeping?: Keeping) {
    this.#store = store
    this.#account = account
    this.#keeping = keeping
  }

  /** Whether `put` keeps a response, for others to continue it. */
  get keeps(): boolean {
    return this.#keeping?.isStored === true || this.#keeping?.memory !== undefined
  }

  /**
   * Stores or remembers a response. `newItems`: the items of its input that no earlier response has. Rejects if the
   * store fails.
   */
  async put(stored: StoredResponse, newItems: readonly InputItem[]): Promise<void> {
    const { response } = stored
    if (this.#keeping?.isStored !== true) {
      return this.#keeping?.memory?.put(this.#account, response.id, itemsOf(stored))
    }
    const items = [...newItems, ...response.output].map(({ id }) => id).filter(isStorable)
    const record = { account: this.#account, id: response.id, items, body: JSON.stringify(stored) }
    await this.#store.put(record)
  }

  /** The response with this id. Throws 404 if it is unknown, deleted, or of another account. */
  async get(id: string): Promise<StoredResponse> {
    const stored = await this.find(id)
    if (stored === undefined) throw notFound(id)
    return stored
  }

  /** The response with this id; undefined if there is none. */
  async find(id: string): Promise<StoredResponse | undefined> {
    return isStorable(id) ? responseIn(await this.#store.get(this.#account, id)) : undefined
  }

  /** The items up to a response and its output; undefined if there is none with this id. */
  async turns(id: string): Promise<readonly (InputItem | OutputItem)[] | undefined> {
    const remembered = this.#keeping?.memory?.get(this.#account, id)
    if (remembered !== undefined) return remembered as readonly InputItem[]
    const stored = await this.find(id)
    return stored && itemsOf(stored)
  }

  /** All items of a response that contains the item with this id; empty if there is none. */
  async itemsWith(id: string): Promise<readonly (InputItem | OutputItem)[]> {
    const stored = isStorable(id) ? responseIn(await this.#store.holding(this.#account, id)) : undefined
    return stored === undefined ? [] : [...stored.input, ...stored.response.output]
  }

  /** Deletes a response. Throws 404 like `get`. */
  async delete(id: string): Promise<void> {
    if (!isStorable(id) || !(await this.#store.delete(this.#account, id))) throw notFound(id)
  }
}

/** The items that a request which continues the response has before its own. A compaction replaces those before it. */
function itemsOf({ input, response }: StoredResponse): readonly (InputItem | OutputItem)[] {
  const { object, output } = response
  if (object === 'response.compaction') return output
  const at = output.findLastIndex(({ type }) => type === 'compaction')
  return at < 0 ? [...input, ...output] : output.slice(at)
}

/**
 * Whether every store supports an id. Ids come from clients, and one that no store can contain must not make it fail.
 */
function isStorable(id: unknown): id is string {
  return typeof id === 'string' && /^[\x21-\x7e]{1,1024}$/.test(id)
}

function responseIn(record: ResponseRecord | undefined): StoredResponse | undefined {
  return record && (JSON.parse(record.body) as StoredResponse)
}

function notFound(id: string): GatewayError {
  return new GatewayError('not_found', { message: `Response with id '${id.slice(0, 128)}' not found.` })
}
