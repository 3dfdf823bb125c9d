/** Translation of field names in errors, for messages that are made by a response. */
import { GatewayError } from '../../../errors.ts'
import type { MessageRequest } from '../../../wire/messages.ts'
import { withParam } from '../../param-name.ts'

const names: Readonly<Record<string, string>> = {
  input: 'messages',
  instructions: 'system',
  max_output_tokens: 'max_tokens',
  user: 'metadata.user_id',
  parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
}

/** An error of the response with the names of the fields that the client sent; the same value if it names none. */
export function withMessageFieldNames(thrown: unknown, request: MessageRequest): unknown {
  if (!(thrown instanceof GatewayError) || thrown.param === null) return thrown
  return withParam(thrown, fieldName(thrown.param, request))
}

function fieldName(param: string, { output_config: config, output_format: format }: MessageRequest): string {
  const [root = ''] = /^\w+/.exec(param) ?? []
  if (root === 'tools' || root === 'tool_choice') return root
  if (root === 'text') return format ? 'output_format' : 'output_config.format'
  if (root === 'reasoning') return config?.effort ? 'output_config.effort' : 'thinking'
  return Object.hasOwn(names, root) ? (names[root] as string) : param
}
