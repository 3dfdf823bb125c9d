/** What a vendor cannot do is refused by the name of the field; nothing a client asked for is dropped in silence. */
import { GatewayError } from '../errors.ts'
import type { Call } from './contract.ts'
import type { ChatRequest } from '../wire/chat.ts'

type Named = Pick<Call<unknown>, 'publicModel'>

/** Values that ask for nothing, by field. Any other field asks for something as soon as it is there. */
const asksNothing: Readonly<Record<string, (value: unknown) => boolean>> = {
  n: (value) => value === 1,
  logprobs: (value) => value === false,
  top_logprobs: (value) => value === 0,
  frequency_penalty: (value) => value === 0,
  presence_penalty: (value) => value === 0,
  logit_bias: (value) => Object.keys(Object(value) as object).length === 0,
  modalities: (value) => Array.isArray(value) && value.every((each) => each === 'text'),
  verbosity: (value) => value === 'medium',
  service_tier: (value) => value === 'auto' || value === 'default',
  functions: (value) => Array.isArray(value) && value.length === 0,
  function_call: (value) => value === 'none' || value === 'auto',
  parallel_tool_calls: (value) => value === true,
  web_search_options: () => false,
}

/** Throws 400 for the first of the fields that asks for something, unless the host chose to let it fall. */
export function refuseFields(
  call: Named & { readonly request: ChatRequest },
  fields: readonly string[],
  ignored: readonly string[] = [],
): void {
  for (const field of fields) {
    const value = call.request[field]
    if (value === undefined || value === null || ignored.includes(field)) continue
    if (!(asksNothing[field]?.(value) ?? false)) throw unsupported(call, field)
  }
}

/** Throws 400 where a field of the request holds anything but these values. */
export function refuseUnless(
  call: Named & { readonly request: Readonly<Record<string, unknown>> },
  field: string,
  taken: readonly string[],
  why: string,
): void {
  const value = call.request[field]
  if (value === undefined || value === null || taken.includes(value as string)) return
  throw unsupportedValue(call, field, why)
}

/** 400: the model has nothing like this field. */
export function unsupported(call: Named, param: string): GatewayError {
  const message = `The model "${call.publicModel}" does not support "${param}".`
  return new GatewayError('unsupported_parameter', { param, message })
}

/** 400: the model has the field, but not for this value. `why` says what it takes instead. */
export function unsupportedValue(call: Named, param: string, why: string): GatewayError {
  const message = `The model "${call.publicModel}" does not support this value of "${param}": ${why}`
  return new GatewayError('unsupported_value', { param, message })
}
