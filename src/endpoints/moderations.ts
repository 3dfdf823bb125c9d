/** The moderations endpoint. Source of the fields: OpenAI's CreateModerationRequest. */
import * as z from 'zod'
import { bytesPerToken, estimateTokens, readTokenUsage } from '../wire/counts.ts'
import { invalid, refusedValue } from '../errors.ts'
import { bytesReply, jsonReply } from '../http/answers.ts'
import { readJson } from '../http/body.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Sizes } from '../http/sizes.ts'
import { Verbatim, type Call } from '../providers/contract.ts'
import { unreadable } from '../providers/failure.ts'
import {
  moderationCategories,
  type ModerationInput,
  type ModerationList,
  type ModerationPart,
  type ModerationRequest,
  type ModerationResult,
} from '../wire/moderations.ts'
import { check } from './check.ts'
import { defineEndpoint } from './define.ts'
import type { CallEndpoint, Order } from './endpoint.ts'
import { jsonOrder, overlaid } from './order.ts'
import { readVendor } from './read-vendor.ts'
import { lazy } from '../records/lazy.ts'

const defaultModel = 'omni-moderation-latest'

/** The estimated tokens of an inline image; the length of its base64 text would be far too high. */
const imageTokens = 1_000

const schema = lazy(() => z.looseObject({ model: z.string().min(1) }))

/** `POST /v1/moderations`. */
export const moderations: CallEndpoint<ModerationRequest, ModerationList | Verbatim<ModerationList>> = defineEndpoint({
  method: 'POST',
  path: '/v1/moderations',
  name: 'moderations',
  // Vendors charge nothing for it.
  makes: undefined,
  read: readModeration,
  texts: ['input'],
  async ask(provider, call, { id, meter }) {
    const answer = await provider.moderate?.(call)
    if (answer === undefined) {
      throw refusedValue('This model cannot moderate.', 'model')
    }
    const verbatim = answer instanceof Verbatim
    const list = verbatim ? answer.value : answer
    const full = readVendor(() => completed(list, call, id))
    meter.usage = readTokenUsage(list.usage)
    return verbatim ? answer : full
  },
  whole: (answer) => (answer instanceof Verbatim ? bytesReply(answer.bytes) : jsonReply(answer)),
})

async function readModeration(exchange: Exchange, sizes: Sizes): Promise<Order<ModerationRequest>> {
  const body = await readJson(exchange, sizes, { model: defaultModel })
  check(schema(), body)
  const input = body.get('input')
  checkInput(input)
  const order = jsonOrder<ModerationRequest>(body, false)
  const images = imagesIn(input)
  if (images.length === 0) return order
  const text = body.bytes.length - images.reduce((size, { length }) => size + length, 0)
  return overlaid(order, { promptTokens: estimateTokens(text + images.length * imageTokens * bytesPerToken) })
}

/** Without a schema, because the input may be very long. */
function checkInput(input: unknown): asserts input is ModerationInput {
  if (input === undefined || input === null) throw invalid('Missing required parameter: "input".', 'input')
  if (typeof input === 'string') return
  if (!Array.isArray(input) || input.length === 0) throw wrong('input')
  const fits = typeof input[0] === 'string' ? (each: unknown) => typeof each === 'string' : isPart
  const wrongAt = input.findIndex((each) => !fits(each))
  if (wrongAt >= 0) throw wrong(`input[${wrongAt}]`)
}

function isPart(value: unknown): value is ModerationPart {
  const { type, text, image_url: image } = Object(value) as Readonly<Record<string, unknown>>
  if (type === 'text') return typeof text === 'string'
  return type === 'image_url' && typeof (Object(image) as { url?: unknown }).url === 'string'
}

function wrong(param: string) {
  const what = 'must be a string, an array of strings, or an array of parts of type "text" or "image_url"'
  return invalid(`Invalid value for "${param}": ${what}.`, param)
}

/** The `data:` URLs in the request. */
function imagesIn(input: ModerationInput): readonly string[] {
  if (typeof input === 'string') return []
  return input.flatMap((part) => {
    const url = typeof part === 'object' && part.type === 'image_url' ? part.image_url.url : ''
    return url.startsWith('data:') ? [url] : []
  })
}

/** The response with every field of OpenAI's. Throws unless there is one result for each input. */
function completed(list: ModerationList, call: Call<ModerationRequest>, id: string): ModerationList {
  const { model, publicModel } = call
  const input = call.field('input') as ModerationInput
  const count = Array.isArray(input) && typeof input[0] === 'string' ? input.length : 1
  const results = list.results.map(completedResult)
  if (results.length !== count) {
    throw unreadable(`the provider returned ${results.length} results for ${count} inputs`)
  }
  const named = model === publicModel ? list.model : undefined
  return { ...list, id: list.id ?? id.replace('req_', 'modr-'), model: named ?? publicModel, results }
}

function completedResult(result: ModerationResult): ModerationResult {
  const { categories, category_scores: scores, category_applied_input_types: types } = result
  return {
    ...result,
    flagged: result.flagged ?? Object.values(categories).includes(true),
    categories: { ...each(false), ...categories },
    category_scores: { ...each(0), ...scores },
    category_applied_input_types: { ...each([]), ...types },
  }
}

function each<Value>(value: Value): Record<(typeof moderationCategories)[number], Value> {
  return Object.fromEntries(moderationCategories.map((name) => [name, value])) as ReturnType<typeof each<Value>>
}
