import type { ChatChunk, ChatCompletion } from '../../wire/chat.ts'

/** Splits a completion into chunks, for clients that stream from providers that do not. */
export async function* explode(completion: ChatCompletion): AsyncGenerator<ChatChunk, void, void> {
  const { id, created, model, choices, usage, object: _, ...rest } = completion
  for (const choice of choices) {
    const { tool_calls: calls, ...delta } = choice.message
    const { message: __, ...others } = choice
    const tools = calls?.map((call, index) => ({ ...call, index }))
    yield {
      ...rest,
      id,
      created,
      model,
      choices: [{ ...others, delta: { ...delta, ...(tools && { tool_calls: tools }) } }],
    }
  }
  if (usage !== undefined) yield { id, created, model, choices: [], usage }
}
