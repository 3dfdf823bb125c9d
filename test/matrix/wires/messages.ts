import { anthropicDialect } from '../../../src/testing/dialects/anthropic.ts'
import type { Answer, Block, Json } from '../feature.ts'
import { data, endOf, pieces, usageOf, type Wire } from './wire.ts'

const reasons = {
  stop: 'end_turn',
  tools: 'tool_use',
  length: 'max_tokens',
  filter: 'refusal',
  refusal: 'refusal',
  sequence: 'stop_sequence',
}

/** Anthropic's messages. */
export const messages: Wire = {
  serves: (path) => path.endsWith('/messages'),
  errors: anthropicDialect,
  body: (answer, model) => {
    return { ...head(model), content: answer.blocks.flatMap(blockOf), ...stopOf(answer), usage: usageIn(answer) }
  },
  frames: (answer, model) => {
    const event = (type: string, fields: object = {}) => data({ type, ...fields }, type)
    const { output_tokens, output_tokens_details, ...input } = usageIn(answer)
    const { stop_details, ...stop } = stopOf(answer)
    const blocks = answer.blocks
      .flatMap(blockOf)
      .flatMap((block, index) => [
        event('content_block_start', { index, content_block: emptied(block) }),
        ...deltasOf(block, answer).map((delta) => event('content_block_delta', { index, delta })),
        event('content_block_stop', { index }),
      ])
    const begun = { ...head(model), content: [], stop_reason: null, stop_sequence: null }
    return [
      event('message_start', { message: { ...begun, usage: { ...input, output_tokens: 1 } } }),
      event('ping'),
      ...blocks,
      event('message_delta', {
        delta: { ...stop, ...(stop_details && { stop_details }) },
        usage: { output_tokens, output_tokens_details },
      }),
      event('message_stop'),
    ]
  },
}

const head = (model: string) => ({ id: 'msg_scripted', type: 'message', role: 'assistant', model })

function blockOf({ text, cites, reasoning, state, call }: Block): Json[] {
  if (call) return [{ type: 'tool_use', id: call.id, name: call.name, input: inputOf(call.input) }]
  if (reasoning === '') return [{ type: 'redacted_thinking', data: state }]
  if (reasoning !== undefined) return [{ type: 'thinking', thinking: reasoning, signature: state ?? 'c2lnbmVk' }]
  if (text === undefined) return []
  const citation = { type: 'web_search_result_location', url: cites, title: 'A page', encrypted_index: 'SW5kZXg=' }
  return [{ type: 'text', text, ...(cites !== undefined && { citations: [{ ...citation, cited_text: text }] }) }]
}

/** What is no JSON occurs in streams only: there it is sent as it is. */
function inputOf(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return { raw: text }
  }
}

function emptied(block: Json): Json {
  if (block.type === 'thinking') return { ...block, thinking: '', signature: '' }
  if (block.type === 'tool_use') return { ...block, input: {} }
  return block.type === 'text' ? { type: 'text', text: '', ...(block.citations && { citations: [] }) } : block
}

function deltasOf({ type, text, citations = [], thinking, signature, input }: Json, answer: Answer): Json[] {
  if (type === 'text') {
    const deltas = pieces(text, answer).map((piece) => ({ type: 'text_delta', text: piece }))
    return [...citations.map((citation: Json) => ({ type: 'citations_delta', citation })), ...deltas]
  }
  if (type === 'thinking') {
    const deltas = pieces(thinking, answer).map((piece) => ({ type: 'thinking_delta', thinking: piece }))
    return [...deltas, { type: 'signature_delta', signature }]
  }
  if (type !== 'tool_use') return []
  const json = input.raw ?? (Object.keys(input).length === 0 ? '' : JSON.stringify(input))
  return ['', ...pieces(json, answer)].map((piece) => ({ type: 'input_json_delta', partial_json: piece }))
}

function stopOf(answer: Answer): { stop_reason: string; stop_sequence: string | null; stop_details?: object } {
  const end = endOf(answer)
  const explanation = answer.blocks.find(({ refusal }) => refusal !== undefined)?.refusal
  return {
    stop_reason: reasons[end],
    stop_sequence: end === 'sequence' ? 'END' : null,
    ...(explanation !== undefined && { stop_details: { type: 'refusal', category: 'cyber', explanation } }),
  }
}

function usageIn(answer: Answer) {
  const { input, cached, written, output, reasoning } = usageOf(answer) ?? {
    input: 0,
    cached: 0,
    written: 0,
    output: 0,
  }
  return {
    input_tokens: input - cached - written,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
    cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
    service_tier: 'standard',
    output_tokens: output,
    output_tokens_details: { thinking_tokens: reasoning ?? 0 },
  }
}
