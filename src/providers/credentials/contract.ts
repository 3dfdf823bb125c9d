/** How requests to a vendor are authenticated. A fixed key needs none of this. */
import type { RefusalReason } from './refusal.ts'

/** What a request is about. */
export interface RequestFacts {
  /** The vendor's name of the model, if the request is about one. */
  readonly model: string | undefined
  /** The account that the request is for; undefined for requests of the gateway itself, and for videos. */
  readonly account: string | undefined
}

/** A request to a vendor that is not authenticated yet. */
export interface UnsignedRequest extends RequestFacts {
  readonly method: string
  readonly url: string
  /** Its other headers, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** The body, if it does not stream. */
  readonly body: Uint8Array | undefined
  /** The name of the conversation that it belongs to: the vendor's cache of prompts is bound to the credential. */
  readonly conversation: string | undefined
}

/** What the vendor answered to an authenticated request. */
export interface Refusal {
  /** 400, 401, 402, 403 or 429. */
  readonly status: number
  /** What it is about: the key, the model, its credit or allowance, its requests at the moment, or only this request. */
  readonly reason: RefusalReason
  /** Milliseconds after which the vendor wants the next request; undefined if it does not say. */
  readonly waitMs: number | undefined
  readonly model: string | undefined
  /** The headers that this request was refused with before. */
  readonly earlier: readonly AuthHeaders[]
}

/** Headers that authenticate a request, by lower-case name. They replace others, except that an `anthropic-beta` is added. */
export type AuthHeaders = Readonly<Record<string, string>>

/** Authenticates the requests of one provider, such as by a signature or by a key of several. */
export interface Credentials {
  /**
   * Required. The headers that authenticate a request; called for each one, so cache what takes time. An error fails the
   * attempt, and the next deployment is tried; its text reaches the host's logs only, so it must not have secrets either.
   */
  headers(request: UnsignedRequest): AuthHeaders | Promise<AuthHeaders>
  /** Recommended. The vendor accepted these headers. */
  accepted?(headers: AuthHeaders): void
  /** Recommended. The vendor refused these headers. True: the request is sent again at once, with what `headers` then returns. */
  refused?(headers: AuthHeaders, refusal: Refusal): boolean
}

/** A single way to authenticate: fixed headers, or a cache of tokens. */
export interface KeyHolder {
  headers(about: RequestFacts): AuthHeaders | Promise<AuthHeaders>
  /** The vendor answered 401. True if another token can be had at once. */
  discard?(headers: AuthHeaders): boolean
}
