import { within } from '../../http/deadline.ts'
import type { StoreHealth } from '../../observe/health.ts'
import type { StoreQuestion } from './store-questions.ts'

/** Milliseconds for which a result counts, if all stores were reachable and if one was not. */
const [goodMs, badMs] = [5_000, 1_000]
/** Maximum number of due tasks that are counted. */
const mostDue = 1_000

/** The result of a check of all stores. */
export interface StoreResults {
  readonly stores: readonly StoreHealth[]
  readonly tasksDue?: number | undefined
}

/** What `StoreChecks` needs. */
export interface StoreChecksOptions {
  readonly questions: readonly StoreQuestion[]
  readonly countDue: (most: number) => Promise<number | undefined>
  /** Milliseconds after which a store that has not answered counts as unreachable. */
  readonly timeoutMs: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Checks the stores, however often it is asked, once in some seconds. */
export class StoreChecks {
  readonly #options: StoreChecksOptions
  #last: StoreResults | undefined
  #freshUntil = -Infinity
  #running: Promise<StoreResults> | undefined

  constructor(options: StoreChecksOptions) {
    this.#options = options
  }

  /** The last results, without a check. */
  get last(): StoreResults {
    return this.#last ?? { stores: [] }
  }

  /** The last results if they are fresh; otherwise those of a check that all callers share. Never rejects. */
  read(): StoreResults | Promise<StoreResults> {
    if (this.#last !== undefined && performance.now() < this.#freshUntil) return this.#last
    return (this.#running ??= this.#check().finally(() => (this.#running = undefined)))
  }

  async #check(): Promise<StoreResults> {
    const { questions, countDue, timeoutMs } = this.#options
    const due = within(timeoutMs, countDue(mostDue), 'the task store').catch(() => undefined)
    const stores = await Promise.all(questions.map((question) => this.#ask(question)))
    this.#last = { stores, tasksDue: await due }
    this.#freshUntil = performance.now() + (stores.every(({ reachable }) => reachable) ? goodMs : badMs)
    return this.#last
  }

  async #ask({ store, name, required, ask }: StoreQuestion): Promise<StoreHealth> {
    const { timeoutMs, now } = this.#options
    const begun = performance.now()
    const earlier = this.#last?.stores.find((each) => each.store === store)?.lastError
    const result = (reachable: boolean, lastError: StoreHealth['lastError']): StoreHealth => {
      const ms = Math.round((performance.now() - begun) * 10) / 10
      return { store, reachable, required, ms, ...(lastError !== undefined && { lastError }) }
    }
    try {
      await within(timeoutMs, ask(), name)
      return result(true, earlier)
    } catch (error) {
      const isLate = performance.now() - begun > timeoutMs - 1
      return result(false, { code: isLate ? 'timeout' : codeOf(error), at: now() })
    }
  }
}

/** The code of an error, or of one of its causes. Never its message, which may contain an address or a user. */
function codeOf(error: unknown): string {
  let each = error
  for (let depth = 0; depth < 5 && typeof each === 'object' && each !== null; depth++) {
    const { code, errcode, cause } = each as { code?: unknown; errcode?: unknown; cause?: unknown }
    if (typeof errcode === 'number') return `SQLITE_${errcode}`
    if (typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code)) return code
    each = cause
  }
  return 'unknown'
}
