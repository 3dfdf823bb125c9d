/** A fake Anthropic API that rejects the same conversations as the real one, and responds with scripted blocks. */
import { vendorFor } from '../../hosted.ts'

export interface Block {
  readonly type: string
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert the fields that they read
  readonly [field: string]: any
}

export interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: string | readonly Block[]
}

export interface StrictVendor {
  readonly baseURL: string
  /** The conversations that it received, oldest first. */
  readonly conversations: Message[][]
  /** The reasons of its rejections. */
  readonly refusals: string[]
}

export interface Says {
  readonly content: readonly Block[]
  readonly stop_reason?: string
}

/** Responds with one message after the other, and repeats the last one. */
export async function strictAnthropic(answers: readonly Says[]): Promise<StrictVendor> {
  const conversations: Message[][] = []
  const refusals: string[] = []
  const signed = new Map<string, string>()
  for (const { content } of answers) {
    for (const { type, thinking, signature, data } of content) {
      if (type === 'thinking') signed.set(signature, thinking)
      if (type === 'redacted_thinking') signed.set(data, '')
    }
  }
  const vendor = await vendorFor(({ json }, response) => {
    const { messages, stream, thinking } = json as { messages: Message[]; stream?: boolean; thinking?: Block }
    conversations.push(messages)
    const refusal = fault(messages, signed, thinking?.type === 'enabled')
    if (refusal !== undefined) {
      refusals.push(refusal)
      const error = { type: 'invalid_request_error', message: refusal }
      response.writeHead(400, { 'content-type': 'application/json' })
      return void response.end(JSON.stringify({ type: 'error', error }))
    }
    const reply = answers[Math.min(conversations.length, answers.length) - 1] as Says
    const stop = reply.stop_reason ?? (reply.content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn')
    const head = { id: `msg_${conversations.length}`, type: 'message', role: 'assistant', model: 'claude' }
    const usage = { input_tokens: 1, output_tokens: 1 }
    if (stream === true) return void response.writeHead(200, sse).end(framesOf(reply.content, { ...head, usage }, stop))
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ ...head, content: reply.content, stop_reason: stop, usage }))
  })
  return { baseURL: vendor.baseURL, conversations, refusals }
}

const sse = { 'content-type': 'text/event-stream' }

/** The reason why the API rejects these messages; undefined if it accepts them. */
function fault(messages: readonly Message[], signed: ReadonlyMap<string, string>, thinks: boolean): string | undefined {
  if (messages.length === 0) return 'messages: at least one message is required'
  for (const [index, { role, content }] of messages.entries()) {
    const blocks = blocksIn(content)
    if (blocks.length === 0) return `messages.${index}: all messages must have non-empty content`
    if (messages[index - 1]?.role === role) return `messages.${index}: neighbours of one role`
    const inner = [...blocks, ...blocks.flatMap((block) => (Array.isArray(block['content']) ? block['content'] : []))]
    if (inner.some((block) => block.type === 'text' && String(block['text']).trim() === ''))
      return `messages.${index}: text content blocks must contain non-whitespace text`
    for (const block of blocks) {
      const known = signed.get(block['signature'] ?? block['data'])
      if (block.type === 'thinking' && known !== block['thinking']) return 'Invalid `signature` in `thinking` block'
      if (block.type === 'redacted_thinking' && known === undefined)
        return 'Invalid `data` in `redacted_thinking` block'
    }
    if (role === 'assistant' && isThinking(blocks.at(-1)))
      return `messages.${index}: The final block in an assistant message cannot be \`thinking\`.`
    const due = blocks.flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []))
    const next = blocksIn(messages[index + 1]?.content ?? [])
    const given = next.slice(0, due.length).map((block) => block['tool_use_id'])
    if (due.length > 0 && (due.length !== given.length || due.some((id) => !given.includes(id))))
      return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after`
    if (role === 'user' && blocks.some((block) => block.type === 'tool_result')) {
      const calls = blocksIn(messages[index - 1]?.content ?? []).map(({ id }) => id)
      if (blocks.some((block) => block.type === 'tool_result' && !calls.includes(block['tool_use_id'])))
        return `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks`
    }
  }
  const results = blocksIn(messages.at(-1)?.content ?? []).some(({ type }) => type === 'tool_result')
  if (thinks && messages.at(-1)?.role === 'assistant') return 'prefilling is not supported when thinking is enabled'
  if (thinks && results && !isThinking(blocksIn(messages.at(-2)?.content ?? [])[0]))
    return 'Expected `thinking` or `redacted_thinking`, but found `tool_use`'
  return undefined
}

export function isThinking(block: Block | undefined): boolean {
  return block?.type === 'thinking' || block?.type === 'redacted_thinking'
}

function blocksIn(content: string | readonly Block[]): readonly Block[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

function framesOf(content: readonly Block[], message: object, stop: string): string {
  const blocks = content.flatMap((block, index) => [
    { type: 'content_block_start', index, content_block: begun(block) },
    ...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ])
  return [
    { type: 'message_start', message: { ...message, content: [] } },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason: stop }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('')
}

function begun(block: Block): object {
  if (block.type === 'text') return { type: 'text', text: '' }
  if (block.type === 'thinking') return { type: 'thinking', thinking: '', signature: '' }
  return block.type === 'tool_use' ? { ...block, input: {} } : block
}

function deltasOf({ type, text, thinking, signature, input }: Block): object[] {
  if (type === 'text') return [{ type: 'text_delta', text }]
  if (type === 'tool_use') return [{ type: 'input_json_delta', partial_json: JSON.stringify(input) }]
  if (type !== 'thinking') return []
  const thought = thinking === '' ? [] : [{ type: 'thinking_delta', thinking }]
  return [...thought, { type: 'signature_delta', signature }]
}
