import type { BillingExport } from './export/contract.ts'
import type { ScopedCap } from '../records/cap.ts'
import type { DisconnectPolicy } from './disconnect.ts'
import type { CountedUnits } from '../wire/units.ts'

/** Accounts with balances: each request is paid at the price of its model. */
export interface BillingOptions {
  /** Required. The currency of all prices and balances, such as `EUR`, as receipts name it. Nothing is converted. */
  readonly currency: string
  /** Models without a price: `refuse` (the default) makes `createGateway` throw, `free` serves them for nothing. */
  readonly unpriced?: 'refuse' | 'free'
  /** Whether `GET /v1/models` and `GET /v1/videos/models` say what the caller pays for each model, as `price`. Default false. */
  readonly showPrices?: boolean
  /** The smallest top-up that `gateway.admin.accounts` accepts, as a decimal string. Default `'1'`. */
  readonly minimumTopUp?: string
  /** What happens when a client disconnects, and what it is charged. A model's own `onDisconnect` takes precedence. */
  readonly onDisconnect?: DisconnectPolicy
  /**
   * Whether a response that breaks off is charged by estimate: its prompt, and the text that the client received. Default
   * false. What the vendor has reported is charged in any case.
   */
  readonly chargeFailed?: boolean
  /** Maximum number of responses read on after their clients disconnected; further ones are aborted. Default 100. */
  readonly maxDrains?: number
  /**
   * Assumed for a request that states no length, when its hold is made. A request that uses more is still charged in full,
   * which may leave the balance below zero.
   */
  readonly defaults?: CountedUnits & {
    /**
     * Output tokens of a request without `max_tokens` or its like. Default 4,096, or the model's `maxOutputTokens` if that
     * is less; `limits.outputTokens` has the same default.
     */
    readonly outputTokens?: number
    /**
     * Sends `outputTokens` to the vendor as the length limit of chats, completions and responses that state none, so that
     * no response costs more than its hold. Default false: no response is cut short.
     */
    readonly enforce?: boolean
    /** Seconds of a recording. Default 60. */
    readonly seconds?: number
    /** Calls of the vendor's own tools, if the request uses them and has no `max_tool_calls`. Default 10. */
    readonly toolCalls?: number
  }
  /** Milliseconds after which the holds of a process that died are released. Default 60,000. */
  readonly leaseMs?: number
  /**
   * Milliseconds for which the charge and the usage record of a call that has ended may wait in its process, to be stored with
   * those of others: a process that is killed loses them. Charges do not wait while the account, a cap or a limit is short.
   * If the admission store draws slices, a process may admit calls by them for twice as long, up to a second; from a second on, for
   * as long.
   * Default 250. 0 stores each within a few milliseconds, and draws nothing in advance.
   */
  readonly journalMs?: number
  /**
   * Whether an answer waits for its charge. `full`: it ends once the charge is stored, or after `timeouts.storeMs`, so that a killed
   * process loses no charge of a call whose answer a client has in full. `relaxed`: it does not wait. Default `relaxed`.
   */
  readonly durability?: 'full' | 'relaxed'
  /**
   * Limits of what is used in a period, for all callers; those of a group are in `groups`, those of a key in `keys` and
   * `gateway.admin.keys`. Needs a ledger with caps. Default none.
   */
  readonly caps?: readonly ScopedCap[]
  /**
   * Upper bounds of what cannot be known before a call, for callers whose money or tokens are capped. Where there is none,
   * the whole context window of the model is held; without that, the call is rejected with a 400 that names the part.
   */
  readonly bounds?: CostBounds
  /**
   * Balances, as decimal strings, such as `['10', '1']`: an alert is sent when a charge takes an account below one. What
   * open calls hold does not count. Needs a ledger with caps. Default none.
   */
  readonly lowBalance?: readonly string[]
  /** Sends charges and payments to another service, each exactly once by the id of its batch. Needs a ledger with `lots`. */
  readonly export?: BillingExport
}

/** The most that parts of a request use. What is used beyond is charged and counted all the same. */
export interface CostBounds extends CountedUnits {
  /** Prompt tokens of an image. Default: the most that the vendor publishes. */
  readonly imageTokens?: number
  /** Prompt tokens of a recording in a chat or a transcription. */
  readonly audioTokens?: number
  /** Prompt tokens of a file or a video. */
  readonly fileTokens?: number
  /** Seconds of a recording to transcribe, for models with a price per second. */
  readonly seconds?: number
  /**
   * Calls of the vendor's own tools in one request, unless it states `max_tool_calls`. Each may read the whole context
   * window of the model, which must be set. For Claude's search among tools, each reads the prompt again; default 10.
   */
  readonly toolCalls?: number
}
