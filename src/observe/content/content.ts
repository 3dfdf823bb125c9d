/** What is kept of a request and its answer. */
import type { Conversation } from '../../conversation/conversation.ts'
import type { Answer } from '../../conversation/parts.ts'
import type { Fields } from '../../wire/json.ts'
import type { Receipt } from '../../money/receipt.ts'

/** A request and its answer, as the client has sent and got them. */
export interface LoggedContent extends Pick<
  Receipt,
  | 'id'
  | 'endpoint'
  | 'model'
  | 'account'
  | 'group'
  | 'key'
  | 'user'
  | 'session'
  | 'stream'
  | 'outcome'
  | 'code'
  | 'provider'
  | 'providerModel'
> {
  /** When the request arrived. Milliseconds since the epoch. */
  readonly at: number
  /** Whether the client got the whole answer. Otherwise `answer` is what it got. */
  readonly isWhole: boolean
  /** What was asked. */
  readonly request: LoggedRequest
  /** What was answered. */
  readonly answer: LoggedAnswer
  /** What stands in the content by its hash: where it was, there is its `reference`. */
  readonly media: readonly LoggedMedia[]
}

/** A request: a conversation, or whatever else an endpoint takes. */
export interface LoggedRequest {
  /** What the client asks, whichever wire format it came in. Without the signatures of vendors. */
  readonly conversation?: Conversation
  /** The fields of a request that is no conversation, or of one that cannot be read as such. */
  readonly body?: unknown
}

/** An answer: of a model to a conversation, or whatever else an endpoint returns. */
export interface LoggedAnswer {
  /** What the model says. */
  readonly answer?: Answer
  /** JSON, a text, the reference of a file, or a list of the events of a stream. Absent if there was nothing. */
  readonly body?: unknown
}

/** What a model answers to a request that was kept. */
export interface Replayed {
  /** The id of this call. */
  readonly id: string
  /** The model that was asked. */
  readonly model: string
  /** Milliseconds until the answer was there. */
  readonly ms: number
  /** What it says. */
  readonly answer: Answer
}

/** Reads what clients have sent and got, in their formats. */
export interface ContentReading {
  /** The request of an endpoint, by its fields in JSON. */
  request(endpoint: string, body: Fields): LoggedRequest
  /** A whole answer of an endpoint: a value in JSON. */
  answer(endpoint: string, body: unknown): LoggedAnswer
  /** An event stream of an endpoint as far as it goes. `isWhole`: whether that is to its end. */
  events(endpoint: string, stream: string, isWhole: boolean): LoggedAnswer
}

/** An image, audio or a file that is not kept. */
export interface LoggedMedia {
  /** In the place of the data: `sha256:` and the hash in hexadecimal digits. */
  readonly reference: string
  /** Its media type; `application/octet-stream` if it is not known. */
  readonly type: string
  /** Its length. */
  readonly bytes: number
}
