/** What a text carries: citations and the probabilities of its tokens. */
import type { Own } from './own.ts'

/** Characters of a text. */
export interface TextRange {
  /** The first character. */
  readonly start: number
  /** The one after the last. */
  readonly end: number
}

/** What a text refers to. `own`: the citation as its wire has it, which that format writes unchanged. */
export interface Citation {
  /** The address of the source. */
  readonly url?: string | undefined
  /** The title of the source. */
  readonly title?: string | undefined
  /** The words of the source. */
  readonly quote?: string | undefined
  /** The characters of the block's text that it supports. Absent: the whole block. */
  readonly range?: TextRange | undefined
  /** The citation as its wire has it. */
  readonly own?: Own | undefined
}

/** A token of an answer and its probability, with the names that chat and Responses share. */
export interface TokenLogprob {
  /** The token. */
  readonly token: string
  /** The logarithm of its probability. */
  readonly logprob: number
  /** The token in UTF-8. */
  readonly bytes?: readonly number[] | null | undefined
  /** The most likely tokens at this place. */
  readonly top_logprobs?: readonly Omit<TokenLogprob, 'top_logprobs'>[] | undefined
}
