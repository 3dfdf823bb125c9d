import type { VendorReportReader } from '../../admin/reconcile/contract.ts'
import type { Alert } from '../../admission/alerts/alert.ts'
import type { AlertWebhookOptions } from '../../admission/alerts/delivery.ts'
import type { Authenticate } from '../../callers/authenticate.ts'
import type { KeyProperties } from '../../callers/key-fields.ts'
import type { Endpoint } from '../../endpoints/endpoint.ts'
import type { KeyCacheOptions } from '../../callers/cache.ts'
import type { BillingOptions } from '../../money/options.ts'
import type { PriceTable } from '../../money/prices/price-table.ts'
import type { Receipt } from '../../money/receipt.ts'
import type { Sizes } from '../../http/sizes.ts'
import type { Timeouts } from '../../http/timeouts.ts'
import type { CacheOptions } from '../../admission/cache/answer-cache.ts'
import type { IdempotencyOptions } from '../../admission/idempotency/idempotency.ts'
import type { LimitOptions } from '../../money/limits/options.ts'
import type { Inspect } from '../../inspect/contract.ts'
import type { GroupOptions } from '../../models/group-fields.ts'
import type { ModelRegistry } from '../../models/contract.ts'
import type { LiveRegistryOptions } from '../../models/stored/live-registry.ts'
import type { OwnKeyOptions } from '../../models/own-key-options.ts'
import type { ModelEntry } from '../../models/model-options.ts'
import type { ContentOptions } from '../../observe/content/options.ts'
import type { Telemetry } from '../../observe/contract.ts'
import type { Logger } from '../../observe/logger.ts'
import type { AttemptEvent, Failure } from '../../observe/observe.ts'
import type { BreakerOptions } from '../../routing/breaker.ts'
import type { RetryOptions } from '../../routing/attempts.ts'
import type { FairnessOptions } from '../../routing/queue/queues.ts'
import type { StorageBundle } from './storage.ts'
import type { UsageOptions } from '../../observe/usage/options.ts'
import type { FileStorage } from '../../tasks/files/contract.ts'
import type { TaskEvent } from '../../tasks/services.ts'
import type { WebhookOptions } from '../../tasks/webhook.ts'

/** Options of `createGateway`. Only `models` is required. */
export interface GatewayOptions {
  /** The models by the name clients use, which may end in `*`, or a custom registry. */
  readonly models: Readonly<Record<string, ModelEntry>> | ModelRegistry
  /**
   * The stores of keys, limits, ledger, usage, video tasks, responses and idempotency: a bundle such as `postgres(pool)`,
   * or single stores, such as `{ ...postgres(pool), limits: redis(client).limits }`. Default for each store: the memory
   * of this process, whose content is lost on restart.
   */
  readonly storage?: StorageBundle
  /**
   * Models, groups and prices that administration creates and changes, in addition to those of these options, which take
   * precedence. They are kept in `storage.registry`. Default: only those of these options.
   */
  readonly registry?: LiveRegistryOptions
  /** API keys and their options, in addition to those of `storage.keys`. Only their hashes stay in memory. */
  readonly keys?: Readonly<Record<string, KeyOptions>>
  /** The host's own authentication, called before the API key is checked. */
  readonly authenticate?: Authenticate
  /** Model groups by name. Default: `{ default: { models: '*' } }`. */
  readonly groups?: Readonly<Record<string, GroupOptions>>
  /**
   * What looks into requests and answers, such as `mask()`: in this order toward the vendor, and in the reverse order toward the
   * client. Groups and models may have more. Default: nothing.
   */
  readonly inspect?: readonly Inspect[]
  /**
   * Whether to serve batches of messages, at vendors that have them, and with `files` also OpenAI's batches and their files: needs a
   * `storage` that keeps them. Default false.
   */
  readonly batches?: boolean | BatchOptions
  /** Endpoints of the host's own, beside the gateway's: see `defineEndpoint`. Default: none. */
  readonly endpoints?: readonly Endpoint[]
  /** The model of requests that name none. Default: such requests are rejected. */
  readonly defaultModel?: string
  /**
   * Whether to serve the paths of Azure OpenAI as well: `/openai/deployments/{model}/…`, `/openai/responses` and
   * `/openai/v1/…` below the mount path, with any `api-version`. Default false.
   */
  readonly azure?: boolean
  /**
   * Whether clients of Google's API may send their key as `?key=…` as well: some send it nowhere else. Addresses are written
   * into the logs of proxies. Default false.
   */
  readonly keyInQuery?: boolean
  /** Size limits of a request. */
  readonly sizes?: Partial<Sizes>
  /** Timeouts. */
  readonly timeouts?: Timeouts
  /** Retries of failed attempts before the client has received a first byte. */
  readonly retry?: RetryOptions
  /** When a failing deployment is skipped. */
  readonly breaker?: BreakerOptions
  /**
   * Which of several equal deployments serves a request. `auto` (the default): always the same one for all requests of a
   * conversation, so that the vendor's cache of its prompts is used; conversations spread by `weight`. A client names its
   * conversation by `prompt_cache_key`, `x-session-id` or the like; otherwise it is known by its instructions and its first
   * turn. A client sends `x-modelhatch-affinity: none` for any deployment. `none`: each request at random, by `weight`.
   */
  readonly affinity?: 'auto' | 'none'
  /**
   * Where a vendor's limit is near, calls wait for their turn, fair by tokens between accounts. Default: they are sent at once.
   */
  readonly fairness?: FairnessOptions
  /** Callers' own keys at vendors, which pay for their calls. Default: the host's keys serve all. */
  readonly ownKeys?: OwnKeyOptions
  /** The cache of API keys. */
  readonly keyCache?: KeyCacheOptions
  /**
   * What happens to open requests when their key expires or is revoked. `finish` (the default): they continue. `end`: they
   * fail with `invalid_api_key`, a stream with an error event, and what was delivered is charged. A revocation takes
   * effect as soon as for a new request, an expiry at its time.
   */
  readonly whenKeyEnds?: 'finish' | 'end'
  /** Charges requests to prepaid accounts at the prices of the models. Default: nothing is charged. */
  readonly billing?: BillingOptions
  /** How alerts of thresholds of caps (`thresholds`) and of low balances (`billing.lowBalance`) are delivered. */
  readonly alerts?: AlertOptions
  /**
   * Prices and context windows for models that have none of their own, such as `prices()` of `modelhatch/prices`. Default:
   * only those of the models.
   */
  readonly prices?: PriceTable
  /** How the limits of groups, keys and models (`rate`) are enforced. */
  readonly limits?: LimitOptions
  /**
   * Readers of vendors' bills by the names of providers, such as `{ openai: openaiReport({ adminKey }) }`: the operator compares the
   * books with them in the console. A vendor is only asked when somebody does. Default: none.
   */
  readonly reports?: Readonly<Record<string, VendorReportReader>>
  /** How usage is recorded. Default: all requests if `storage` or `billing` is set, otherwise none. */
  readonly usage?: UsageOptions
  /** How responses to requests with an `Idempotency-Key` are replayed; false ignores the header. */
  readonly idempotency?: IdempotencyOptions | false
  /** Keeps what clients ask and models answer, encrypted. Default: nothing of it. */
  readonly content?: ContentOptions
  /** Answers to equal requests from a cache. Default: each request is a call. */
  readonly cache?: CacheOptions
  /** Video tasks. */
  readonly tasks?: TaskOptions
  /** The public URL of the mount, such as `https://api.example.com/ai`, with or without `/v1`. Used for links in responses. */
  readonly publicUrl?: string
  /** Functions that are called with receipts, attempts, failures and events of video tasks. */
  readonly hooks?: Hooks
  /**
   * What receives the start and the end of each request and of its attempts, such as `otel()` of `modelhatch/otel` and
   * `metrics()` of `modelhatch/metrics`. Default: nothing.
   */
  readonly telemetry?: readonly Telemetry[]
  /**
   * Where failures and failed attempts are written, one line each: a logger of pino, winston or bunyan, or `console`. Lines have
   * no secrets and no content of requests; at most 10 of a kind and 100 in all are written in ten seconds. Default: none.
   */
  readonly logger?: Logger
  /** Returns milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
  /** Returns a number from 0 inclusive to 1 exclusive. Used for weights and jitter, never for secrets. Default `Math.random`. */
  readonly random?: () => number
}

/** An API key in the options. */
export interface KeyOptions extends KeyProperties {
  /** The model group of the key. Default `default`. */
  readonly group?: string
  /** The account that pays, and that owns what the key creates. Default: an account of the key's own. */
  readonly account?: string
}

/** How alerts are delivered, in addition to `hooks.alert` and the channel `modelhatch:alert`. */
export interface AlertOptions {
  /** Webhooks for alerts, signed like those of videos. Delivered at least once each, always with the same `webhook-id`. */
  readonly webhooks?: AlertWebhookOptions
}

/** Options of video tasks. */
export interface TaskOptions {
  /** Milliseconds from creation to automatic cancellation. Default 7,200,000 (two hours). */
  readonly deadlineMs?: number
  /**
   * Milliseconds between two sweeps for due tasks, which advance tasks whose client does not poll; 15 seconds once a minute has
   * passed without any. Default 1,000.
   */
  readonly sweepMs?: number
  /** Webhooks for finished videos. */
  readonly webhooks?: WebhookOptions
}

/**
 * Functions that the gateway calls with what happens. No response waits for them. What one throws or rejects with is
 * passed to `failure`, and never makes a request fail.
 */
export interface Hooks {
  /** Called once when a request to a model, or a video task, has ended. */
  readonly receipt?: (receipt: Receipt) => void
  /** Called when an attempt at a deployment has ended, also if the client notices nothing of it. */
  readonly attempt?: (attempt: AttemptEvent) => void
  /** Called for each response with status 500 or above, and when work behind a response fails, such as a charge. */
  readonly failure?: (failure: Failure) => void
  /** Called when a video task was created or has ended, or needs attention (`reconcile`). */
  readonly task?: (event: TaskEvent) => void
  /**
   * Called when a cap or a balance has reached a threshold. At least once per alert, by one of the processes that share the
   * ledger: again later if it throws or rejects, up to six times within three hours.
   */
  readonly alert?: (alert: Alert) => void | Promise<void>
}

export function isRegistry(models: GatewayOptions['models']): models is ModelRegistry {
  // Arrays also have a method `find`.
  return typeof (models as Partial<ModelRegistry> | undefined)?.find === 'function' && !Array.isArray(models)
}

/** What batches of files need. */
export interface BatchOptions {
  /** Where the contents of files are kept, such as `fileDirectory('/var/lib/gateway/files')`. All processes must share it. */
  readonly files: FileStorage
  /** The most bytes that all files of an account may have. Default 10 GiB. */
  readonly accountBytes?: number
}
