/** What a provider's `generate` yields: the parts of an answer, in their simple form. */
import type { CallPart, EndPart, Part, StartPart, UsagePart } from '../conversation/parts.ts'
import type { Usage } from '../wire/usage.ts'

/** A part without the numbers that the gateway can count itself. */
type Unnumbered<Numbered> = Omit<Numbered, 'choice' | 'block'> & {
  /** The number of the choice, from 0. Default 0. */
  readonly choice?: number
  /**
   * A number for the block, for providers that write several blocks of one kind at the same time. Default: the block
   * before, if the part continues it, else a new one.
   */
  readonly block?: number
}

type Each<Numbered> = Numbered extends Part ? Unnumbered<Numbered> : never

/** The beginning of a call, or all of it. */
export type GeneratedCall = Omit<Unnumbered<CallPart>, 'id' | 'by'> & {
  /** Results refer to it. Default: made by the gateway. */
  readonly id?: string
  /** Whether the input is JSON or any text. Default `function`: JSON. */
  readonly by?: 'function' | 'custom'
  /** The input, or its beginning. Default: it follows in `input` parts. */
  readonly input?: string
}

/** The end of a choice, with the usage if it is known by then. */
export type GeneratedEnd = Omit<EndPart, 'choice'> & {
  /** The number of the choice, from 0. Default 0. */
  readonly choice?: number
  /** The tokens of all choices so far. */
  readonly usage?: Usage
}

/** The tokens of all choices so far. */
export type GeneratedUsage = Omit<UsagePart, 'counters'> & {
  /** As the vendor counts. Default: unknown. */
  readonly counters?: UsagePart['counters']
}

/**
 * A part of an answer as `generate` yields it. `text`, `reasoning`, `refusal`, `toolCall`, `image`, `citation` and `finish`
 * make the usual ones.
 *
 * Texts, reasoning and refusals grow: the next part of the same kind continues the block, any other part ends it. A call
 * begins with `call`; `input` parts continue it. Citations belong to the last text, states to the last block.
 */
export type GeneratedPart =
  | StartPart
  | Each<Exclude<Part, { kind: 'start' | 'call' | 'usage' | 'end' }>>
  | GeneratedCall
  | GeneratedUsage
  | GeneratedEnd
