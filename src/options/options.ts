/** What a gateway is made of. */
import type { Authenticate } from '../auth/authenticate.ts'
import type { KeyCacheOptions } from '../auth/cache.ts'
import type { BillingOptions } from '../billing/options.ts'
import type { Receipt } from '../billing/receipt.ts'
import type { Sizes } from '../http/sizes.ts'
import type { Timeouts } from '../http/timeouts.ts'
import type { IdempotencyOptions } from '../idempotency/options.ts'
import type { LimitOptions } from '../limits/options.ts'
import type { Rate } from '../limits/rate.ts'
import type { Group } from '../models/access.ts'
import type { ModelRegistry } from '../models/contract.ts'
import type { ModelEntry } from '../models/registry.ts'
import type { BreakerOptions } from '../routing/breaker.ts'
import type { RetryOptions } from '../routing/perform.ts'
import type { StorageBundle } from './storage.ts'
import type { UsageOptions } from '../usage/options.ts'
import type { TaskEvent } from '../tasks/parts.ts'
import type { WebhookOptions } from '../tasks/webhook.ts'

export interface GatewayOptions {
  /** The models served, by the name clients use, or a registry of one's own. A name may end in `*`. */
  readonly models: Readonly<Record<string, ModelEntry>> | ModelRegistry
  /**
   * The stores: keys, limits, ledger, usage, video tasks, responses, and idempotency. A bundle such as `postgres(pool)`, or
   * single stores: `{ ...postgres(pool), limits: redis(client).limits }`, `{ responses: memoryResponseStore({ count: 100 }) }`.
   * Default: a memory store of this process for each that is missing.
   */
  readonly storage?: StorageBundle
  /** The accepted API keys, by the key itself, in addition to those of `storage.keys`. Only their hashes are kept. */
  readonly keys?: Readonly<Record<string, KeyOptions>>
  /** The host's own source of callers, asked before the keys. */
  readonly authenticate?: Authenticate
  /** The model groups. Default: `{ default: { models: '*' } }`. */
  readonly groups?: Readonly<Record<string, Group>>
  /** The model of requests that name none. Default: they are refused. */
  readonly defaultModel?: string
  /**
   * Whether the paths of Azure OpenAI are served as well: `/openai/deployments/{model}/…`, `/openai/responses`,
   * `/openai/v1/…`, below the mount path, with any `api-version`. Default false.
   */
  readonly azure?: boolean
  /** How much one request may carry. */
  readonly sizes?: Partial<Sizes>
  /** How long is waited for what. */
  readonly timeouts?: Timeouts
  /** Calls that are repeated before the client has got a first byte. */
  readonly retry?: RetryOptions
  /** When a deployment that fails is left alone. */
  readonly breaker?: BreakerOptions
  /** How long what is known of a key is used without asking the store again. */
  readonly keyCache?: KeyCacheOptions
  /**
   * What becomes of calls under way when their key expires or is revoked: they `finish` (the default), or they `end` with
   * `invalid_api_key`, a stream with an error event, and cost what was delivered. A revocation is noticed as soon as by a
   * new call, an expiry at its time.
   */
  readonly whenKeyEnds?: 'finish' | 'end'
  /** Accounts with a balance, from which calls are paid at the prices of the models. Default: nobody pays anything. */
  readonly billing?: BillingOptions
  /** How the limits of groups, keys and models (`rate`) are kept. */
  readonly limits?: LimitOptions
  /** How usage is recorded. Default: every call with `storage` or `billing`, else none. */
  readonly usage?: UsageOptions
  /** How requests that are repeated with their `Idempotency-Key` are answered; false: the header means nothing. */
  readonly idempotency?: IdempotencyOptions | false
  /** How video tasks are kept and driven. */
  readonly tasks?: TaskOptions
  /** The URL under which clients reach the mount, such as `https://api.example.com/ai`, for links in answers. With or without `/v1`. */
  readonly publicUrl?: string
  readonly hooks?: Hooks
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
  /** At least 0, less than 1. Default `Math.random`; used for weights and jitter, never for secrets. */
  readonly random?: () => number
}

export interface KeyOptions {
  /** Default `default`. */
  readonly group?: string
  /** Who pays and owns. Default: the key is an account of its own. */
  readonly account?: string
  readonly name?: string
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number
  /** Limits of this key alone, beside those of its group. */
  readonly rate?: Rate
}

export interface TaskOptions {
  /** Milliseconds from creation to automatic cancellation. Default 7,200,000. */
  readonly deadlineMs?: number
  /** Milliseconds between two looks for tasks that nobody asks about. Default 1,000. */
  readonly sweepMs?: number
  /** Servers of customers that are told when a video has ended. */
  readonly webhooks?: WebhookOptions
}

export interface Hooks {
  /** Called when a task was created or has ended, and when something of it needs a person's eye. */
  readonly task?: (event: TaskEvent) => void
  /** Called once for every call of a model when it has ended. What it throws is ignored. */
  readonly receipt?: (receipt: Receipt) => void
}

export function isRegistry(models: GatewayOptions['models']): models is ModelRegistry {
  // Lists have a `find` of their own.
  return typeof (models as Partial<ModelRegistry> | undefined)?.find === 'function' && !Array.isArray(models)
}
