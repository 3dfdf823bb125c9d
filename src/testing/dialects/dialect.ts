/** What the model says in one response. */
export interface Script {
  /** Reasoning text. Default: none. */
  readonly reasoning?: string
  /** The text of the response. Default: none. */
  readonly text?: string
  /** Tool calls, in order. Default: none. */
  readonly calls?: readonly ScriptedCall[]
  /** Default: `tool_calls` if there are calls, otherwise `stop`. */
  readonly finish?: 'stop' | 'length' | 'tool_calls' | 'content_filter'
  /** Default: no usage, or, where the vendor's format requires it, one token of input and one of output. */
  readonly usage?: ScriptedUsage
}

/** A tool call by the model. */
export interface ScriptedCall {
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

/** Token counts. */
export interface ScriptedUsage {
  /** The whole input, `cached` included. */
  readonly input: number
  /** The part of `input` read from a cache. */
  readonly cached: number
  /** The whole output, `reasoning` included. */
  readonly output: number
  /** The part of `output` used for reasoning. */
  readonly reasoning: number
  /** The part of `input` written to a cache. Default 0. */
  readonly written?: number
  /** The part of `written` that the cache keeps for one hour. Default 0. */
  readonly written1h?: number
  /** The part of `input` that is audio. Default 0. */
  readonly audio?: number
  /** The part of `cached` that is audio. Default 0. */
  readonly cachedAudio?: number
  /** The part of `input` that is images. Default 0. */
  readonly images?: number
  /** The part of `output` that is images. Default 0. */
  readonly outputImages?: number
  /** Searches that the vendor made. Default 0. */
  readonly searches?: number
  /** The service tier that the vendor applied: `priority`. Default: the normal one. */
  readonly serviceTier?: 'priority'
}

/** What a vendor may report of the usage beside the totals, cached tokens and reasoning. */
export type ReportedUsage = Exclude<keyof ScriptedUsage, 'input' | 'cached' | 'output' | 'reasoning'>

/** A chat request as the vendor understands it, in a form common to all vendors. */
export interface DialectRequest {
  /** Whether the client wants a stream. */
  readonly stream: boolean
  /** All system instructions, separated by blank lines. */
  readonly instructions: string
  /** Consecutive messages of one role are one turn. */
  readonly turns: readonly DialectTurn[]
  /** The names of the tools offered. */
  readonly tools: readonly string[]
}

/** The consecutive messages of one role. */
export interface DialectTurn {
  /** Tool results are part of the user turn. */
  readonly role: 'user' | 'assistant'
  /** All text of the turn. */
  readonly text: string
  /** Base64. */
  readonly images: readonly string[]
  /** Tool calls, in order, with parsed arguments. */
  readonly calls: readonly {
    /** The name of the function. */
    readonly name: string
    /** The parsed arguments. */
    readonly input: unknown
  }[]
  /** Tool results, in the order they were sent, with the name of the function called. */
  readonly results: readonly {
    /** The name of the function. */
    readonly name: string
    /** The text of the result. */
    readonly text: string
  }[]
}

/**
 * Kinds of vendor errors. `invalid`: the request is malformed. `key`: the API key is rejected. `empty account`: the
 * gateway's account with the vendor has no credit. `rate`: too many requests. `broken`: an internal error.
 */
export type ErrorKind = 'invalid' | 'key' | 'empty account' | 'rate' | 'overloaded' | 'broken'

/** A vendor's error response. */
export interface ErrorReply {
  /** The HTTP status. */
  readonly status: number
  /** Response headers beside the content type. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
  /** The response body, as JSON text. */
  readonly body: string
}

/** A vendor's chat format: writes responses and reads requests. Implement it to test a provider for another vendor. */
export interface Dialect {
  /** A short name for test output. */
  readonly name: string
  /** The vendor's name for a model that supports images, tools and reasoning. */
  readonly model: string
  /** The parts of a `ScriptedUsage` that the format has. The others do not occur in scripts. Default: none. */
  readonly reports?: readonly ReportedUsage[]
  /** The non-streaming response body, as JSON text. */
  readonly body: (script: Script) => string
  /** The same response as event-stream frames. A client has the whole response after the first `complete` frames. */
  readonly stream: (script: Script) => { readonly frames: readonly string[]; readonly complete: number }
  /** An error with `secret` in every part that clients must not see. A `rate` error asks the client to wait 7 seconds. */
  readonly errorReply: (kind: ErrorKind, secret: string) => ErrorReply
  /** A frame that reports an overloaded vendor in the middle of a stream, with `secret` as its message. */
  readonly errorFrame: (secret: string) => string
  /** Reads a request. Throws if the vendor would reject the conversation. */
  readonly parse: (request: { readonly url: string; readonly json: unknown }) => DialectRequest
}

/** Throws unless each call of a turn has exactly one result. */
export function requireResults(calls: readonly string[], results: readonly string[]): void {
  if (JSON.stringify(calls.toSorted()) === JSON.stringify(results.toSorted())) return
  throw new TypeError(`expected results for ${calls.join(', ') || 'no call'}, got ${results.join(', ') || 'none'}`)
}

/** Splits a text into pieces of a few characters, as vendors stream it. */
export function piecesOf(text: string): string[] {
  return text.match(/.{1,5}/gsu) ?? []
}

export function finishOf({ calls = [], finish }: Script): NonNullable<Script['finish']> {
  return finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')
}

/** Joins consecutive turns of one role. */
export function merged(turns: readonly DialectTurn[]): DialectTurn[] {
  const out: DialectTurn[] = []
  for (const turn of turns) {
    const last = out.at(-1)
    if (last?.role !== turn.role) out.push(turn)
    else {
      out[out.length - 1] = {
        role: turn.role,
        text: last.text + turn.text,
        images: [...last.images, ...turn.images],
        calls: [...last.calls, ...turn.calls],
        results: [...last.results, ...turn.results],
      }
    }
  }
  return out
}
