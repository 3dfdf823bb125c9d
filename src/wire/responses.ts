/**
 * OpenAI's responses: the shapes of request, object, items and events. Unknown fields and item types are kept, so every
 * interface is open. Source: OpenAI's OpenAPI document, CreateResponse, Response, ResponseStreamEvent; also required
 * are the additional fields of the Open Responses specification.
 */

/** The body of `POST /v1/responses`. */
export interface ResponseRequest {
  readonly model: string
  /** A text is shorthand for one user message. */
  readonly input?: string | readonly InputItem[] | null
  /** A system message for this response only; responses that continue it do not inherit it. */
  readonly instructions?: string | readonly InputItem[] | null
  /** The stored response that this one continues. */
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
  /** Additional data to return, such as `reasoning.encrypted_content`. */
  readonly include?: readonly string[] | null
  readonly metadata?: Readonly<Record<string, string>> | null
  readonly [field: string]: unknown
}

/**
 * An item of the input: a message, a tool call, its output, reasoning, or a reference to a stored item. Open to others.
 */
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

/**
 * A part of an item's content: `input_text`, `input_image`, `input_file`, `output_text` or `refusal`. Open to others.
 */
export interface ResponsePart {
  readonly type: string
  readonly text?: string
  readonly [field: string]: unknown
}

/** A tool: `function`, `custom`, `namespace` (a group of those), or one that runs at the vendor. */
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

/** Whether the model may or must call a tool, or which one. */
export type ResponseToolChoice =
  | 'none'
  | 'auto'
  | 'required'
  | { readonly type: string; readonly name?: string; readonly [field: string]: unknown }

/** The format of the model's text: `text`, `json_object` or `json_schema`. */
export interface TextFormat {
  readonly type: string
  readonly name?: string
  readonly description?: string
  /** A JSON schema. */
  readonly schema?: Record<string, unknown>
  readonly strict?: boolean | null
}

/** The state of a response. */
export type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled' | 'queued'

/** A response, as `POST /v1/responses` returns it and the response store keeps it. */
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

/** The response of `POST /v1/responses/compact`: items that replace a conversation. */
export interface CompactionObject {
  readonly id: string
  readonly object: 'response.compaction'
  /** Seconds since the epoch. */
  readonly created_at: number
  readonly output: readonly OutputItem[]
  readonly usage: ResponseUsage | null
  readonly [field: string]: unknown
}

/** An item of the output, such as a message, a tool call or reasoning. */
export interface OutputItem {
  readonly type: string
  readonly id: string
  readonly [field: string]: unknown
}

/** Token counts of a response. */
export interface ResponseUsage {
  /** All input tokens, cached ones included. */
  readonly input_tokens: number
  readonly input_tokens_details: {
    readonly cached_tokens: number
    readonly cache_write_tokens?: number
    readonly [detail: string]: unknown
  }
  /** All output tokens, reasoning included. */
  readonly output_tokens: number
  readonly output_tokens_details: { readonly reasoning_tokens: number; readonly [detail: string]: unknown }
  readonly total_tokens: number
  /** Calls of tools that ran at the vendor, as in the usage of chats. */
  readonly server_tool_use?: Readonly<Record<string, number>>
}

/** One event of a streamed response. */
export interface ResponseEvent {
  /** Also the event name of the frame. */
  readonly type: string
  /** From 0, without gaps. */
  readonly sequence_number?: number
  /** The response, in the events that begin and end it. */
  readonly response?: ResponseObject
  readonly output_index?: number
  readonly item?: OutputItem
  readonly item_id?: string
  readonly [field: string]: unknown
}
