import type { CostBounds } from '../money/options.ts'
import type { Product } from '../money/prices/price.ts'
import type { Units } from '../wire/units.ts'
import { bytesPerToken } from '../wire/counts.ts'
import type { Model } from '../models/contract.ts'
import { choicesIn, lengthIn } from './output-length.ts'
import { promptOf, type SizedRequest } from './prompt.ts'
import { addedTokens } from './vendor-tokens.ts'

/** The size of a request and of its response, as far as the request states it. */
export interface Estimate {
  /** Expected prompt tokens. */
  readonly promptTokens: number
  /** See `PromptEstimate`. */
  readonly hasFiles: boolean
  /** Size of the request. */
  readonly bytes: number
  /** Upper bound of the prompt tokens that the vendor adds to those of the request. */
  readonly added: number
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

/** A request whose highest price is computed. */
export interface EstimatedRequest {
  readonly model: Model
  readonly estimate: Estimate
  readonly order: SizedRequest
  /** Absent if the endpoint is free. */
  readonly makes?: Product | undefined
}

/** What an endpoint declares about the size of its responses. */
export interface Sizing {
  /** What it makes, which the price of a model must charge for. Undefined: it may be free. */
  readonly makes?: Product | undefined
  /** The fields that bound the tokens of an answer, the one first that is set where none is. Absent: it is no free text. */
  readonly lengthFields?: readonly [string, ...string[]]
  /** The most output tokens to expect, where they follow from the request. Default: what `lengthFields` say. */
  readonly outputTokens?: (order: SizedRequest) => number
  /** Answers asked for, to all prompts together. Default: what `n` says. */
  readonly choices?: (order: SizedRequest, model: Model) => number
  /** What so many answers hold at most beside text, as prices count it. Default: nothing. */
  readonly units?: (order: SizedRequest, choices: number) => Units
  /** Each attempt costs, so one that a vendor may have begun is repeated neither by us nor by the client's own retries. */
  readonly once?: boolean
}

/** Estimates the size of a request and its response from the request's own fields. */
export function estimateOf(endpoint: Sizing, order: SizedRequest, model: Model, bounds?: CostBounds): Estimate {
  const { lengthFields } = endpoint
  const { promptTokens, field } = order
  const { tokens, hasFiles } =
    lengthFields === undefined ? { tokens: promptTokens, hasFiles: false } : promptOf(order, model, bounds)
  const { contextWindow = Infinity, maxOutputTokens = Infinity } = model
  const { stated, largest } = lengthFields === undefined ? unknownLength : lengthIn(field, lengthFields)
  const choices = endpoint.choices?.(order, model) ?? choicesIn(field)
  const longest = largest === undefined ? undefined : Math.min(largest, maxOutputTokens) * choices
  const bytes = promptTokens * bytesPerToken
  // What is no free text has no tools and no template.
  const added = lengthFields === undefined ? 0 : addedTokens(model, field)
  return {
    promptTokens: tokens,
    hasFiles,
    bytes,
    added,
    mostPromptTokens: Math.min(bytes + added, contextWindow),
    outputTokens: endpoint.outputTokens?.(order) ?? (stated ? longest : undefined),
    leastOutputTokens: longest ?? 0,
    choices,
    writes: lengthFields !== undefined,
    units: endpoint.units?.(order, choices) ?? {},
  }
}

const unknownLength = { stated: false, largest: undefined }
