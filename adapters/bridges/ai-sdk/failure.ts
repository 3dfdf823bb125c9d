/** Errors and warnings of the AI SDK's models → errors of the gateway. The vendor's own text is never passed on. */
import { GatewayError } from '../../../src/errors.ts'
import { readFault as anthropicFault } from '../../../src/providers/messages/fault.ts'
import type { Call } from '../../../src/providers/contract.ts'
import { ProviderError, retrySame, tryNext } from '../../../src/providers/failure.ts'
import { readFault as googleFault } from '../../../src/providers/content/fault.ts'
import { fieldsOf, itemsOf, stringOf, textOf, type Fields } from '../../../src/wire/json.ts'
import { unsupported } from '../../../src/providers/unsupported.ts'
import { vendorError, waitOf, type FaultReader, type VendorFault } from '../../../src/providers/vendor-error.ts'

/** The parts of a call that its errors depend on. */
export type CallInfo = Pick<Call<unknown>, 'publicModel' | 'openModel' | 'field' | 'signal'>

/** The gateway's error for an error that a model has thrown. `google` reads errors in Google's format. */
export function failureOf(thrown: unknown, call: CallInfo, google: FaultReader = googleFault): unknown {
  if (call.signal.aborted) return call.signal.reason
  if (GatewayError.is(thrown)) return thrown
  const error = Object(thrown) as Fields
  const name = textOf(error['name'])
  const cause = new Error(`the AI SDK model failed: ${/^AI_\w+$/.test(name) ? name : 'an error of unknown type'}`)
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

/** An HTTP error of the vendor, whose response body is in the vendor's own format. */
function calledError(error: Fields, call: CallInfo, google: FaultReader): ProviderError {
  const { statusCode, responseHeaders, responseBody } = error
  const status = typeof statusCode === 'number' ? statusCode : 503
  // A successful response that the SDK could not parse.
  if (status < 400) return retrySame(new Error(`the vendor’s response with status ${status} could not be parsed`))
  const waitMs = waitOf((name) => stringOf(fieldsOf(responseHeaders)[name]))
  const fault = { status, error: errorIn(responseBody), waitMs, openModel: call.openModel, sent: call.field }
  return vendorError(read(fault, google))
}

/** Reads an error in the format of OpenAI, Google or Anthropic, recognised by its fields. */
function read(fault: VendorFault, google: FaultReader): VendorFault {
  const { type, status, code } = fieldsOf(fault.error)
  if (typeof status === 'string') return google(fault)
  return typeof type === 'string' && code === undefined ? anthropicFault(fault) : fault
}

function errorIn(body: unknown): unknown {
  try {
    const parsed: unknown = JSON.parse(String(body))
    return (Object(Array.isArray(parsed) ? parsed[0] : parsed) as { error?: unknown }).error
  } catch {
    return undefined
  }
}

/** The AI SDK's settings and the request fields that set them. */
const fields: Readonly<Record<string, readonly string[]>> = {
  timestampGranularities: ['timestamp_granularities'],
  aspectRatio: ['aspect_ratio', 'aspectRatio'],
  resolution: ['resolution', 'size'],
  generateAudio: ['generate_audio', 'generateAudio'],
}

/** The fields for images. Warnings name these in free text, such as “URL-based image input”. */
const imageFields = ['input_reference', 'input_reference[image_url]', 'image_url', 'image']

/** Throws a 400 if the model warns that it ignores a field that the client sent. */
export function rejectIgnored(
  warnings: unknown,
  call: Pick<CallInfo, 'publicModel' | 'field'>,
  ignored: readonly string[],
): void {
  for (const warning of itemsOf(warnings)) {
    const { type, feature, setting } = Object(warning) as Fields
    const name = feature ?? setting
    if ((type !== 'unsupported' && type !== 'unsupported-setting') || typeof name !== 'string') continue
    const names = fields[name] ?? (/image/i.test(name) ? imageFields : [name])
    const field = names.find((each) => (call.field(each) ?? undefined) !== undefined)
    if (field !== undefined && !ignored.includes(field)) throw unsupported(call, field)
  }
}
