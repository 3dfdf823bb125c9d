/** What is kept of a response, and how it is found again. Whose it is, is part of every question. */
import { GatewayError } from '../../errors.ts'
import type { ResponseRecord, ResponseStore } from '../../responses/contract.ts'
import type { CompactionObject, InputItem, OutputItem, ResponseObject } from '../../wire/responses.ts'

/** A response with everything the model had seen before it. */
export interface Kept {
  /** Earlier turns included. All have ids. */
  readonly input: readonly InputItem[]
  readonly response: ResponseObject | CompactionObject
}

export class Shelf {
  readonly #store: ResponseStore
  readonly #account: string

  constructor(store: ResponseStore, account: string) {
    this.#store = store
    this.#account = account
  }

  /** Rejects when the store does not take it. */
  async put(kept: Kept, newItems: readonly InputItem[]): Promise<void> {
    const { response } = kept
    const items = [...newItems, ...response.output].map(({ id }) => id).filter(isStorable)
    const record = { account: this.#account, id: response.id, items, body: JSON.stringify(kept) }
    await this.#store.put(record)
  }

  /** Throws 404 for an unknown id, a deleted and a foreign one alike. */
  async get(id: string): Promise<Kept> {
    const kept = await this.find(id)
    if (kept === undefined) throw notFound(id)
    return kept
  }

  async find(id: string): Promise<Kept | undefined> {
    return isStorable(id) ? keptIn(await this.#store.get(this.#account, id)) : undefined
  }

  /** The items of a response in which one with this id stands, that one among them; none where there is none. */
  async itemsBeside(id: string): Promise<readonly (InputItem | OutputItem)[]> {
    const kept = isStorable(id) ? keptIn(await this.#store.holding(this.#account, id)) : undefined
    return kept === undefined ? [] : [...kept.input, ...kept.response.output]
  }

  async delete(id: string): Promise<void> {
    if (!isStorable(id) || !(await this.#store.delete(this.#account, id))) throw notFound(id)
  }
}

/** Ids come from clients. One that no store has to take is known to none: it must not make one fail. */
function isStorable(id: unknown): id is string {
  return typeof id === 'string' && /^[\x21-\x7e]{1,1024}$/.test(id)
}

function keptIn(record: ResponseRecord | undefined): Kept | undefined {
  return record && (JSON.parse(record.body) as Kept)
}

function notFound(id: string): GatewayError {
  return new GatewayError('not_found', { message: `Response with id '${id.slice(0, 128)}' not found.` })
}
