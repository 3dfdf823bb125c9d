import type { Flow } from '../../http/flow.ts'
import { flowOfList } from '../../http/flow-of.ts'
import type { ChatChunk, ChatCompletion } from '../../wire/chat.ts'

/** Splits a completion into chunks, for clients that stream from providers that do not. */
export function chunksOfCompletion(completion: ChatCompletion): Flow<ChatChunk> {
  const { id, created, model, choices, usage, object: _, ...rest } = completion
  const chunks: ChatChunk[] = choices.map((choice) => {
    const { tool_calls: calls, ...delta } = choice.message
    const { message: __, ...others } = choice
    const tools = calls?.map((call, index) => ({ ...call, index }))
    return {
      ...rest,
      id,
      created,
      model,
      choices: [{ ...others, delta: { ...delta, ...(tools && { tool_calls: tools }) } }],
    }
  })
  if (usage !== undefined) chunks.push({ id, created, model, choices: [], usage })
  return flowOfList(chunks)
}
