import { interactionsDialect } from '../../../src/testing/dialects/interactions.ts'
import type { Answer, Block, Json } from '../feature.ts'
import { data, endOf, pieces, usageOf, type Wire } from './wire.ts'

const statuses = {
  stop: 'completed',
  tools: 'requires_action',
  length: 'incomplete',
  filter: 'failed',
  refusal: 'failed',
  sequence: 'completed',
}

const head = { id: 'v1_scripted', object: 'interaction', created: '2023-11-14T22:13:20Z' }

/** Google's `interactions`. */
export const interactions: Wire = {
  serves: (path) => path.endsWith('/interactions'),
  errors: interactionsDialect,
  body: (answer, model) => ({ ...ended(answer, model), steps: answer.blocks.flatMap(stepOf) }),
  frames: (answer, model) => [
    event('interaction.created', { interaction: { ...head, model, status: 'in_progress' } }),
    ...answer.blocks
      .flatMap(stepOf)
      .flatMap((step, index) => [
        event('step.start', { index, step: startOf(step) }),
        ...deltasOf(step, answer).map((delta) => event('step.delta', { index, delta })),
        event('step.stop', { index }),
      ]),
    event('interaction.completed', { interaction: ended(answer, model) }),
    'event: done\ndata: [DONE]\n\n',
  ],
}

function stepOf({ text, reasoning, state = 'c2lnbmVk', call, cites }: Block): Json[] {
  if (call) return [{ type: 'function_call', id: call.id, name: call.name, arguments: argsOf(call.input) }]
  if (reasoning !== undefined)
    return [{ type: 'thought', summary: [{ type: 'text', text: reasoning }], signature: state }]
  if (text === undefined) return []
  const cited = {
    type: 'url_citation',
    url: cites,
    title: 'A page',
    start_index: 0,
    end_index: Buffer.byteLength(text),
  }
  return [
    { type: 'model_output', content: [{ type: 'text', text, ...(cites !== undefined && { annotations: [cited] }) }] },
  ]
}

function argsOf(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

function startOf({ type, id, name }: Json): Json {
  return type === 'function_call' ? { type, id, name, arguments: {} } : { type }
}

function deltasOf({ type, content, summary, signature, arguments: input }: Json, answer: Answer): Json[] {
  if (type === 'function_call')
    return pieces(JSON.stringify(input), answer).map((piece) => ({ type: 'arguments_delta', arguments: piece }))
  if (type === 'thought')
    return [
      ...pieces(summary[0].text, answer).map((text) => ({ type: 'thought_summary', content: { type: 'text', text } })),
      { type: 'thought_signature', signature },
    ]
  const [{ text, annotations }] = content
  return [
    ...pieces(text, answer).map((piece) => ({ type: 'text', text: piece })),
    ...(annotations === undefined ? [] : [{ type: 'text_annotation_delta', annotations }]),
  ]
}

function ended(answer: Answer, model: string): Json {
  const usage = usageOf(answer)
  const { input = 0, cached, output = 0, reasoning = 0 } = usage ?? {}
  return {
    ...head,
    model,
    status: statuses[endOf(answer)],
    ...(usage && {
      usage: {
        total_input_tokens: input,
        total_cached_tokens: cached,
        total_output_tokens: output - reasoning,
        total_thought_tokens: reasoning,
        total_tokens: input + output,
      },
    }),
  }
}

function event(type: string, fields: object): string {
  return data({ event_type: type, ...fields }, type)
}
