import type { Usage } from '../wire/usage.ts'

/** What a response says of itself. */
export interface AnsweredResponse {
  /** The id in the response. */
  readonly id?: string | undefined
  /** Why each choice has ended, such as `stop`. */
  readonly finishReasons?: readonly string[] | undefined
}

/** The usage of a response so far. */
export interface Tally {
  /** Where a complete response is reported. Absent if the request is not observed. */
  readonly watch?: { answered(response: AnsweredResponse): void } | undefined
  /** The totals that the vendor reported last. */
  usage: Usage | undefined
  /** Bytes of the response's text so far, in UTF-8. */
  textBytes: number
  /** The service tier that the vendor reported last. */
  serviceTier?: string | undefined
  /** What the last deployment has itself used, if it goes on with the response of others. */
  lastUsed?: Usage | undefined
  /** Records that the provider does not get a part of the request; see `Receipt.omitted`. */
  omit?(name: string): void
}
