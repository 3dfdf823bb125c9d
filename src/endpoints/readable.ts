/** Refuses requests whose answers would be too large to be read: the vendor would bill them, and nobody would get them. */
import { lengthIn, positive } from '../admission/output-length.ts'
import { type GatewayError, refusedValue } from '../errors.ts'
import type { Model } from '../models/contract.ts'
import { answerBytes, maxChoices, maxEvents, streamBytes, usualBounds } from '../providers/answer-bounds.ts'
import { maxFrameBytes } from '../providers/frame-window.ts'
import type { CallEndpoint, Order } from './endpoint.ts'
import { promptsIn } from '../wire/completions.ts'

type Read = Pick<Order<unknown>, 'field' | 'stream' | 'promptTokens'>

type Endpoint = Pick<CallEndpoint<never, never>, 'name' | 'makes' | 'lengthFields'>

/** Throws a 400 that names the fields to lower. What a request leaves open is not assumed to be large. */
export function requireReadable({ name, makes, lengthFields }: Endpoint, order: Read, model: Model): void {
  if (makes === 'vectors') requireVectors(order, model)
  else if (makes === 'images') requireImages(order)
  else if (makes === 'text' && lengthFields !== undefined) requireText(name, order, lengthFields, model)
}

/** Members and items of the JSON of one token with its probability: its text, its bytes, and the logarithm. */
const valuesPerToken = 10
const bytesPerValue = 9
/** Of a chunk beside the text. */
const bytesPerEvent = 300
const bytesPerToken = 6

function requireText(name: string, order: Read, lengthFields: readonly string[], model: Model): void {
  const { field } = order
  const choices = (positive(field('n')) ?? 1) * (name === 'completions' ? promptsIn(field('prompt')) : 1)
  const { values, fields } = probabilities(name, field)
  if (values === 0 && choices <= 8) return
  const given = ['n', ...(name === 'completions' ? ['prompt'] : [])]
  if (choices > maxChoices) throw tooLarge(given)
  const { largest = 0 } = lengthIn(field, lengthFields)
  const echoed = field('echo') === true ? order.promptTokens : 0
  const tokens = (Math.min(largest, model.maxOutputTokens ?? Infinity) + echoed) * choices
  const lengths = lengthFields.filter((each) => positive(field(each)) !== undefined)
  // The last events of a response repeat all of it.
  const inEvents = order.stream && name !== 'responses'
  const tooMany = inEvents
    ? tokens > maxEvents || tokens * (bytesPerEvent + values * bytesPerValue) > streamBytes
    : tokens * values > usualBounds.values || tokens * (bytesPerToken + values * bytesPerValue) > answerBytes
  if (tooMany) throw tooLarge([...given.filter((each) => field(each) !== undefined), ...lengths, ...fields])
}

/** The values for each token, and the fields that ask for them. */
function probabilities(name: string, field: Read['field']): { readonly values: number; readonly fields: string[] } {
  if (name === 'completions') {
    const top = field('logprobs')
    const fields = ['logprobs', ...(field('echo') === true ? ['echo'] : [])]
    return typeof top === 'number' ? { values: 6 + top, fields } : none
  }
  const included = field('include')
  const asked = Array.isArray(included) ? included.includes('message.output_text.logprobs') : field('logprobs') === true
  return asked
    ? { values: valuesPerToken * (1 + (positive(field('top_logprobs')) ?? 0)), fields: ['top_logprobs'] }
    : none
}

const none = { values: 0, fields: [] }

/** Bytes of a number of a vector, as text of full precision on a line of its own, and in base64. */
const bytesPerNumber = { float: 22, base64: 16 / 3 }

function requireVectors({ field }: Read, { deployments }: Model): void {
  const input = field('input')
  if (!Array.isArray(input) || typeof input[0] === 'number') return
  const largest = deployments.some(({ model }) => model.includes('embedding-3-large')) ? 3_072 : 0
  const numbers = input.length * (positive(field('dimensions')) ?? largest)
  const format = field('encoding_format') === 'base64' ? 'base64' : 'float'
  if (numbers * bytesPerNumber[format] > answerBytes) throw tooLarge(['input', 'dimensions'])
}

/** Bytes of a pixel in base64, as PNG files of photographs have them. */
const bytesPerPixel = 3

function requireImages({ field, stream }: Read): void {
  const [, width, height] = /^(\d{1,6})x(\d{1,6})$/.exec(String(field('size'))) ?? []
  const isSmall = field('response_format') === 'url' || ['jpeg', 'webp'].includes(String(field('output_format')))
  if (width === undefined || isSmall) return
  const bytes = Number(width) * Number(height) * bytesPerPixel
  if (stream && bytes > maxFrameBytes) throw tooLarge(['size', 'stream'])
  if (!stream && bytes * (positive(field('n')) ?? 1) > answerBytes) throw tooLarge(['n', 'size'])
}

function tooLarge(fields: readonly string[]): GatewayError {
  const names = fields.map((name) => `"${name}"`).join(', ')
  return refusedValue(
    `The answer to this request could be larger than this server reads. Lower or omit some of ${names}, or send several requests.`,
    fields[0] ?? 'max_tokens',
  )
}
