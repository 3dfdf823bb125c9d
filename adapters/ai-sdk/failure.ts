/** What a model of the AI SDK throws, and what it warns of → what our caller is told. Its own words stay here. */
import { GatewayError } from '../../src/errors.ts'
import { readFault as anthropicFault } from '../../src/providers/anthropic/fault.ts'
import type { Call } from '../../src/providers/contract.ts'
import { ProviderError, unavailable } from '../../src/providers/failure.ts'
import { readFault as googleFault } from '../../src/providers/gemini/fault.ts'
import { isRecord } from '../../src/providers/reading/parts.ts'
import { unsupported } from '../../src/providers/unsupported.ts'
import { vendorError, waitOf, type VendorFault } from '../../src/providers/vendor-error.ts'

type Fields = Readonly<Record<string, unknown>>

export function failureOf(thrown: unknown, call: Call<unknown>): unknown {
  if (call.signal.aborted) return call.signal.reason
  if (GatewayError.is(thrown)) return thrown
  const error = Object(thrown) as Fields
  const name = typeof error['name'] === 'string' ? error['name'] : ''
  const cause = new Error(
    `the model of the AI SDK failed: ${/^AI_\w+$/.test(name) ? name : 'an error of unknown kind'}`,
  )
  switch (name) {
    case 'AI_APICallError':
      return calledError(error, call)
    case 'AI_UnsupportedFunctionalityError':
      return new GatewayError('unsupported_value', { cause })
    case 'AI_InvalidPromptError':
    case 'AI_InvalidArgumentError':
      return new GatewayError('invalid_request_error', { cause })
    case 'AI_NoSuchModelError':
      if (!call.openModel) return unavailable('next', cause, { begun: false })
      return new ProviderError('model_not_found', { retry: 'next', cause, begun: false })
    default:
      return unavailable('same', cause)
  }
}

/** The vendor's answer is kept with the error, in the vendor's own form. */
function calledError(error: Fields, call: Call<unknown>): ProviderError {
  const { statusCode, responseHeaders, responseBody } = error
  const status = typeof statusCode === 'number' ? statusCode : 503
  // An answer that could not be read is no answer, whatever its status.
  if (status < 400) return unavailable('same', new Error(`the vendor’s answer of status ${status} could not be read`))
  const headers = isRecord(responseHeaders) ? responseHeaders : {}
  const waitMs = waitOf((name) => (typeof headers[name] === 'string' ? headers[name] : undefined))
  const fault = { status, error: errorIn(responseBody), waitMs, openModel: call.openModel, sent: call.field }
  return vendorError(read(fault))
}

/** Told by its form, whose error it is. */
function read(fault: VendorFault): VendorFault {
  const { type, status, code } = isRecord(fault.error) ? fault.error : {}
  if (typeof status === 'string') return googleFault(fault)
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

/** Settings of the AI SDK by the names our callers know. */
const fields: Readonly<Record<string, string>> = {
  topP: 'top_p',
  topK: 'top_k',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  maxOutputTokens: 'max_tokens',
  stopSequences: 'stop',
  responseFormat: 'response_format',
  toolChoice: 'tool_choice',
  reasoning: 'reasoning_effort',
  timestampGranularities: 'timestamp_granularities',
}

/** Throws 400 for a setting that the model will not heed, if the client sent it. */
export function refuseUnheeded(warnings: unknown, call: Call<unknown>, ignored: readonly string[]): void {
  for (const warning of Array.isArray(warnings) ? warnings : []) {
    const { type, feature, setting } = Object(warning) as Fields
    const name = feature ?? setting
    if ((type !== 'unsupported' && type !== 'unsupported-setting') || typeof name !== 'string') continue
    const field = fields[name] ?? name
    const value = call.field(field) ?? undefined
    if (value !== undefined && !ignored.includes(field)) throw unsupported(call, field)
  }
}
