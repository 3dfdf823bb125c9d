/**
 * OpenAI's responses: the shapes of request, object, items and events. Unknown fields and kinds are kept, so every
 * interface is open. Source: OpenAI's OpenAPI document, CreateResponse, Response, ResponseStreamEvent; where Open
 * Responses asks for more fields than it, the stricter list counts.
 */

export interface ResponseRequest {
  readonly model: string
  /** A text is short for one user message. */
  readonly input?: string | readonly InputItem[] | null
  /** A system message for this response only: not inherited by those that continue it. */
  readonly instructions?: string | readonly InputItem[] | null
  readonly previous_response_id?: string | null
  /** Whether the response can be retrieved and continued later. Default true. */
  readonly store?: boolean | null
  readonly stream?: boolean | null
  readonly max_output_tokens?: number | null
  readonly temperature?: number | null
  readonly top_p?: number | null
  readonly top_logprobs?: number | null
  readonly tools?: readonly ResponseTool[] | null
  readonly tool_choice?: ResponseToolChoice | null
  readonly parallel_tool_calls?: boolean | null
  readonly text?: { readonly format?: TextFormat | null; readonly verbosity?: string | null } | null
  readonly reasoning?: { readonly effort?: string | null; readonly summary?: string | null } | null
  /** Further data in the answer, such as `reasoning.encrypted_content`. */
  readonly include?: readonly string[] | null
  readonly metadata?: Readonly<Record<string, string>> | null
  readonly [field: string]: unknown
}

/** A message, a call, the output of a call, reasoning, a reference to a stored item; others may follow. */
export interface InputItem {
  /** Default `message`. */
  readonly type?: string
  readonly id?: string | null
  readonly role?: string
  readonly content?: string | readonly ResponsePart[] | null
  readonly call_id?: string
  readonly name?: string
  readonly namespace?: string
  readonly arguments?: string
  readonly input?: string
  readonly output?: string | readonly ResponsePart[]
  readonly encrypted_content?: string | null
  readonly [field: string]: unknown
}

/** `input_text`, `input_image`, `input_file`, `output_text`, `refusal`; others may follow. */
export interface ResponsePart {
  readonly type: string
  readonly text?: string
  readonly [field: string]: unknown
}

/** `function`, `custom`, `namespace` (a group of those), and tools that run at the vendor. */
export interface ResponseTool {
  readonly type: string
  readonly name?: string
  readonly description?: string | null
  /** A JSON schema. */
  readonly parameters?: Record<string, unknown> | null
  readonly strict?: boolean | null
  readonly tools?: readonly ResponseTool[]
  readonly [field: string]: unknown
}

export type ResponseToolChoice =
  | 'none'
  | 'auto'
  | 'required'
  | { readonly type: string; readonly name?: string; readonly [field: string]: unknown }

export interface TextFormat {
  readonly type: string
  readonly name?: string
  readonly description?: string
  readonly schema?: Record<string, unknown>
  readonly strict?: boolean | null
}

export type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled' | 'queued'

export interface ResponseObject {
  readonly id: string
  readonly object: 'response'
  /** Seconds since the epoch. */
  readonly created_at: number
  readonly status: ResponseStatus
  readonly model: string
  readonly output: readonly OutputItem[]
  readonly error: { readonly code: string; readonly message: string } | null
  readonly incomplete_details: { readonly reason: string } | null
  readonly usage: ResponseUsage | null
  readonly previous_response_id: string | null
  readonly store: boolean
  readonly [field: string]: unknown
}

/** Items that stand for a conversation. */
export interface CompactionObject {
  readonly id: string
  readonly object: 'response.compaction'
  /** Seconds since the epoch. */
  readonly created_at: number
  readonly output: readonly OutputItem[]
  readonly usage: ResponseUsage | null
  readonly [field: string]: unknown
}

export interface OutputItem {
  readonly type: string
  readonly id: string
  readonly [field: string]: unknown
}

export interface ResponseUsage {
  /** All input tokens, cached ones included. */
  readonly input_tokens: number
  readonly input_tokens_details: { readonly cached_tokens: number; readonly cache_write_tokens?: number }
  /** All output tokens, reasoning included. */
  readonly output_tokens: number
  readonly output_tokens_details: { readonly reasoning_tokens: number }
  readonly total_tokens: number
}

/** One event of a stream. The name of its frame is its `type`. */
export interface ResponseEvent {
  readonly type: string
  /** From 0, without gaps. */
  readonly sequence_number?: number
  /** In the events that begin and end a response. */
  readonly response?: ResponseObject
  readonly output_index?: number
  readonly item?: OutputItem
  readonly item_id?: string
  readonly [field: string]: unknown
}
