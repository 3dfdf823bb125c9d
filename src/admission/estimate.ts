import type { Units } from '../billing/receipt.ts'
import { bytesPerToken } from '../wire/counts.ts'
import type { CallEndpoint, Order } from '../endpoints/endpoint.ts'
import type { Model } from '../models/contract.ts'
import { choicesIn } from './choices.ts'
import { lengthIn } from './length.ts'

/** The size of a request and of its response, as far as the request states it. */
export interface Estimate {
  /** Typical number of prompt tokens for a request of this size. */
  readonly promptTokens: number
  /** Size of the request. */
  readonly bytes: number
  /** Upper bound of the prompt tokens: a token has at least one byte, and the prompt fits the context window. */
  readonly mostPromptTokens: number
  /** Upper bound of the output tokens of all choices; undefined if the request does not limit them. */
  readonly outputTokens: number | undefined
  /** Output tokens to expect at least if unlimited: the request may limit them by a field that only some vendors read. */
  readonly leastOutputTokens: number
  /** Number of choices for all prompts together. */
  readonly choices: number
  /** Whether the response is text whose length the request may leave open. */
  readonly writes: boolean
  /** Requested images and seconds, if the endpoint has them. */
  readonly units: Units
}

type Asked = Pick<Order<unknown>, 'promptTokens' | 'field' | 'form'>

/** What an endpoint declares about the size of its responses. */
export type Sizing = Pick<CallEndpoint<unknown, unknown>, 'lengthFields' | 'choices' | 'units' | 'once'> &
  Partial<Pick<CallEndpoint<unknown, unknown>, 'makes'>>

/** Estimates the size of a request and its response from the request's own fields. */
export function estimate(endpoint: Sizing, order: Asked, model: Model): Estimate {
  const { lengthFields } = endpoint
  const { promptTokens, field } = order
  const { contextWindow = Infinity, maxOutputTokens = Infinity } = model
  const { stated, largest } = lengthFields === undefined ? unknownLength : lengthIn(field, lengthFields)
  const choices = endpoint.choices?.(order, model) ?? choicesIn(field)
  const longest = largest === undefined ? undefined : Math.min(largest, maxOutputTokens) * choices
  return {
    promptTokens,
    bytes: promptTokens * bytesPerToken,
    mostPromptTokens: Math.min(promptTokens * bytesPerToken, contextWindow),
    outputTokens: stated ? longest : undefined,
    leastOutputTokens: longest ?? 0,
    choices,
    writes: lengthFields !== undefined,
    units: endpoint.units?.(order, choices) ?? {},
  }
}

const unknownLength = { stated: false, largest: undefined }
