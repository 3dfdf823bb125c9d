import type { ResponseRequest } from '../../../wire/responses.ts'
import type { Reading } from '../reading/reading.ts'
import { isClosed } from '../reading/closed-schema.ts'
import type { Tools } from '../reading/tools.ts'
import { inputOf } from './items.ts'

/** The least that OpenAI accepts. */
const leastTokens = 16

/** The request for the vendor `maker`. The vendor stores nothing, so it returns its reasoning encrypted. */
export function responseRequestOf(model: string, reading: Reading, maker: string): ResponseRequest {
  const { stream, turns, settings, tools, display } = reading
  const { maxTokens, effort, schema, temperature, topP, user } = settings
  const { instructions, input } = inputOf(turns, maker)
  const reasoning = { ...(effort !== undefined && { effort }), ...(display === 'shown' && { summary: 'auto' }) }
  return {
    model,
    input,
    ...(instructions !== undefined && { instructions }),
    ...(stream && { stream }),
    max_output_tokens: Math.max(leastTokens, maxTokens),
    store: false,
    include: ['reasoning.encrypted_content'],
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(Object.keys(reasoning).length > 0 && { reasoning }),
    ...(schema !== undefined && {
      text: { format: { type: 'json_schema', name: 'answer', schema, strict: isClosed(schema) } },
    }),
    ...(tools.tools.length > 0 && { tools: tools.tools.map(toolOf) }),
    ...(tools.use !== undefined && {
      tool_choice: typeof tools.use === 'string' ? tools.use : { type: 'function', ...tools.use },
    }),
    ...(tools.single && { parallel_tool_calls: false }),
    ...(user !== undefined && { user }),
  }
}

/** Without `strict`, OpenAI would enforce the schema and require all of its properties. */
function toolOf({ name, description, schema }: Tools['tools'][number]) {
  return {
    type: 'function',
    name,
    ...(description !== undefined && { description }),
    parameters: schema,
    strict: false,
  }
}
