/** What a model of the AI SDK throws, and what it warns of → what our caller is told. Its own words stay here. */
import { GatewayError } from '../../../src/errors.ts'
import { readFault as anthropicFault } from '../../../src/providers/anthropic/fault.ts'
import type { FaultReader } from '../../../src/providers/answer.ts'
import type { Call } from '../../../src/providers/contract.ts'
import { ProviderError, retrySame, tryNext } from '../../../src/providers/failure.ts'
import { readFault as googleFault } from '../../../src/providers/gemini/fault.ts'
import { isRecord } from '../../../src/providers/reading/parts.ts'
import { unsupported } from '../../../src/providers/unsupported.ts'
import { vendorError, waitOf, type VendorFault } from '../../../src/providers/vendor-error.ts'

type Fields = Readonly<Record<string, unknown>>

/** What of a call the answer to it depends on. */
export type Asking = Pick<Call<unknown>, 'publicModel' | 'openModel' | 'field' | 'signal'>

/** `google`: how an error in Google's form is read. */
export function failureOf(thrown: unknown, call: Asking, google: FaultReader = googleFault): unknown {
  if (call.signal.aborted) return call.signal.reason
  if (GatewayError.is(thrown)) return thrown
  const error = Object(thrown) as Fields
  const name = typeof error['name'] === 'string' ? error['name'] : ''
  const cause = new Error(
    `the model of the AI SDK failed: ${/^AI_\w+$/.test(name) ? name : 'an error of unknown kind'}`,
  )
  switch (name) {
    case 'AI_APICallError':
      return calledError(error, call, google)
    case 'AI_UnsupportedFunctionalityError':
      return new GatewayError('unsupported_value', { cause })
    case 'AI_InvalidPromptError':
    case 'AI_InvalidArgumentError':
      return new GatewayError('invalid_request_error', { cause })
    case 'AI_NoSuchModelError':
      if (!call.openModel) return tryNext(cause, { begun: false })
      return new ProviderError('model_not_found', { retry: 'next', cause, begun: false })
    default:
      return retrySame(cause)
  }
}

/** The vendor's answer is kept with the error, in the vendor's own form. */
function calledError(error: Fields, call: Asking, google: FaultReader): ProviderError {
  const { statusCode, responseHeaders, responseBody } = error
  const status = typeof statusCode === 'number' ? statusCode : 503
  // An answer that could not be read is no answer, whatever its status.
  if (status < 400) return retrySame(new Error(`the vendor’s answer of status ${status} could not be read`))
  const headers = isRecord(responseHeaders) ? responseHeaders : {}
  const waitMs = waitOf((name) => (typeof headers[name] === 'string' ? headers[name] : undefined))
  const fault = { status, error: errorIn(responseBody), waitMs, openModel: call.openModel, sent: call.field }
  return vendorError(read(fault, google))
}

/** Told by its form, whose error it is. */
function read(fault: VendorFault, google: FaultReader): VendorFault {
  const { type, status, code } = isRecord(fault.error) ? fault.error : {}
  if (typeof status === 'string') return google(fault)
  return typeof type === 'string' && code === undefined ? anthropicFault(fault) : fault
}

function errorIn(body: unknown): unknown {
  try {
    const said: unknown = JSON.parse(String(body))
    return (Object(Array.isArray(said) ? said[0] : said) as { error?: unknown }).error
  } catch {
    return undefined
  }
}

/** Settings of the AI SDK by the names our callers may have written. */
const fields: Readonly<Record<string, readonly string[]>> = {
  topP: ['top_p'],
  topK: ['top_k'],
  frequencyPenalty: ['frequency_penalty'],
  presencePenalty: ['presence_penalty'],
  maxOutputTokens: ['max_tokens'],
  stopSequences: ['stop'],
  responseFormat: ['response_format'],
  toolChoice: ['tool_choice'],
  reasoning: ['reasoning_effort'],
  timestampGranularities: ['timestamp_granularities'],
  aspectRatio: ['aspect_ratio', 'aspectRatio'],
  resolution: ['resolution', 'size'],
  generateAudio: ['generate_audio', 'generateAudio'],
}

/** What vendors call freely, such as “URL-based image input”. */
const pictures = ['input_reference', 'input_reference[image_url]', 'image_url', 'image']

/** Throws 400 for a setting that the model will not heed, if the client sent it. */
export function refuseUnheeded(
  warnings: unknown,
  call: Pick<Asking, 'publicModel' | 'field'>,
  ignored: readonly string[],
): void {
  for (const warning of Array.isArray(warnings) ? warnings : []) {
    const { type, feature, setting } = Object(warning) as Fields
    const name = feature ?? setting
    if ((type !== 'unsupported' && type !== 'unsupported-setting') || typeof name !== 'string') continue
    const names = fields[name] ?? (/image/i.test(name) ? pictures : [name])
    const field = names.find((each) => (call.field(each) ?? undefined) !== undefined)
    if (field !== undefined && !ignored.includes(field)) throw unsupported(call, field)
  }
}
