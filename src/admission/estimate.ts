/** What a request may come to at most, as far as it says so itself. */
import type { Units } from '../billing/receipt.ts'
import { bytesPerToken } from '../billing/usage.ts'
import type { Order } from '../endpoints/endpoint.ts'
import type { Model } from '../models/contract.ts'

export interface Estimate {
  /** Tokens of the question, as they are usually counted. */
  readonly promptTokens: number
  /** No vendor counts more for the text of the request: a token is at least one byte, and fits the model's window. */
  readonly mostPromptTokens: number
  /** Tokens of the answer at most, all choices together; undefined when the request does not say. */
  readonly outputTokens: number | undefined
  /** Answers asked for, to all prompts together. */
  readonly choices: number
  /** The answer is text, of a length that the request may leave open. */
  readonly writes: boolean
  /** What else is asked for, `seconds` where it says so. */
  readonly units: Units
}

/** The endpoints whose answers are text, and what they call its length. The name of another endpoint states nothing. */
const lengths: Readonly<Record<string, readonly string[]>> = {
  'chat.completions': ['max_completion_tokens', 'max_tokens'],
  completions: ['max_tokens'],
  responses: ['max_output_tokens'],
}
const allLengths = [...new Set(Object.values(lengths).flat())]

type Asked = Pick<Order<unknown>, 'promptTokens' | 'field' | 'form'>

export function estimate(endpoint: string, order: Asked, model: Model): Estimate {
  const { promptTokens, field } = order
  const { contextWindow = Infinity, maxOutputTokens = Infinity } = model
  const stated = lengths[endpoint]?.some((name) => count(field(name)) !== undefined) === true
  const answers = Math.max(count(field('n')) ?? mostOf(order, model), count(field('best_of')) ?? 1)
  const choices = endpoint === 'completions' ? answers * promptsIn(field('prompt')) : answers
  const seconds = count(field('seconds')) ?? count(field('duration'))
  const size = field('size')
  const quality = field('quality')
  return {
    promptTokens,
    mostPromptTokens: Math.min(promptTokens * bytesPerToken, contextWindow),
    outputTokens: stated ? Math.min(largestOf(field), maxOutputTokens) * choices : undefined,
    choices,
    writes: Object.hasOwn(lengths, endpoint),
    units: {
      images: choices,
      ...(seconds !== undefined && { seconds }),
      ...(typeof size === 'string' && { size }),
      ...(typeof quality === 'string' && { quality }),
    },
  }
}

/** A form that is still arriving may yet say how many. */
function mostOf({ form }: Asked, { image }: Model): number {
  return form === undefined || form.kept || image === undefined ? 1 : (image.maxN ?? 10)
}

/** A text, a list of texts, a list of tokens, or a list of those: each text and each list of tokens is answered by itself. */
function promptsIn(prompt: unknown): number {
  return Array.isArray(prompt) && typeof prompt[0] !== 'number' ? Math.max(1, prompt.length) : 1
}

/** Which of several lengths a vendor goes by is not known. */
function largestOf(field: Asked['field']): number {
  return Math.max(...allLengths.flatMap((name) => count(field(name)) ?? []))
}

/** Some clients write numbers as text, forms always do. */
function count(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof number === 'number' && number > 0 && number <= Number.MAX_SAFE_INTEGER ? number : undefined
}
