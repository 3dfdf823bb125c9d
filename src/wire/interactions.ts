/** The shapes of Google's Interactions API. Unknown fields are kept. Source: Google's client library, `@google/genai`. */
import type { Fields } from './json.ts'

/** The body of `POST /v1beta/interactions`. */
export interface InteractionRequest {
  readonly model: string
  /** What was said and done so far, oldest first. */
  readonly input: readonly Fields[]
  readonly system_instruction?: string
  readonly tools?: readonly Fields[]
  readonly generation_config?: Fields
  readonly response_format?: readonly Fields[]
  readonly service_tier?: string
  readonly store?: boolean
  readonly stream?: boolean
  readonly [field: string]: unknown
}

/** An interaction, or an event of its stream. */
export interface InteractionObject {
  readonly [field: string]: unknown
}
