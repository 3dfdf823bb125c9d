import type { Caller } from '../callers/contract.ts'
import type { KeySource } from '../providers/credentials/token.ts'

/** A customer's key at a vendor. */
export interface OwnKey {
  /** The key, or a function that returns it: the same function each time, which its tokens are kept for. */
  readonly apiKey: string | KeySource
  /** Whether the host's key may serve, and is then charged as usual, if this one fails. Default false. */
  readonly fallback?: boolean
}

/** What is asked for a key. */
export interface OwnKeyQuestion {
  /** The model, as clients name it. */
  readonly model: string
  /** The name of the provider, such as `openai`. */
  readonly provider: string
  /** The provider's name for the model. */
  readonly providerModel: string
}

/**
 * Whose keys serve a caller. `prefer`: its own where it has one, the host's otherwise. `only`: its own; without one its calls are
 * refused with 403. `host`: the host's.
 */
export type OwnKeyMode = 'only' | 'prefer' | 'host'

const modes: ReadonlySet<unknown> = new Set<OwnKeyMode>(['only', 'prefer', 'host'])

export function isMode(value: unknown): value is OwnKeyMode {
  return modes.has(value)
}

/** Options for the customers' own keys at vendors. At least one of `credentials` and `secrets` is required. */
export interface OwnKeyOptions {
  /**
   * The caller's key for a deployment; undefined if it has none here. Called for each request, so cache what takes time; within
   * 3 s. If one deployment of a model has a key, only those with one are tried, unless `fallback` says otherwise. Throw a
   * `GatewayError` to refuse the call. Not asked for videos, and for providers without `withKey`.
   */
  credentials?(caller: Caller, deployment: OwnKeyQuestion): OwnKey | undefined | Promise<OwnKey | undefined>
  /**
   * Turns on `gateway.admin.vendorKeys`, which keeps accounts' keys in `storage`, encrypted. The first secret encrypts, all decrypt:
   * to change it, add the new one behind the others in every process, then put it first, then call `vendorKeys.rotate()`. Each has
   * at least 32 characters, such as those of `openssl rand -base64 32`. Without `credentials`, or where it returns undefined, these
   * keys serve. Default: none are kept.
   */
  readonly secrets?: readonly string[]
  /** Whose keys serve; a function for each request and caller. Default `prefer`. */
  readonly mode?: OwnKeyMode | ((caller: Caller) => OwnKeyMode | Promise<OwnKeyMode>)
  /** Whether the host's key may serve, and is then charged as usual, if one of `vendorKeys` fails. Default false. */
  readonly fallback?: boolean
  /**
   * What a call with such a key costs beside `multiplier`, such as `'0.001'`, in the currency of `billing`. Caps and limits count
   * it as any other. Default: nothing.
   */
  readonly fee?: string
  /** The part of the model's price that such a call costs, such as `'0.1'` for a tenth. Default `'0'`. */
  readonly multiplier?: string
}
