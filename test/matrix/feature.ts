/** What a cell of the matrix consists of: a request in a neutral form, and what the vendor's model answers. */

/** A value of JSON, untyped: the wires are the types here. */
// oxlint-disable-next-line typescript/no-explicit-any -- see above
export type Json = any

export type ClientName = 'chat' | 'responses' | 'messages' | 'gemini'

export interface Call {
  readonly id: string
  readonly name: string
  /** JSON, or what a model wrote instead. */
  readonly input: string
}

/** One part of a turn; it has one of the fields. */
export interface Part {
  readonly text?: string
  /** A URL, also with data. */
  readonly image?: string
  readonly file?: string
  /** Base64 of a WAV file. */
  readonly audio?: string
  readonly call?: Call
  readonly result?: {
    readonly id: string
    readonly name: string
    readonly parts: readonly Part[]
    readonly failed?: boolean
  }
  readonly reasoning?: string
  /** Of `reasoning`: what its maker wants back. */
  readonly state?: string
  /** Fields of this part in the format of one client. */
  readonly own?: Partial<Record<ClientName, object>>
}

export interface Turn {
  readonly role: 'system' | 'developer' | 'user' | 'assistant'
  readonly parts: readonly Part[]
}

export interface Tool {
  readonly name: string
  readonly schema?: object
  readonly description?: string
  readonly strict?: boolean
}

export interface Block {
  readonly text?: string
  /** Of `text`: the page that it cites. */
  readonly cites?: string
  readonly refusal?: string
  readonly reasoning?: string
  readonly state?: string
  /** Of `reasoning`: the field of chats. Default `reasoning_content`. */
  readonly field?: string
  readonly call?: Call
}

export interface Usage {
  /** All input, `cached` and `written` included. */
  readonly input: number
  readonly cached?: number
  readonly written?: number
  /** All output, `reasoning` included. */
  readonly output: number
  readonly reasoning?: number
}

export interface Answer {
  readonly blocks: readonly Block[]
  /** Default: `stop`, or `tools` if there are calls. */
  readonly end?: 'stop' | 'tools' | 'length' | 'filter' | 'refusal' | 'sequence'
  /** Default: 11 tokens of input, 3 of output. Null: none is reported. */
  readonly usage?: Usage | null
  /** Characters in each fragment of a stream. Default 5. */
  readonly fragment?: number
  /** A stream stops half way: with an error, or without an end. Other answers are an error, or half a body. */
  readonly cut?: 'error' | 'end'
  /** Writes of the vendor end within characters. */
  readonly split?: boolean
  /** The vendor answers with an error instead. */
  readonly error?: 'invalid' | 'key' | 'empty account' | 'rate' | 'overloaded' | 'broken'
}

export interface Feature {
  readonly name: string
  /** Default: one greeting. */
  readonly turns?: readonly Turn[]
  readonly tools?: readonly Tool[]
  /** A name is the tool that must be called, a list those that may be called. */
  readonly choice?: 'auto' | 'none' | 'required' | { readonly name: string } | readonly string[]
  /** One call at a time, which clients of Gemini cannot say. */
  readonly serial?: boolean
  /** The schema of the answer. */
  readonly schema?: object
  /** Further fields in the format of each client. Formats that are not named do not have the feature. Default: all, none. */
  readonly fields?: Partial<Record<ClientName, object>>
  /** What must be in the vendor's requests for `fields`. Default: all their values. */
  readonly sent?: RegExp
  /** The guides say that some vendors do not get it. */
  readonly mayDrop?: boolean
  /** Default: `Hello`. */
  readonly answer?: Answer
  /** The client sends the answer back with these turns, and gets a second answer. */
  readonly next?: readonly Turn[]
}
