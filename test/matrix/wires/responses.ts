import { openaiDialect } from '../../../src/testing/dialects/openai.ts'
import type { Answer, Block, Json } from '../feature.ts'
import { cited, created, data, endOf, pieces, usageOf, type Wire } from './wire.ts'

/** OpenAI's responses. */
export const responses: Wire = {
  serves: (path) => path.endsWith('/responses'),
  errors: {
    errorReply: openaiDialect.errorReply,
    errorFrame: (message) => data({ type: 'error', code: 'server_error', message, param: null }, 'error'),
  },
  body: (answer, model) => whole(answer, model),
  frames: (answer, model) => {
    const response = whole(answer, model)
    const begun = { ...response, status: 'in_progress', incomplete_details: null, output: [], usage: null }
    const events: Json[] = [
      { type: 'response.created', response: begun },
      { type: 'response.in_progress', response: begun },
      ...response.output.flatMap((item, index) => itemEvents(item, index, answer)),
      { type: response.status === 'incomplete' ? 'response.incomplete' : 'response.completed', response },
    ]
    return events.map((event, sequence_number) => data({ ...event, sequence_number }, event.type))
  },
}

function whole(answer: Answer, model: string) {
  const end = endOf(answer)
  const reason = end === 'length' ? 'max_output_tokens' : end === 'filter' ? 'content_filter' : undefined
  const status = reason === undefined ? 'completed' : 'incomplete'
  return {
    id: 'resp_scripted',
    object: 'response',
    created_at: created,
    status,
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    model,
    output: answer.blocks.map((block, index) => itemOf(block, index, status)),
    ...usageIn(answer),
  }
}

function itemOf(block: Block, index: number, status: string): Json {
  const { text, refusal, reasoning, state, call } = block
  if (call) {
    const { id, name, input } = call
    return { id: `fc_scripted${index}`, type: 'function_call', status, call_id: id, name, arguments: input }
  }
  if (reasoning !== undefined) {
    const summary = reasoning === '' ? [] : [{ type: 'summary_text', text: reasoning }]
    return { id: `rs_scripted${index}`, type: 'reasoning', summary, ...(state && { encrypted_content: state }) }
  }
  const annotations = cited(block).map((citation) => ({ type: 'url_citation', ...citation }))
  const part =
    refusal === undefined ? { type: 'output_text', text, annotations, logprobs: [] } : { type: 'refusal', refusal }
  return { id: `msg_scripted${index}`, type: 'message', status, role: 'assistant', content: [part] }
}

function itemEvents(item: Json, output_index: number, answer: Answer): Json[] {
  const at = { item_id: item.id, output_index }
  const frame = (begun: object, events: readonly Json[]) => [
    { type: 'response.output_item.added', output_index, item: { ...item, ...begun } },
    ...events,
    { type: 'response.output_item.done', output_index, item },
  ]
  const text = (kind: string, name: string, value: string, place: object) => [
    ...pieces(value, answer).map((delta) => ({ type: `response.${kind}.delta`, ...place, delta })),
    { type: `response.${kind}.done`, ...place, [name]: value },
  ]
  if (item.type === 'function_call') {
    const events = text('function_call_arguments', 'arguments', item.arguments, at)
    return frame({ status: 'in_progress', arguments: '' }, events)
  }
  if (item.type === 'reasoning') {
    const events = item.summary.flatMap((part: Json, summary_index: number) => {
      const place = { ...at, summary_index }
      return [
        { type: 'response.reasoning_summary_part.added', ...place, part: { ...part, text: '' } },
        ...text('reasoning_summary_text', 'text', part.text, place),
        { type: 'response.reasoning_summary_part.done', ...place, part },
      ]
    })
    return frame({ summary: [] }, events)
  }
  const [part] = item.content
  const place = { ...at, content_index: 0 }
  const [kind, name] = part.type === 'refusal' ? (['refusal', 'refusal'] as const) : (['output_text', 'text'] as const)
  const empty = { ...part, [name]: '', ...(part.annotations && { annotations: [] }) }
  return frame({ status: 'in_progress', content: [] }, [
    { type: 'response.content_part.added', ...place, part: empty },
    ...text(kind, name, part[name], place),
    ...(part.annotations ?? []).map((annotation: Json, annotation_index: number) => {
      return { type: 'response.output_text.annotation.added', ...place, annotation_index, annotation }
    }),
    { type: 'response.content_part.done', ...place, part },
  ])
}

function usageIn(answer: Answer): object {
  const usage = usageOf(answer)
  if (usage === undefined) return { usage: null }
  const { input, cached, written, output, reasoning } = usage
  return {
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached, ...(written > 0 && { cache_write_tokens: written }) },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + output,
    },
  }
}
