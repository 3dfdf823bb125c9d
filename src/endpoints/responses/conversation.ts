/** Conversations in the response store: items that responses continue, and to which they add their own. */
import { GatewayError } from '../../errors.ts'
import { anotherRequest } from '../../admission/idempotency/keyed-request.ts'
import { storedObject } from '../../records/unreadable.ts'
import type { ResponseRecord, ResponseStore } from '../../responses/contract.ts'
import type { InputItem } from '../../wire/responses.ts'

/** A conversation, as clients see it. */
export interface ConversationObject {
  readonly id: string
  readonly object: 'conversation'
  /** Seconds since the epoch. */
  readonly created_at: number
  readonly metadata: Readonly<Record<string, string>>
}

/** Items that were added together. */
export interface Turn {
  /** What added them: a response, a request, or every request with one `Idempotency-Key`, so that none adds them twice. */
  readonly by: string
  /** SHA-256 of the request, if another one with its `by` is an error. */
  readonly digest?: string
  readonly items: readonly InputItem[]
}

/** A conversation with its items. */
export interface StoredConversation {
  readonly conversation: ConversationObject
  readonly turns: readonly Turn[]
}

/** How often a change is tried again after another one. Each time, one of those that are made at once succeeds. */
const mostTries = 200

/** The conversations of one account. No other account's can be read through it. */
export class Conversations {
  readonly #store: ResponseStore
  readonly #account: string

  constructor(store: ResponseStore, account: string) {
    this.#store = store
    this.#account = account
  }

  /** The conversation with this id. Throws 404 if it is unknown, deleted, or of another account. */
  async get(id: string): Promise<StoredConversation> {
    return storedIn(await this.#record(id))
  }

  /** Adds a conversation. Returns the one that has its id already, if there is one. */
  async create(stored: StoredConversation): Promise<StoredConversation> {
    const { id } = stored.conversation
    const record = { account: this.#account, id, items: [], body: JSON.stringify(stored), version: 1 }
    return (await this.#store.replace(record)) ? stored : this.get(id)
  }

  /** Changes a conversation, whatever changes it at the same time: `change` may be called several times. Throws 404 like `get`. */
  async change(id: string, change: (stored: StoredConversation) => StoredConversation): Promise<StoredConversation> {
    for (let tries = 0; tries < mostTries; tries++) {
      const record = await this.#record(id)
      const before = storedIn(record)
      const stored = change(before)
      if (stored === before) return stored
      const { version = 0 } = record
      if (await this.#store.replace({ ...record, version: version + 1, body: JSON.stringify(stored) })) return stored
    }
    throw new GatewayError('conflict', { message: 'The conversation is being changed. Try again.', shouldRetry: true })
  }

  /** Adds the items of a response, unless the conversation was deleted. Replaces those of an earlier attempt at the same request. */
  async append(id: string, turn: Turn): Promise<void> {
    const adding = this.change(id, ({ conversation, turns }) => ({
      conversation,
      turns: [...turns.filter(({ by }) => by !== turn.by), turn],
    }))
    await adding.catch((error: unknown) => {
      if (!GatewayError.is(error) || error.code !== 'not_found') throw error
    })
  }

  /** Deletes a conversation. Throws 404 like `get`. */
  async delete(id: string): Promise<void> {
    if (!isConversation(id) || !(await this.#store.delete(this.#account, id))) throw noSuchConversation(id)
  }

  async #record(id: string): Promise<ResponseRecord> {
    const record = isConversation(id) ? await this.#store.get(this.#account, id) : undefined
    if (record === undefined) throw noSuchConversation(id)
    return record
  }
}

export function itemsOf({ turns }: Pick<StoredConversation, 'turns'>): readonly InputItem[] {
  return turns.flatMap(({ items }) => items)
}

/** The turn that the same request has added before. Throws a 409 if another request has. */
export function repeated({ turns }: StoredConversation, { by, digest }: Turn): Turn | undefined {
  const before = turns.find((turn) => turn.by === by)
  if (before !== undefined && before.digest !== digest) throw anotherRequest()
  return before
}

/** Whether a text can be the id of a conversation. Nothing else is passed to stores, which keep responses in the same place. */
export function isConversation(id: string): boolean {
  return /^conv_[\w-]{1,80}$/.test(id)
}

function storedIn({ id, body }: ResponseRecord): StoredConversation {
  return storedObject(body, `conversation ${id}`) as unknown as StoredConversation
}

function noSuchConversation(id: string): GatewayError {
  return new GatewayError('not_found', { message: `Conversation with id '${id.slice(0, 128)}' not found.` })
}
