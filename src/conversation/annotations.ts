/** What a text carries: citations and the probabilities of its tokens. */
import type { Own } from './own.ts'

/** What a text refers to. `own`: the citation as its wire has it, which that format writes unchanged. */
export interface Citation {
  /** The address of the source. */
  readonly url?: string
  /** The title of the source. */
  readonly title?: string
  /** The words of the source. */
  readonly quote?: string
  /** The characters of the block's text that it supports. Absent: the whole block. */
  readonly range?: {
    /** The first character. */
    readonly start: number
    /** The one after the last. */
    readonly end: number
  }
  /** The citation as its wire has it. */
  readonly own?: Own
}

/** A token of an answer and its probability, with the names that chat and Responses share. */
export interface TokenLogprob {
  /** The token. */
  readonly token: string
  /** The logarithm of its probability. */
  readonly logprob: number
  /** The token in UTF-8. */
  readonly bytes?: readonly number[] | null
  /** The most likely tokens at this place. */
  readonly top_logprobs?: readonly Omit<TokenLogprob, 'top_logprobs'>[]
}
