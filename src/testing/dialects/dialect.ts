/** How vendors of one kind speak, as far as a test speaks for them: answers in their words, and requests read back. */

/** What a model of the vendor says. */
export interface Script {
  readonly reasoning?: string
  readonly text?: string
  readonly calls?: readonly ScriptedCall[]
  /** Default: `tool_calls` if there are calls, else `stop`. */
  readonly finish?: 'stop' | 'length' | 'tool_calls' | 'content_filter'
  readonly usage?: ScriptedUsage
}

export interface ScriptedCall {
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

/** Tokens, each a part of nothing else but where it says so. */
export interface ScriptedUsage {
  /** All of the input. */
  readonly input: number
  /** The part of the input that came from a cache. */
  readonly cached: number
  /** All of the output. */
  readonly output: number
  /** The part of the output that was thinking. */
  readonly reasoning: number
}

/** A request as the vendor understands it, in words common to all. */
export interface Heard {
  readonly stream: boolean
  /** All instructions. */
  readonly instructions: string
  /** Neighbours of one role are one turn. */
  readonly turns: readonly HeardTurn[]
  /** The tools offered, by name. */
  readonly tools: readonly string[]
}

export interface HeardTurn {
  readonly role: 'user' | 'assistant'
  readonly text: string
  /** Base64 of each. */
  readonly images: readonly string[]
  readonly calls: readonly { readonly name: string; readonly input: unknown }[]
  /** In the order of the calls they belong to; by the name of the function. */
  readonly results: readonly { readonly name: string; readonly text: string }[]
}

/** Ways in which a vendor refuses. */
export type RefusalKind = 'invalid' | 'key' | 'empty account' | 'rate' | 'overloaded' | 'broken'

export interface Refusal {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

export interface Dialect {
  readonly name: string
  /** A model that the vendor has and that can all that the kit asks for. */
  readonly model: string
  /** The answer as one JSON text. */
  readonly whole: (script: Script) => string
  /** The same as frames of an event stream. The answer is complete with the first `complete` of them. */
  readonly stream: (script: Script) => { readonly frames: readonly string[]; readonly complete: number }
  /** `secret` stands in every part of it that no client may see. A `rate` refusal asks to wait for 7 seconds. */
  readonly refusal: (kind: RefusalKind, secret: string) => Refusal
  /** The frame of an error inside a stream: the vendor is overloaded. */
  readonly errorFrame: (secret: string) => string
  /** Throws where the vendor would refuse the conversation. */
  readonly hear: (request: { readonly url: string; readonly json: unknown }) => Heard
}

/** Throws unless the results of a turn's calls are the ones that are due: all of them, each once. */
export function requireResults(due: readonly string[], found: readonly string[]): void {
  if (JSON.stringify(due.toSorted()) === JSON.stringify(found.toSorted())) return
  throw new TypeError(`the results of ${due.join(', ') || 'no call'} are due, not of ${found.join(', ') || 'none'}`)
}

/** A text as vendors send it: a few characters at a time. */
export function piecesOf(text: string): string[] {
  return text.match(/.{1,5}/gsu) ?? []
}

export function finishOf({ calls = [], finish }: Script): NonNullable<Script['finish']> {
  return finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')
}

/** Neighbours of one role as one turn. */
export function merged(turns: readonly HeardTurn[]): HeardTurn[] {
  const out: HeardTurn[] = []
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
