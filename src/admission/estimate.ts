/** What a request may come to at most, as far as it says so itself. */
import type { Units } from '../billing/receipt.ts'
import { bytesPerToken } from '../wire/counts.ts'
import type { CallEndpoint, Order } from '../endpoints/endpoint.ts'
import type { Model } from '../models/contract.ts'
import { choicesIn } from './choices.ts'
import { lengthIn } from './length.ts'

export interface Estimate {
  /** Tokens of the question, as they are usually counted. */
  readonly promptTokens: number
  /** Of the request as it came. */
  readonly bytes: number
  /** No vendor counts more for the text of the request: a token is at least one byte, and fits the model's window. */
  readonly mostPromptTokens: number
  /** Tokens of the answer at most, all choices together; undefined when the request does not say. */
  readonly outputTokens: number | undefined
  /** What a request of unstated length may come to at least: fields that mean nothing here may mean something to a vendor. */
  readonly leastOutputTokens: number
  /** Answers asked for, to all prompts together. */
  readonly choices: number
  /** The answer is text, of a length that the request may leave open. */
  readonly writes: boolean
  /** What else is asked for, as far as the endpoint says so. */
  readonly units: Units
}

type Asked = Pick<Order<unknown>, 'promptTokens' | 'field' | 'form'>

/** What an endpoint declares of the size of its answers. */
export type Sizing = Pick<CallEndpoint<unknown, unknown>, 'lengthFields' | 'choices' | 'units' | 'once'> &
  Partial<Pick<CallEndpoint<unknown, unknown>, 'makes'>>

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
