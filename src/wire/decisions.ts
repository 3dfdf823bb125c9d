/** The shapes of OpenAI's decisions. Unknown fields are kept. Source: OpenAI's client library (`resources/decisions`), a public beta. */
import type { TokenUsage } from './usage.ts'

/** The body of `POST /v1/decisions`. */
export interface DecisionRequest {
  readonly model: string
  /** A text, or messages and calls of tools. */
  readonly input: string | readonly Readonly<Record<string, unknown>>[]
  readonly questions: readonly DecisionQuestion[]
  readonly [field: string]: unknown
}

/** A question about the input. */
export interface DecisionQuestion {
  readonly type: 'predicate' | 'choice' | 'score'
  /** The answer repeats it. */
  readonly name?: string | null
  readonly instructions: string | readonly Readonly<Record<string, unknown>>[]
  /** For `choice`. */
  readonly choices?: readonly { readonly value: string | boolean; readonly description?: string | null }[]
  /** For `score`, in ascending order. */
  readonly levels?: readonly { readonly label: string; readonly description?: string | null }[]
  readonly [field: string]: unknown
}

/** The answer to one question. */
export interface DecisionAnswer {
  readonly type: 'predicate' | 'choice' | 'score' | 'refusal'
  readonly name?: string | null
  readonly [field: string]: unknown
}

/** The answers, in the order of the questions. */
export interface DecisionList {
  readonly model?: string
  readonly answers: readonly DecisionAnswer[]
  readonly usage?: TokenUsage
  readonly [field: string]: unknown
}
