/** Translation of field names in errors, for messages that are made by a chat. */
import { GatewayError } from '../../../errors.ts'
import type { MessageRequest } from '../../../wire/messages.ts'
import { withParam } from '../../param-name.ts'

const names: Readonly<Record<string, string>> = {
  max_completion_tokens: 'max_tokens',
  stop: 'stop_sequences',
  user: 'metadata.user_id',
  parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
}

/** An error of the chat with the names of the fields that the client sent; the same value if it names none of a chat. */
export function withMessageFieldNames(thrown: unknown, request: MessageRequest): unknown {
  if (!(thrown instanceof GatewayError) || thrown.param === null) return thrown
  return withParam(thrown, fieldName(thrown.param, request))
}

function fieldName(param: string, { output_config: config, output_format: format }: MessageRequest): string {
  const [root = ''] = /^\w+/.exec(param) ?? []
  // Without the rest, because the messages of a chat and those of the client have different indexes.
  if (root === 'messages' || root === 'tools' || root === 'tool_choice') return root
  if (root === 'response_format') return format ? 'output_format' : 'output_config.format'
  if (root === 'reasoning_effort') return config?.effort ? 'output_config.effort' : 'thinking'
  return Object.hasOwn(names, root) ? (names[root] as string) : param
}
