/** Chats in OpenAI's format as a strict vendor checks and answers them. */
import type { ServerResponse } from 'node:http'
import { openai, type PresetName } from 'modelhatch/providers'
import { endEvents, endJson, serveMaker, thoughtOf, unknownKey, type Line, type Maker, type Sent } from './maker.ts'

/** A fake DeepSeek or Kimi, which expect the reasoning of tool calls back. */
export async function reasoner(preset: 'deepseek' | 'moonshot'): Promise<Maker> {
  const name = preset === 'deepseek' ? 'deepseek' : 'kimi'
  const maker = await serveMaker({
    fault: (body) => faultInChat(body, ['reasoning_content']) ?? missing[preset](body.messages),
    refuse: (message) => ({ status: 400, body: { error: { message, type: 'invalid_request_error', code: null } } }),
    answer(response, body) {
      maker.issued.push(thoughtOf(name, made.says))
      answerChat(response, body, made.says, name, thoughtOf(name, made.says))
    },
  })
  const made: Maker = {
    ...maker,
    name,
    provider: openai({ preset: preset satisfies PresetName, baseURL: maker.baseURL, apiKey: 'k' }),
    providerModel: preset === 'deepseek' ? 'deepseek-v4-pro' : 'kimi-k3',
    returned: ({ messages }) =>
      messages.flatMap(({ reasoning_content: text = '' }: Sent) => (text.startsWith(`${name} `) ? [text] : [])),
    says: { turn: 0, calls: 0 },
  }
  return made
}

/** Why each rejects messages without reasoning. Neither accepts an empty text; a space is enough. */
const missing: Readonly<Record<'deepseek' | 'moonshot', (messages: readonly Sent[]) => string | undefined>> = {
  deepseek: (messages) => {
    const said = messages.filter(({ role }) => role === 'assistant')
    const uses = said.some(({ tool_calls: calls }) => calls)
    return uses && !said.every(({ reasoning_content: text }) => typeof text === 'string' && text !== '')
      ? 'The `reasoning_content` in the thinking mode must be passed back to the API.'
      : undefined
  },
  moonshot: (messages) => {
    const at = messages.findIndex(({ tool_calls: calls, reasoning_content: text }) => calls && !text)
    return at < 0
      ? undefined
      : `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${at}`
  },
}

/** The reason why a vendor rejects a chat; undefined if it accepts it. `more`: further fields of the assistant's messages. */
export function faultInChat({ messages }: Sent, more: readonly string[]): string | undefined {
  const due = new Set<string>()
  for (const [index, message] of messages.entries()) {
    const { role, content, tool_calls: calls, tool_call_id: id } = message
    // `parsed` is of the official client.
    const own = role === 'assistant' ? ['tool_calls', 'refusal', 'parsed', ...more] : ['tool_call_id', 'name']
    const key = unknownKey(message, ['role', 'content', ...own])
    if (key !== undefined) return `Unrecognized request argument supplied: messages[${index}].${key}`
    if (role === 'tool') {
      if (!due.delete(id))
        return `messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.`
    } else if (due.size > 0)
      return `An assistant message with 'tool_calls' must be followed by tool messages: ${[...due].join()}`
    for (const call of calls ?? []) {
      if (unknownKey(call, ['id', 'type', 'function']) !== undefined)
        return `Unknown field in messages[${index}].tool_calls`
      if (unknownKey(call.function, ['name', 'arguments', 'parsed_arguments']) !== undefined)
        return 'Unknown field in function'
      due.add(call.id)
    }
    if (role === 'assistant' && !calls?.length && (content ?? '') === '') return `messages[${index}].content is empty`
  }
  return due.size === 0
    ? undefined
    : `An assistant message with 'tool_calls' must be followed by tool messages: ${[...due].join()}`
}

/** `reasoning`: in `reasoning_content`. */
export function answerChat(
  response: ServerResponse,
  { stream, model }: Sent,
  line: Line,
  name: string,
  reasoning?: string,
) {
  const { turn, calls } = line
  const toolCalls = Array.from({ length: calls }, (_, index) => ({
    id: `${name}_${turn}_${index}`,
    type: 'function',
    function: { name: 'now', arguments: JSON.stringify({ turn, index }) },
  }))
  const content = calls === 0 || turn % 2 === 0 ? `${name} in turn ${turn}` : null
  const message = { role: 'assistant', content, ...(reasoning && { reasoning_content: reasoning }) }
  const head = { id: `c${turn}`, created: 1, model }
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  const finish_reason = calls > 0 ? 'tool_calls' : 'stop'
  if (stream !== true) {
    const whole = { ...message, ...(calls > 0 && { tool_calls: toolCalls }) }
    return endJson(response, {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, finish_reason, message: whole }],
      usage,
    })
  }
  const { content: _, reasoning_content: __, ...role } = message
  const half = reasoning === undefined ? 0 : Math.floor(reasoning.length / 2)
  const deltas = [
    { ...role, content: '' },
    ...(reasoning === undefined
      ? []
      : [reasoning.slice(0, half), reasoning.slice(half)].map((text) => ({ reasoning_content: text }))),
    ...(content === null ? [] : [{ content }]),
    ...toolCalls.map((call, index) => ({ tool_calls: [{ index, ...call }] })),
  ]
  const chunks = [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason }], usage },
  ]
  const frames = chunks.map(
    (chunk) => `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...chunk })}\n\n`,
  )
  endEvents(response, [...frames, 'data: [DONE]\n\n'])
}
