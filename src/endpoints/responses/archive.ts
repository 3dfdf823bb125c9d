import { GatewayError, invalid } from '../../errors.ts'
import type { ConversationMemory } from '../../http/exchange.ts'
import { storedObject } from '../../records/unreadable.ts'
import type { ResponseRecord, ResponseStore } from '../../responses/contract.ts'
import type { CompactionObject, InputItem, OutputItem, ResponseObject } from '../../wire/responses.ts'
import { Conversations, isConversation, itemsOf as itemsIn } from './conversation.ts'

/** A stored response with its complete input. */
export interface StoredResponse {
  /** The items of all turns up to the response; each has an id. */
  readonly input: readonly InputItem[]
  readonly response: ResponseObject | CompactionObject
}

/** How a request's response is kept. */
export interface Keeping {
  readonly isStored: boolean
  /** Where it is remembered if it is not stored. */
  readonly memory: ConversationMemory | undefined
  /** The conversation that it extends. */
  readonly conversation?: Continued | undefined
}

/** A conversation that a response continues. `by`: see `Turn.by`; undefined: this response. */
export interface Continued {
  readonly id: string
  readonly by: string | undefined
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
    const { isStored = false, memory, conversation } = this.#keeping ?? {}
    return isStored || memory !== undefined || conversation !== undefined
  }

  /**
   * Adds a response to its conversation, and stores or remembers it. `newItems`: the items of its input that no earlier
   * response has. Rejects if the store fails.
   */
  async put(stored: StoredResponse, newItems: readonly InputItem[]): Promise<void> {
    const { response } = stored
    const { conversation } = this.#keeping ?? {}
    if (conversation !== undefined) {
      const turn = { by: conversation.by ?? response.id, items: [...newItems, ...response.output] }
      await this.#conversations.append(conversation.id, turn)
    }
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
    return isStorable(id) && !isConversation(id) ? responseIn(await this.#store.get(this.#account, id)) : undefined
  }

  /**
   * The items of a response that is continued: its input and output, but not its instructions. Throws
   * `previous_response_not_found` if there is none with this id.
   */
  async before(id: string): Promise<readonly (InputItem | OutputItem)[]> {
    const remembered = this.#keeping?.memory?.get(this.#account, id)
    if (remembered !== undefined) return remembered as readonly InputItem[]
    const stored = await this.find(id)
    if (stored?.response['status'] === 'queued') {
      throw invalid('The previous response is not complete. Wait until it is.', 'previous_response_id')
    }
    if (stored !== undefined) return itemsOf(stored)
    throw new GatewayError('previous_response_not_found', {
      param: 'previous_response_id',
      message: `Previous response with id '${id.slice(0, 128)}' not found.`,
    })
  }

  /** The items of a conversation, without those that the same request has added. Throws 404 if there is none with this id. */
  async conversation({ id, by: own }: Continued): Promise<readonly InputItem[]> {
    const { turns } = await this.#conversations.get(id)
    return sinceCompaction(itemsIn({ turns: turns.filter(({ by }) => by !== own) }))
  }

  get #conversations(): Conversations {
    return new Conversations(this.#store, this.#account)
  }

  /** All items of a response that contains the item with this id; empty if there is none. */
  async itemsWith(id: string): Promise<readonly (InputItem | OutputItem)[]> {
    const stored = isStorable(id) ? responseIn(await this.#store.holding(this.#account, id)) : undefined
    return stored === undefined ? [] : [...stored.input, ...stored.response.output]
  }

  /** Deletes a response. Throws 404 like `get`. */
  async delete(id: string): Promise<void> {
    if (!isStorable(id) || isConversation(id) || !(await this.#store.delete(this.#account, id))) throw notFound(id)
  }
}

/** The items that a request which continues the response has before its own. A compaction replaces those before it. */
function itemsOf({ input, response }: StoredResponse): readonly (InputItem | OutputItem)[] {
  const { object, output } = response
  if (object === 'response.compaction') return output
  const rest = sinceCompaction(output)
  return rest === output ? [...input, ...output] : rest
}

function sinceCompaction<Item extends InputItem>(items: readonly Item[]): readonly Item[] {
  const at = items.findLastIndex(({ type }) => type === 'compaction')
  return at < 0 ? items : items.slice(at)
}

/**
 * Whether every store supports an id. Ids come from clients, and one that no store can contain must not make it fail.
 */
function isStorable(id: unknown): id is string {
  return typeof id === 'string' && /^[\x21-\x7e]{1,1024}$/.test(id)
}

function responseIn(record: ResponseRecord | undefined): StoredResponse | undefined {
  return record && (storedObject(record.body, `response ${record.id}`) as unknown as StoredResponse)
}

function notFound(id: string): GatewayError {
  return new GatewayError('not_found', { message: `Response with id '${id.slice(0, 128)}' not found.` })
}
