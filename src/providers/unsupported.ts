/** Rejects what a vendor cannot do, by the name of the field: nothing that a client requested is silently dropped. */
import { type GatewayError, refusedField, refusedValue } from '../errors.ts'
import type { Call } from './contract.ts'

/** What an error about a call needs of it. */
export type NamedCall = Pick<Call<unknown>, 'publicModel'>

/** Tests by field for values that have no effect. Any value of a field that is not listed has one. */
const withoutEffect: Readonly<Record<string, (value: unknown) => boolean>> = {
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

/** Throws a 400 for the first of the fields with a value that has an effect, except for those that the host ignores. */
export function refuseFields(
  call: NamedCall & { readonly request: Readonly<Record<string, unknown>> },
  fields: readonly string[],
  ignored: readonly string[] = [],
): void {
  for (const field of fields) {
    const value = call.request[field]
    if (value === undefined || value === null || ignored.includes(field)) continue
    if (!(withoutEffect[field]?.(value) ?? false)) throw unsupported(call, field)
  }
}

/** Throws a 400 if a field has a value other than `supported`. `why` names the values that are supported. */
export function refuseUnless(
  call: NamedCall & { readonly request: Readonly<Record<string, unknown>> },
  field: string,
  supported: readonly string[],
  why: string,
): void {
  const value = call.request[field]
  if (value === undefined || value === null || supported.includes(value as string)) return
  throw unsupportedValue(call, field, why)
}

/** A 400 for a field that the model does not support. */
export function unsupported(call: NamedCall, param: string): GatewayError {
  const message = `The model "${call.publicModel}" does not support "${param}".`
  return refusedField(message, param)
}

/** A 400 for a value that the model does not support. `why` names what it supports instead. */
export function unsupportedValue(call: NamedCall, param: string, why: string): GatewayError {
  const message = `The model "${call.publicModel}" does not support this value of "${param}": ${why}`
  return refusedValue(message, param)
}
