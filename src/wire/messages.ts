/**
 * The shapes of Anthropic's Messages API. Unknown fields are kept, so every interface is open. Source: the type files of
 * `@anthropic-ai/sdk`, `resources/beta/messages`.
 */

/** The body of `POST /v1/messages`. */
export interface MessageRequest {
  readonly model: string
  readonly max_tokens: number
  readonly messages: readonly MessageParam[]
  readonly system?: string | readonly MessageBlock[] | null
  readonly stream?: boolean | null
  /** 0 to 1. */
  readonly temperature?: number | null
  /** 0 to 1. */
  readonly top_p?: number | null
  readonly top_k?: number | null
  readonly stop_sequences?: readonly string[] | null
  readonly tools?: readonly MessageTool[] | null
  readonly tool_choice?: MessageToolChoice | null
  readonly thinking?: ThinkingChoice | null
  readonly output_config?: OutputConfig | null
  /** An earlier name of `output_config.format`. */
  readonly output_format?: OutputFormat | null
  readonly metadata?: { readonly user_id?: string | null; readonly [field: string]: unknown } | null
  readonly [field: string]: unknown
}

/** One turn of a conversation. `system` occurs at any place of it, also between other turns. */
export interface MessageParam {
  readonly role: 'user' | 'assistant' | 'system'
  readonly content: string | readonly MessageBlock[]
  readonly [field: string]: unknown
}

/**
 * A block of content. Of a user: `text`, `image`, `document`, `search_result`, `tool_result`, `container_upload`. Of an
 * assistant: `text`, `thinking`, `redacted_thinking`, `tool_use`, and the calls and results of tools that ran at the
 * vendor. Open to others.
 */
export interface MessageBlock {
  readonly type: string
  readonly text?: string
  /** Of `thinking`. */
  readonly thinking?: string
  /** Of `thinking`: state that its maker wants back unchanged. */
  readonly signature?: string
  /** Of `redacted_thinking`: encrypted. */
  readonly data?: string
  /** Of `tool_use`. */
  readonly id?: string
  readonly name?: string
  readonly input?: unknown
  /** Of `tool_result`: the `id` of the call. */
  readonly tool_use_id?: string
  readonly is_error?: boolean | null
  /** Of `tool_result`, `search_result` and the results of the vendor's tools. */
  readonly content?: unknown
  /** Of `image` and `document`. */
  readonly source?: MessageSource
  readonly [field: string]: unknown
}

/** The data of an image or a document: `base64`, `url`, `file`, `text` or `content`. */
export interface MessageSource {
  readonly type: string
  readonly media_type?: string
  readonly data?: string
  readonly url?: string
  readonly file_id?: string
  readonly content?: unknown
  readonly [field: string]: unknown
}

/** A tool. One without `type`, or with the type `custom`, is described by its schema; others are known to the vendor by type. */
export interface MessageTool {
  readonly type?: string | null
  readonly name?: string
  readonly description?: string
  /** A JSON schema. */
  readonly input_schema?: Record<string, unknown>
  readonly strict?: boolean | null
  readonly [field: string]: unknown
}

/** Whether the model may (`auto`) or must (`any`, `tool`) call a tool. */
export interface MessageToolChoice {
  readonly type: string
  /** The tool, if the type is `tool`. */
  readonly name?: string
  readonly disable_parallel_tool_use?: boolean | null
  readonly [field: string]: unknown
}

/** `enabled` with a budget in tokens, `adaptive`, `between_tools` or `disabled`. */
export interface ThinkingChoice {
  readonly type: string
  /** Less than `max_tokens`. */
  readonly budget_tokens?: number
  readonly [field: string]: unknown
}

/** How the model answers. */
export interface OutputConfig {
  readonly effort?: string | null
  readonly format?: OutputFormat | null
  readonly [field: string]: unknown
}

/** The format of the answer. */
export interface OutputFormat {
  readonly type: string
  readonly schema?: Record<string, unknown>
  readonly [field: string]: unknown
}

/** Why a message ended. Open to others. */
export type StopReason =
  | 'end_turn'
  | 'max_tokens'
  | 'stop_sequence'
  | 'tool_use'
  | 'pause_turn'
  | 'refusal'
  | 'compaction'
  | 'model_context_window_exceeded'

/** The answer to a request. */
export interface Message {
  readonly id: string
  readonly type: 'message'
  readonly role: 'assistant'
  readonly model: string
  readonly content: readonly MessageBlock[]
  readonly stop_reason: StopReason | null
  readonly stop_sequence: string | null
  readonly usage: MessageUsage
  readonly [field: string]: unknown
}

/** Token counts. Unlike in OpenAI's shape, `input_tokens` excludes what was read from or written to a cache. */
export interface MessageUsage {
  readonly input_tokens?: number | null
  readonly output_tokens?: number | null
  readonly cache_read_input_tokens?: number | null
  /** The sum of the parts in `cache_creation`. */
  readonly cache_creation_input_tokens?: number | null
  readonly cache_creation?: {
    readonly ephemeral_5m_input_tokens?: number
    readonly ephemeral_1h_input_tokens?: number
  } | null
  readonly [field: string]: unknown
}

/**
 * An event of a streamed message, in this order: `message_start`; for each block `content_block_start`, any number of
 * `content_block_delta`, and `content_block_stop`, one block after the other; `message_delta`; `message_stop`. A `ping`
 * may occur anywhere. Vendors add further types.
 */
export type MessageEvent = MessageStart | BlockStart | BlockPiece | BlockStop | MessageEnd | MessageMark

/** The first event. `message` has no content yet; its usage has the input tokens. */
export interface MessageStart {
  readonly type: 'message_start'
  readonly message: Message
}

/** The begin of a block, which is still empty. */
export interface BlockStart {
  readonly type: 'content_block_start'
  readonly index: number
  readonly content_block: MessageBlock
}

/** A part of the open block. */
export interface BlockPiece {
  readonly type: 'content_block_delta'
  readonly index: number
  readonly delta: BlockDelta
}

/** The end of a block. */
export interface BlockStop {
  readonly type: 'content_block_stop'
  readonly index: number
}

/** Why the message ends, and its usage: totals of the whole message, not differences. */
export interface MessageEnd {
  readonly type: 'message_delta'
  readonly delta: { readonly stop_reason: StopReason | null; readonly stop_sequence: string | null }
  readonly usage: MessageUsage
}

/** The last event, and one that keeps the connection open. */
export interface MessageMark {
  readonly type: 'message_stop' | 'ping'
}

/** What a block is extended by. */
export type BlockDelta =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'input_json_delta'; readonly partial_json: string }
  | { readonly type: 'thinking_delta'; readonly thinking: string }
  | { readonly type: 'signature_delta'; readonly signature: string }
