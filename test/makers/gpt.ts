/** A fake OpenAI: responses with reasoning that only its organisation can read, and chats without extra fields. */
import type { ServerResponse } from 'node:http'
import { openai } from 'modelhatch/providers'
import { answerChat, faultInChat } from './chat.ts'
import { endEvents, endJson, serveMaker, type Line, type Maker, type Sent } from './maker.ts'

/** `organisation`: it sends this key, by which the fake knows it. Without `responses`, only its chats are used. */
export async function gpt(organisation = 'k1', responses = true): Promise<Maker> {
  const maker = await serveMaker({
    fault: (body, { authorization }) =>
      body.input === undefined ? faultInChat(body, []) : faultIn(body, String(authorization)),
    refuse: (reason) => ({ status: 400, body: { error: errorOf(reason) } }),
    answer(response, body, { authorization }) {
      if (body.input === undefined) return answerChat(response, body, made.says, 'GPT')
      const output = outputFor(made.says, String(authorization))
      for (const { encrypted_content: opaque } of output) if (opaque !== undefined) maker.issued.push(opaque)
      answer(response, body, made.says, output)
    },
  })
  const made: Maker = {
    ...maker,
    name: 'gpt',
    provider: openai({ preset: 'openai', baseURL: maker.baseURL, apiKey: organisation, responses }),
    providerModel: 'gpt-5',
    returned: ({ input = [] }) =>
      input.flatMap(({ encrypted_content: opaque }: Sent) => (opaque === undefined ? [] : [opaque])),
    says: { turn: 0, calls: 0 },
  }
  return made
}

function errorOf(message: string): object {
  const code = /could not be verified/.test(message) ? 'invalid_encrypted_content' : null
  return { message, type: 'invalid_request_error', param: 'input', code }
}

/** The encrypted content names its organisation and the item that follows it. */
function encrypted(organisation: string, turn: number, next: string): string {
  return `gAAAA${Buffer.from(JSON.stringify({ organisation, turn, next })).toString('base64url')}`
}

/** In every third turn, reasoning comes in two items. */
function outputFor({ turn, calls }: Line, organisation: string): Sent[] {
  const functionCalls = Array.from({ length: calls }, (_, index) => ({
    type: 'function_call',
    id: `fc_${turn}_${index}`,
    call_id: `gpt_${turn}_${index}`,
    name: 'now',
    arguments: JSON.stringify({ turn, index }),
    status: 'completed',
  }))
  const content = [{ type: 'output_text', text: `GPT in turn ${turn}`, annotations: [], logprobs: [] }]
  const message = { type: 'message', id: `msg_${turn}`, role: 'assistant', status: 'completed', content }
  const reasoning = (part: number, next: string) => ({
    type: 'reasoning',
    id: `rs_${turn}_${part}`,
    summary: part === 0 ? [{ type: 'summary_text', text: `GPT thinks in turn ${turn}` }] : [],
    encrypted_content: encrypted(organisation, turn, next),
  })
  if (calls === 0) return [reasoning(0, 'message'), message]
  if (turn % 3 !== 0) return [reasoning(0, `gpt_${turn}_0`), ...functionCalls]
  return [reasoning(0, 'message'), message, reasoning(1, `gpt_${turn}_0`), ...functionCalls]
}

function answer(response: ServerResponse, { stream, model }: Sent, { turn }: Line, output: Sent[]): void {
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  const whole = { id: `resp_${turn}`, object: 'response', created_at: 1, status: 'completed', model, output, usage }
  if (stream !== true) return endJson(response, whole)
  const events = [
    { type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } },
    ...output.flatMap((item, index) => [
      { type: 'response.output_item.added', output_index: index, item: { ...item, ...begun(item) } },
      ...deltasOf(item).map((event) => ({ ...event, output_index: index, item_id: item.id })),
      { type: 'response.output_item.done', output_index: index, item },
    ]),
    { type: 'response.completed', response: whole },
  ]
  const frames = events.map((event, at) => ({ ...event, sequence_number: at }))
  endEvents(
    response,
    frames.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
  )
}

function begun({ type }: Sent): object {
  if (type === 'function_call') return { arguments: '', status: 'in_progress' }
  return type === 'message' ? { content: [], status: 'in_progress' } : { summary: [] }
}

function deltasOf({
  type,
  arguments: text,
  content,
  summary = [],
}: Sent): { type: string; [field: string]: unknown }[] {
  const head = 'response.'
  if (type === 'function_call') {
    return [
      { type: `${head}function_call_arguments.delta`, delta: text },
      { type: `${head}function_call_arguments.done`, arguments: text },
    ]
  }
  if (type === 'message') {
    const [part] = content
    return [
      { type: `${head}content_part.added`, content_index: 0, part: { ...part, text: '' } },
      { type: `${head}output_text.delta`, content_index: 0, delta: part.text, logprobs: [] },
      { type: `${head}output_text.done`, content_index: 0, text: part.text, logprobs: [] },
      { type: `${head}content_part.done`, content_index: 0, part },
    ]
  }
  return summary.flatMap((part: Sent, at: number) => [
    { type: `${head}reasoning_summary_part.added`, summary_index: at, part: { ...part, text: '' } },
    { type: `${head}reasoning_summary_text.delta`, summary_index: at, delta: part.text },
    { type: `${head}reasoning_summary_text.done`, summary_index: at, text: part.text },
    { type: `${head}reasoning_summary_part.done`, summary_index: at, part },
  ])
}

/** The reason why the API rejects the items; undefined if it accepts them. */
function faultIn({ input, store, previous_response_id: previous }: Sent, organisation: string): string | undefined {
  if (previous !== undefined) return `Previous response with id '${previous}' not found.`
  if (typeof input === 'string') return undefined
  const called = new Set<string>()
  for (const [index, item] of input.entries()) {
    const { type = 'message', id, call_id: call } = item
    if (id !== undefined && store === false)
      return `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false.`
    if (type === 'reasoning') {
      const reason = faultInReasoning(item, index, input, organisation)
      if (reason !== undefined) return reason
    } else if (type === 'function_call') called.add(call)
    else if (type === 'function_call_output') {
      if (!called.delete(call)) return `No tool call found for function call output with call_id ${call}.`
    } else if (item.role !== 'assistant' && called.size > 0) {
      return `No tool output found for function call ${[...called][0]}.`
    }
  }
  return called.size === 0 ? undefined : `No tool output found for function call ${[...called][0]}.`
}

function decrypted(opaque: string): Sent {
  try {
    return JSON.parse(Buffer.from(opaque.replace(/^gAAAA/, ''), 'base64url').toString())
  } catch {
    return undefined
  }
}

function faultInReasoning(item: Sent, index: number, input: readonly Sent[], organisation: string): string | undefined {
  const { summary, content = [], encrypted_content: opaque } = item
  if (!Array.isArray(summary)) return `Missing required parameter: 'input[${index}].summary'.`
  if (content.length > 0)
    return `Invalid 'input[${index}].content': array too long. Expected an array with maximum length 0, but got an array with length ${content.length} instead.`
  if (opaque === undefined) return `Item of type 'reasoning' needs 'encrypted_content' when \`store\` is set to false.`
  const known = decrypted(opaque)
  if (known?.organisation !== organisation)
    return 'The encrypted content could not be verified. Reason: Encrypted content could not be decrypted or parsed.'
  const { next } = known
  const after = input.slice(index + 1).find(({ type }: Sent) => type !== 'reasoning')
  const isIt = after?.call_id === next || (next === 'message' && after?.role === 'assistant')
  return isIt && after.type !== 'function_call_output'
    ? undefined
    : "Item 'rs_1' of type 'reasoning' was provided without its required following item."
}
