/** Translation of field names in errors, for responses that are made by a chat. */
import { GatewayError } from '../../../errors.ts'
import type { ResponseRequest } from '../../../wire/responses.ts'
import { withParam } from '../../param-name.ts'

const names: Readonly<Record<string, string>> = {
  max_tokens: 'max_output_tokens',
  max_completion_tokens: 'max_output_tokens',
  response_format: 'text.format',
  verbosity: 'text.verbosity',
  reasoning_effort: 'reasoning.effort',
}

/**
 * An error of the chat with the names of the fields that the client sent; the same value if it names none of a chat.
 */
export function withRequestFieldNames(thrown: unknown, request: ResponseRequest): unknown {
  if (!(thrown instanceof GatewayError) || thrown.param === null) return thrown
  return withParam(thrown, requestFieldName(thrown.param, request))
}

function requestFieldName(param: string, request: ResponseRequest): string {
  const [root = ''] = /^\w+/.exec(param) ?? []
  if (root === 'logprobs' || root === 'top_logprobs') return request.top_logprobs ? 'top_logprobs' : 'include'
  if (root === 'user') return request['safety_identifier'] === undefined ? 'user' : 'safety_identifier'
  // Without the rest, because messages and input items have different indexes.
  if (root === 'messages') return 'input'
  if (root === 'tools') return request.tools?.some(({ type }) => type !== 'function') ? 'tools' : flat(param)
  if (root === 'tool_choice') return flat(param)
  const name = Object.hasOwn(names, root) ? (names[root] as string) : root
  return name + param.slice(root.length).replace('.json_schema', '')
}

/** A chat nests the fields of a tool in `function`, a response does not. */
function flat(param: string): string {
  return param.replace('.function', '')
}
