import { vendorFault } from '../read-vendor.ts'
import type { OutputItem, ResponseEvent, ResponseObject, ResponsePart } from '../../wire/responses.ts'

/** Splits a response into events, for clients that stream from providers that do not. */
export async function* eventsOfResponse(response: ResponseObject): AsyncGenerator<ResponseEvent, void, void> {
  try {
    yield* eventsOf(response)
  } catch (error) {
    throw vendorFault(error)
  }
}

function* eventsOf(response: ResponseObject): Generator<ResponseEvent> {
  const initial: ResponseObject = { ...response, status: 'in_progress', output: [], usage: null, completed_at: null }
  yield { type: 'response.created', response: initial }
  yield { type: 'response.in_progress', response: initial }
  for (const [index, item] of response.output.entries()) yield* itemEvents(item, index)
  yield { type: `response.${response.status}`, response }
}

function* itemEvents(item: OutputItem, index: number): Generator<ResponseEvent> {
  const at = { item_id: item.id, output_index: index }
  const added = (fields: object) => ({
    type: 'response.output_item.added',
    output_index: index,
    item: { ...item, ...('status' in item && { status: 'in_progress' }), ...fields },
  })
  if (item.type === 'message') {
    yield added({ content: [] })
    for (const [place, part] of (item['content'] as ResponsePart[]).entries()) {
      yield* partEvents(part, { ...at, content_index: place })
    }
  } else if (item.type === 'function_call') {
    const { name, arguments: text } = item
    yield added({ arguments: '' })
    yield { type: 'response.function_call_arguments.delta', ...at, delta: text }
    yield { type: 'response.function_call_arguments.done', ...at, name, arguments: text }
  } else yield added({})
  yield { type: 'response.output_item.done', output_index: index, item }
}

function* partEvents(part: ResponsePart, at: object): Generator<ResponseEvent> {
  if (part.type === 'output_text') {
    const { text, logprobs = [] } = part
    yield { type: 'response.content_part.added', ...at, part: { ...part, text: '', annotations: [], logprobs: [] } }
    yield { type: 'response.output_text.delta', ...at, delta: text, logprobs }
    yield { type: 'response.output_text.done', ...at, text, logprobs }
  } else yield { type: 'response.content_part.added', ...at, part }
  yield { type: 'response.content_part.done', ...at, part }
}
