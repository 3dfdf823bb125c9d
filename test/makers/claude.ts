/** A fake Anthropic API. It signs thinking, and checks conversations as the real one does, also for the newest models. */
import { anthropic } from 'modelhatch/providers'
import {
  endEvents,
  endJson,
  serveMaker,
  sign,
  thoughtOf,
  unknownKey,
  type Line,
  type Maker,
  type Sent,
} from './maker.ts'

export interface Block {
  readonly type: string
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert the fields that they read
  readonly [field: string]: any
}

/** The fields that the API accepts in each block. */
const known: Readonly<Record<string, readonly string[]>> = {
  text: ['type', 'text', 'cache_control', 'citations'],
  thinking: ['type', 'thinking', 'signature'],
  redacted_thinking: ['type', 'data'],
  tool_use: ['type', 'id', 'name', 'input', 'cache_control', 'caller'],
  tool_result: ['type', 'tool_use_id', 'content', 'is_error', 'cache_control'],
}

/** `account`: signatures are bound to it. */
export async function claude(model = 'claude-sonnet-5', account = 'claude'): Promise<Maker> {
  const maker = await serveMaker({
    fault: (body) => faultIn(body, account),
    refuse: (message) => ({
      status: 400,
      body: { type: 'error', error: { type: 'invalid_request_error', message }, request_id: 'req_1' },
    }),
    answer(response, body) {
      const content = signed(contentFor(made.says), prefixOf(body), account)
      for (const block of content) if (isThinking(block)) maker.issued.push(stateOf(block))
      const head = { id: `msg_${made.says.turn}`, type: 'message', role: 'assistant', model }
      const stop_reason = made.says.calls > 0 ? 'tool_use' : 'end_turn'
      const usage = { input_tokens: 1, output_tokens: 1 }
      const message = { ...head, content, stop_reason, stop_sequence: null, usage }
      if (body.stream === true) endEvents(response, framesOf(message))
      else endJson(response, message)
    },
  })
  const made: Maker = {
    ...maker,
    name: 'claude',
    provider: anthropic({ baseURL: maker.baseURL, apiKey: 'k' }),
    providerModel: model,
    returned: ({ messages }) =>
      messages.flatMap(({ content }: Sent) => blocksIn(content).filter(isThinking).map(stateOf)),
    says: { turn: 0, calls: 0 },
  }
  return made
}

/** What the model says, without signatures: a different arrangement of blocks from turn to turn. */
function contentFor(line: Line): Block[] {
  const { turn, calls } = line
  const thinking = (text = thoughtOf('Claude', line)) => ({ type: 'thinking', thinking: text, signature: '' })
  const text = { type: 'text', text: `Claude in turn ${turn}` }
  const uses = Array.from({ length: calls }, (_, index) => ({
    type: 'tool_use',
    id: `toolu_${turn}_${index}`,
    name: 'now',
    input: { b: turn, a: [index] },
  }))
  const redacted = { type: 'redacted_thinking', data: '' }
  const arrangements = [
    [thinking(), text, ...uses],
    [redacted, thinking(''), ...(calls === 0 ? [text] : uses)],
    [thinking(), text, thinking(`Once more in ${turn}`), ...(calls === 0 ? [{ ...text, text: 'Then.' }] : uses)],
    [text, ...uses],
    [
      thinking(),
      ...uses.slice(0, 1),
      thinking(`Between calls of ${turn}`),
      ...uses.slice(1),
      ...(calls < 2 ? [text] : []),
    ],
  ]
  return arrangements[turn % arrangements.length] as Block[]
}

/** With signatures over everything that precedes each block. */
function signed(content: readonly Block[], prefix: Sent, account: string): Block[] {
  const blocks: Block[] = []
  for (const block of content) {
    const before = sign('prefix', [prefix, blocks])
    if (block.type === 'thinking')
      blocks.push({ ...block, signature: `Eq${seal(account, block['thinking'])}.${before}` })
    else if (block.type === 'redacted_thinking') blocks.push({ ...block, data: `Ev${seal(account, '')}.${before}` })
    else blocks.push(block)
  }
  return blocks
}

function seal(account: string, thinking: string): string {
  return sign(`claude of ${account}`, thinking)
}

/** What a signature of the next message is bound to. */
function prefixOf({ system, tools, messages }: Sent): Sent {
  const turns = messages.map(({ role, content }: Sent) => ({ role, content: blocksIn(content).map(withoutMarker) }))
  return { system: blocksIn(system ?? '').map(withoutMarker), tools: (tools ?? []).map(withoutMarker), turns }
}

function withoutMarker(marked: Block): Block {
  const { cache_control: _, ...block } = marked
  const { content } = block
  if (block.type !== 'tool_result') return block
  return { ...block, content: blocksIn(content ?? []).map(withoutMarker) }
}

/** The reason why the API rejects a request; undefined if it accepts it. */
function faultIn(body: Sent, account: string): string | undefined {
  const { messages, thinking } = body
  if (messages.length === 0) return 'messages: at least one message is required'
  for (const [index, message] of messages.entries()) {
    const reason = faultOf(message, index, body, account)
    if (reason !== undefined) return reason
  }
  const end = messages.at(-1)
  const results = blocksIn(end.content).some(({ type }) => type === 'tool_result')
  if (thinking?.type === 'enabled') {
    if (end.role === 'assistant') return 'messages: prefilling is not supported when thinking is enabled'
    if (results && !isThinking(blocksIn(messages.at(-2).content)[0]))
      return `messages.${messages.length - 2}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`tool_use\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block`
  }
  return undefined
}

function faultOf(message: Sent, index: number, body: Sent, account: string): string | undefined {
  const at = `messages.${index}`
  const { messages } = body
  const blocks = blocksIn(message.content)
  if (unknownKey(message, ['role', 'content']) !== undefined) return `${at}: Extra inputs are not permitted`
  if (index === 0 && message.role !== 'user') return 'messages: first message must use the "user" role'
  if (blocks.length === 0) return `${at}: all messages must have non-empty content`
  for (const [position, block] of blocks.entries()) {
    const reason = faultOfBlock(block, message.role)
    if (reason !== undefined) return `${at}.content.${position}: ${reason}`
    const bound = boundTo(block, account)
    if (bound === 'nothing') return `${at}.content.${position}: Invalid \`signature\` in \`${block.type}\` block`
    const before = sign('prefix', [
      prefixOf({ ...body, messages: messages.slice(0, index) }),
      blocks.slice(0, position),
    ])
    if (bound !== undefined && bound !== before)
      return `${at}.content.${position}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`
  }
  if (message.role === 'assistant' && isThinking(blocks.at(-1)))
    return `${at}: The final block in an assistant message cannot be \`thinking\`.`
  const due = blocks.flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []))
  const next = blocksIn(messages[index + 1]?.content ?? [])
  const given = next.slice(0, due.length).map((block) => block['tool_use_id'])
  if (due.length !== given.filter((id) => due.includes(id)).length)
    return `${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after`
  const calls = blocksIn(messages[index - 1]?.content ?? []).map(({ id }) => id)
  if (blocks.some(({ type, tool_use_id: id }) => type === 'tool_result' && !calls.includes(id)))
    return `${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks`
  return undefined
}

function faultOfBlock(block: Block, role: string): string | undefined {
  const { type } = block
  if (unknownKey(block, known[type] ?? []) !== undefined) return `${type}: Extra inputs are not permitted`
  if (role === 'user' && (type === 'tool_use' || isThinking(block)))
    return `${type} blocks can only be in assistant messages`
  if (type === 'tool_use' && !/^[\w-]+$/.test(block['id']))
    return "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
  const inner = type === 'tool_result' ? blocksIn(block['content'] ?? []) : [block]
  const blank = inner.some(({ type: kind, text }) => kind === 'text' && text.trim() === '')
  return blank ? 'text content blocks must contain non-whitespace text' : undefined
}

/** What the signature of a block says precedes it; `nothing` if it is not of this account, or of other thinking. */
function boundTo(block: Block, account: string): string | undefined {
  if (!isThinking(block)) return undefined
  const [mark, text] = block.type === 'thinking' ? ['Eq', block['thinking']] : ['Ev', '']
  const [made, prefix = ''] = stateOf(block).split('.')
  return made === `${mark}${seal(account, text)}` ? prefix : 'nothing'
}

function stateOf({ signature, data }: Block): string {
  return signature ?? data
}

export function isThinking(block: Block | undefined): boolean {
  return block?.type === 'thinking' || block?.type === 'redacted_thinking'
}

export function blocksIn(content: string | readonly Block[]): readonly Block[] {
  return typeof content === 'string' ? (content === '' ? [] : [{ type: 'text', text: content }]) : content
}

function framesOf(message: Sent): string[] {
  const { content, stop_reason, ...head } = message
  const blocks = content.flatMap((block: Block, index: number) => [
    { type: 'content_block_start', index, content_block: begun(block) },
    ...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ])
  return [
    { type: 'message_start', message: { ...head, content: [], stop_reason: null } },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
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
