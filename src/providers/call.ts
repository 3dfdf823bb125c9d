import type { Cancellation } from '../http/cancellation.ts'
import type { ResponseHead } from './reported-limits.ts'
import type { Form } from '../http/form.ts'

/** One attempt at one provider. A retry is a new call. */
export interface Call<Request> {
  /**
   * The validated request in the wire format of the method, including unknown fields; for `generate`, the conversation.
   * Parsed on first access; treat it as read-only.
   */
  readonly request: Request
  /** The vendor's name for the model. */
  readonly model: string
  /** The model name that the client used; the response carries it too. */
  readonly publicModel: string
  /** The client chose the vendor's model name itself, so a model that the vendor does not know is the client's error: a 404. */
  readonly openModel: boolean
  /** Maximum number of output tokens, if the registry has it: for vendors that require a limit. */
  readonly maxOutputTokens?: number | undefined
  /** True if the client requested a stream. A provider may return a stream in either case. */
  readonly stream: boolean
  /** True if the gateway translates the stream, so that chunks are cheaper for it than `ContentFrames`. Default false. */
  readonly inChunks?: boolean | undefined
  /** Aborted when the client disconnects, a deadline passes, or the gateway closes. */
  readonly signal: AbortSignal
  /**
   * The same as `signal`, for providers that need no `AbortSignal`: that one is made on first access. Absent in copies such
   * as `{ ...call, signal }`, so that the copy's own signal counts.
   */
  readonly cancellation?: Cancellation | undefined
  /**
   * Reports that the vendor has received the request; see `Provider.reportsSent`. `share` is the part of the request
   * that was sent, from 0 to 1. Default 1.
   */
  readonly sent?: ((share?: number) => void) | undefined
  /**
   * Takes status and headers of each response of the vendor as soon as they have arrived: with the option `fairness` they say
   * how near the vendor's limit is.
   */
  readonly answered?: ((head: ResponseHead) => void) | undefined
  /**
   * Takes what the vendor says that this call costs the host, in US dollars; the last one counts. Absent if nothing needs it;
   * see `Provider.reportsCosts`.
   */
  readonly costs?: ((dollars: number) => void) | undefined
  /** The request's id, the same for every attempt. The client gets it as `x-request-id`. */
  readonly id: string
  /** Headers to add to each request to the vendor, such as `traceparent`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The account that the request is for. Absent for videos. */
  readonly account?: string | undefined
  /** Names the conversation that the request belongs to, if the gateway knows one; see `Provider.usesConversation`. */
  readonly conversation?: string | undefined
  /**
   * A key under which the vendor may keep the conversation's prompts: the same for all requests of a conversation that the
   * client names. Made by a hash, so that a vendor's account that several customers share has none of their names.
   */
  readonly promptCacheKey?: string | undefined
  /** True if the price has rates for tokens that are read from a cache and written to it. Default false. */
  readonly pricesCache?: boolean | undefined
  /** True above 256 KiB. Split the work on such a request over several turns of the event loop. */
  readonly large?: boolean | undefined
  /** Returns one top-level field of the request, without parsing the rest of a large one. */
  readonly field: (name: string) => unknown
  /** Makes `json` cheap for a large request that the gateway translated. Optional: `json` also works without it. */
  readonly prepare?: (() => Promise<void>) | undefined
  /**
   * Returns the request as JSON, with the given top-level fields replaced, added, or (if undefined) removed and all other
   * bytes unchanged. For vendors that use OpenAI's format: much cheaper than serialising `request` again.
   */
  readonly json: (changes: Record<string, unknown>) => Uint8Array
  /** The headers of the client that belong to the request, by lower-case name: for `message`, those of Anthropic's API. */
  readonly clientHeaders?: Readonly<Record<string, string>> | undefined
  /** The fields that the host sets in every request; `request` has them already. */
  readonly fixed?: Readonly<Record<string, unknown>> | undefined
  /** The uploaded form, for the methods that take files. `request` holds its text fields. */
  readonly form?: Form | undefined
}
