/** Statements of a transaction, and how they are sent. */
import type { TableRow } from '../sql/sql.ts'

/** What a statement returns: its rows, in which all values but those of `body` are texts, or the number of rows that it matched. */
export interface Result {
  readonly rows: readonly TableRow[]
  readonly changed: number
}

/**
 * Runs a statement with a `?` for each value. `@.` precedes the names of tables. Statements of the same turn of the event loop are
 * sent at once, if the pool allows that, because those of a transaction wait for each other while they lock rows.
 */
export interface Ask {
  (text: string, values?: readonly unknown[]): Promise<Result>
  /** Runs a statement together with the next one. */
  later(text: string, values: readonly unknown[]): void
}

export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** Runs statements in their order until one fails. */
export type Send = (statements: readonly Statement[]) => Promise<readonly Result[]>

/**
 * Settings within a transaction, in seconds: how long a statement waits for a lock, and how long the server waits for the next
 * statement. It would otherwise keep the locks of a process that is gone for up to a minute, and of one that stands still for hours.
 */
const patience = { innodb_lock_wait_timeout: '1', wait_timeout: '5' }
/** Collects statements and sends them, one send after the other, until it is ended. */
export class Sender {
  readonly #send: Send
  readonly #isTransaction: boolean
  #waiting: (Statement & Partial<PromiseWithResolvers<Result>>)[] = []
  #sent: Promise<void> | undefined
  #failure: { readonly error: unknown } | undefined

  /** `isTransaction`: whether nothing is sent after a failure. */
  constructor(send: Send, isTransaction = false) {
    this.#send = send
    this.#isTransaction = isTransaction
  }

  readonly ask: Ask = Object.assign(
    (text: string, values: readonly unknown[] = []) => {
      const own = Promise.withResolvers<Result>()
      this.#waiting.push({ text, values, ...own })
      this.#sent ??= Promise.resolve().then(() => this.#flush())
      return own.promise
    },
    { later: (text: string, values: readonly unknown[]) => void this.#waiting.push({ text, values }) },
  )

  /** Resolves when nothing is under way, and nothing will be sent. */
  async end(): Promise<void> {
    this.#failure ??= { error: new Error('the transaction is over') }
    await this.#sent
  }

  async #flush(): Promise<void> {
    while (this.#waiting.some(({ resolve }) => resolve !== undefined)) {
      const sent = this.#waiting.splice(0)
      try {
        if (this.#failure !== undefined) throw this.#failure.error
        const results = await this.#send(sent)
        sent.forEach(({ resolve }, index) => resolve?.(results[index] as Result))
        // What waits for these results asks the next questions, which are sent together.
        await Promise.resolve()
      } catch (error) {
        if (this.#isTransaction) this.#failure ??= { error }
        for (const { reject } of sent) reject?.(error)
      }
    }
    this.#sent = undefined
  }
}

/** Runs `act` in a transaction. Its begin and its end are one statement each, with the settings that apply meanwhile. */
export async function inTransaction<T>(send: Send, isolation: string, act: (ask: Ask) => Promise<T>): Promise<T> {
  // With the default isolation, statements also lock the gaps between rows, and block or deadlock those that insert.
  const settings: Readonly<Record<string, string>> = { ...patience, [isolation]: "'READ-COMMITTED'" }
  const set = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  const reset = Object.keys(settings).map((name) => `${name} = DEFAULT`)
  const end = `SET SESSION autocommit = 1, ${reset.join(', ')}`
  const sender = new Sender(send, true)
  sender.ask.later(`SET SESSION ${set.join(', ')}, autocommit = 0`, [])
  try {
    const result = await act(sender.ask)
    await sender.ask(end)
    return result
  } catch (error) {
    await sender.end()
    const undo = ['ROLLBACK', end].map((text) => ({ text, values: [] }))
    await send(undo).catch(() => undefined)
    throw error
  }
}
