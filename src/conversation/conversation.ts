/**
 * The form inside: a conversation to be answered, whichever wire it came by. What two formats can say is a field; what only
 * one can say is in `own`, which that format alone writes. Readers keep what was said; writers arrange and repair it.
 */
import type { Citation, TokenLogprob } from './annotations.ts'
import type { Fields, FormatName, Own } from './own.ts'

export type { Citation, TextRange, TokenLogprob } from './annotations.ts'
export type { Fields, FormatName, Own } from './own.ts'

/** Where the client wrote something (`messages[2].content[0]`), for errors. Absent for what the gateway made. */
export type Place = string

/** What a client asks. */
export interface Conversation {
  /** Instructions, questions and earlier answers, oldest first. */
  readonly turns: readonly Turn[]
  /** The tools on offer. */
  readonly tools: readonly Tool[]
  /** Absent: the client did not choose. */
  readonly toolChoice?: ToolChoice | undefined
  /** False: at most one call in an answer. */
  readonly parallel?: boolean | undefined
  /** Absent: text. */
  readonly output?: Output | undefined
  /** Limits, sampling, reasoning. */
  readonly settings: Settings
  /** Further fields of the request. */
  readonly own?: Own | undefined
}

/** A `system` turn may stand anywhere. The results of calls are blocks of a user's turn. */
export interface Turn {
  /** Who speaks. */
  readonly role: 'system' | 'user' | 'assistant'
  /** What is said. */
  readonly blocks: readonly Block[]
  /** The field of the client's request, for errors. */
  readonly place?: Place | undefined
  /** Further fields of the message. */
  readonly own?: Own | undefined
}

/** A piece of a turn: what it says, shows, thinks, calls or gets back. */
export type Block = TextBlock | MediaBlock | ReasoningBlock | CallBlock | ResultBlock | RefusalBlock | OwnBlock

interface Common {
  /** The field of the client's request, for errors. */
  readonly place?: Place | undefined
  /** The prompt up to here is to be cached: `5m` is every vendor's default. */
  readonly cache?: CacheMark | undefined
  /** What its maker wants back with the block. */
  readonly state?: State | undefined
  /** Further fields of the block. */
  readonly own?: Own | undefined
}

/** A mark for the prompt cache. */
export interface CacheMark {
  /** How long it is to be cached, such as `1h`. */
  readonly ttl?: string | undefined
}

/** Text. */
export interface TextBlock extends Common {
  /** What the block is. */
  readonly kind: 'text'
  /** The text. */
  readonly text: string
  /** What the text refers to. */
  readonly citations?: readonly Citation[] | undefined
  /** The tokens of the text, if they were asked for. */
  readonly logprobs?: readonly TokenLogprob[] | undefined
}

/** An image, audio or a file. */
export interface MediaBlock extends Common {
  /** What the block is. */
  readonly kind: 'media'
  /** The kind of data. */
  readonly type: 'image' | 'audio' | 'file'
  /** The data, or where it is. */
  readonly source: MediaSource
  /** The name of the file. */
  readonly name?: string | undefined
  /** What the model is to know about a file. */
  readonly context?: string | undefined
  /** The words of an audio. */
  readonly transcript?: string | undefined
}

/** The data itself, where it is, the vendor's id of it, or text in place of a file. */
export type MediaSource =
  | {
      /** Such as `image/png`. */
      readonly mediaType: string
      /** The data in base64. */
      readonly base64: string
    }
  | {
      /** An http(s) URL. The gateway fetches none of clients. */
      readonly url: string
      /** If it is known. */
      readonly mediaType?: string | undefined
    }
  | {
      /** The vendor's id of an uploaded file. */
      readonly id: string
    }
  | {
      /** The text in place of a file. */
      readonly text: string
    }

/** `sealed`: there is no text, only state. */
export interface ReasoningBlock extends Common {
  /** What the block is. */
  readonly kind: 'reasoning'
  /** The reasoning as the model wrote it, or a summary. */
  readonly text: string
  /** Absent: the whole text. */
  readonly form?: 'summary' | 'sealed' | undefined
}

/** A call of a tool. */
export interface CallBlock extends Common {
  /** What the block is. */
  readonly kind: 'call'
  /** Results refer to it. */
  readonly id: string
  /** The name of the tool. */
  readonly name: string
  /** Whether the input is JSON or any text. */
  readonly by: 'function' | 'custom'
  /** JSON text with every digit as the model wrote it, perhaps invalid; of a custom tool any text. */
  readonly input: string
}

/** The result of a call. */
export interface ResultBlock extends Common {
  /** What the block is. */
  readonly kind: 'result'
  /** The call that it belongs to. */
  readonly callId: string
  /** The result: text, images and files. */
  readonly blocks: readonly Block[]
  /** True if the tool failed. */
  readonly failed?: boolean | undefined
}

/** The words with which the model declines. */
export interface RefusalBlock extends Common {
  /** What the block is. */
  readonly kind: 'refusal'
  /** The text. */
  readonly text: string
  /** The tokens of the text, if they were asked for. */
  readonly logprobs?: readonly TokenLogprob[] | undefined
}

/** What only one format has, as its wire JSON. `instead`: how others may say it; without it they leave it out. */
export interface OwnBlock extends Common {
  /** What the block is. */
  readonly kind: 'own'
  /** The wire format that has it. */
  readonly format: FormatName
  /** The block as JSON of that format. */
  readonly value: Fields
  /** How other formats say it. */
  readonly instead?: readonly Block[] | undefined
  /** True if `instead` only says that something is missing. */
  readonly isNote?: boolean | undefined
}

/** What only its maker can read. It goes back to that maker, with the block that it belongs to, or nowhere. */
export interface State {
  /** Who can read it. */
  readonly maker: string
  /** The data, in any form. */
  readonly data: string
}

/** A tool that the model may call. */
export type Tool = FunctionTool | OwnTool

/** A function that the client runs. */
export interface FunctionTool {
  /** What the tool is. */
  readonly kind: 'function'
  /** The name of the function. */
  readonly name: string
  /** What it does and when to call it. */
  readonly description?: string | undefined
  /** Parsed: writers rewrite schemas, and several share one. Absent: no parameters. */
  readonly schema?: Fields | undefined
  /** Whether the input must fit the schema. */
  readonly strict?: boolean | undefined
  /** Set if the prompt up to here is to be cached. */
  readonly cache?: CacheMark | undefined
  /** The field of the client's request, for errors. */
  readonly place?: Place | undefined
  /** Further fields of the tool. */
  readonly own?: Own | undefined
}

/** A tool that only one format has. `instead`: the function that others may call in its place. */
export interface OwnTool {
  /** What the tool is. */
  readonly kind: 'own'
  /** The wire format that has it. */
  readonly format: FormatName
  /** The name of the kind in that format. */
  readonly type: string
  /** The tool as JSON of that format. */
  readonly value: Fields
  /** The function that others may call in its place. */
  readonly instead?: FunctionTool | undefined
  /** The field of the client's request, for errors. */
  readonly place?: Place | undefined
}

/** Which tools the model may call: `any` is at least one; a name is that one. */
export type ToolChoice =
  | 'auto'
  | 'none'
  | 'any'
  | {
      /** The tool that it must call. */
      readonly name: string
    }

/** The form of the answer: any JSON, or JSON that fits a schema. */
export type Output =
  | {
      /** Any JSON object. */
      readonly kind: 'json'
    }
  | {
      /** JSON that fits a schema. */
      readonly kind: 'schema'
      /** Its JSON Schema, parsed. */
      readonly schema: Fields
      /** What the client calls it. */
      readonly name?: string | undefined
      /** What it is for. */
      readonly description?: string | undefined
      /** Whether the answer must fit in every detail. */
      readonly strict?: boolean | undefined
    }

/** How much the model is to reason. */
export type Effort = 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** How the model is to answer. Absent: as the vendor does by default. */
export interface Settings {
  /** The limit as the client means it; what a vendor counts in it is the vendor's quirk. */
  readonly max?: number | undefined
  /** Sampling temperature. */
  readonly temperature?: number | undefined
  /** The share of the likely tokens to choose from, from 0 to 1. */
  readonly topP?: number | undefined
  /** The number of tokens to choose from. */
  readonly topK?: number | undefined
  /** The text ends before the first of these. The gateway enforces those that a provider does not. */
  readonly stops?: readonly string[] | undefined
  /** For repeatable answers. */
  readonly seed?: number | undefined
  /** The number of answers. */
  readonly choices?: number | undefined
  /** Makes frequent tokens less likely. */
  readonly frequencyPenalty?: number | undefined
  /** Makes tokens less likely that occurred before. */
  readonly presencePenalty?: number | undefined
  /** The number of alternatives for each token; 0 is the tokens' own. */
  readonly logprobs?: number | undefined
  /** What is asked of the model's reasoning. */
  readonly reasoning?: Reasoning | undefined
  /** How long a text should be: `low`, `medium` or `high`. */
  readonly verbosity?: string | undefined
  /** Who asks, in the client's own words. */
  readonly user?: string | undefined
  /** In OpenAI's words: `auto`, `default`, `flex`, `priority`. */
  readonly tier?: string | undefined
  /** What the answer may consist of. Absent: text. */
  readonly modalities?: readonly ('text' | 'image' | 'audio')[] | undefined
  /** Whether the client streams. */
  readonly stream?: boolean | undefined
}

/** What the client asks of the model's reasoning. */
export interface Reasoning {
  /** Absent: the format's default. `between`: only between calls. */
  readonly mode?: 'off' | 'on' | 'adaptive' | 'between' | undefined
  /** How much the model is to reason. */
  readonly effort?: Effort | undefined
  /** The most tokens to spend on it. */
  readonly budget?: number | undefined
  /** Whether the client gets its text. */
  readonly show?: 'full' | 'summary' | 'hidden' | undefined
}
