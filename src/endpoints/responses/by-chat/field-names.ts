/** A refusal of the chat that a response was made by, in the names of the fields that the client has sent. */
import { GatewayError } from '../../../errors.ts'
import { ProviderError } from '../../../providers/failure.ts'
import type { ResponseRequest } from '../../../wire/responses.ts'

const names: Readonly<Record<string, string>> = {
  max_tokens: 'max_output_tokens',
  max_completion_tokens: 'max_output_tokens',
  response_format: 'text.format',
  verbosity: 'text.verbosity',
  reasoning_effort: 'reasoning.effort',
}

/** What was thrown, if it names no field of a chat. */
export function withOwnNames(thrown: unknown, request: ResponseRequest): unknown {
  if (!(thrown instanceof GatewayError) || thrown.param === null) return thrown
  const param = ownName(thrown.param, request)
  if (param === thrown.param) return thrown
  const message = thrown.message.replaceAll(`"${thrown.param}"`, `"${param}"`)
  const { code, cause, shouldRetry, headers } = thrown
  const details = { message, param, cause, headers, ...(shouldRetry !== undefined && { shouldRetry }) }
  if (!(thrown instanceof ProviderError)) return new GatewayError(code, details)
  const { retry, begun, vendorWaitMs, vendorStatus } = thrown
  return new ProviderError(code, {
    ...details,
    retry,
    begun,
    vendorWaitMs,
    ...(vendorStatus !== undefined && { vendorStatus }),
  })
}

function ownName(param: string, request: ResponseRequest): string {
  const [root = ''] = /^\w+/.exec(param) ?? []
  if (root === 'logprobs' || root === 'top_logprobs') return request.top_logprobs ? 'top_logprobs' : 'include'
  if (root === 'user') return request['safety_identifier'] === undefined ? 'user' : 'safety_identifier'
  // Places among them are other ones here.
  if (root === 'messages') return 'input'
  if (root === 'tools') return request.tools?.some(({ type }) => type !== 'function') ? 'tools' : flat(param)
  if (root === 'tool_choice') return flat(param)
  const name = Object.hasOwn(names, root) ? (names[root] as string) : root
  return name + param.slice(root.length).replace('.json_schema', '')
}

/** A chat nests what a response has flat. */
function flat(param: string): string {
  return param.replace('.function', '')
}
