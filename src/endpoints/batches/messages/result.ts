/** The results of a batch, as the vendor has them and as its client gets them. */
import { parseJson } from '../../../conversation/json.ts'
import { bareMaker } from '../../../formats/envelope.ts'
import { thinkingMakerOf } from '../../../formats/messages/thinking-maker.ts'
import { renamed } from '../../../providers/messages/frames.ts'
import { safeErrorText } from '../../../providers/messages/safe-error-text.ts'
import { fieldsOf, stringOf, type Fields } from '../../../wire/json.ts'
import type { Message } from '../../../wire/messages.ts'
import { sealedMessage } from '../../messages/seal-thinking.ts'
import { indexOf, vendorId, type BatchLine, type BatchModel, type StoredBatch } from '../batch-task.ts'

export interface Result {
  /** The number of the request. */
  readonly index: number
  readonly result: Fields
  /** The whole line as the vendor sent it. */
  readonly text: string
}

/** The result in a line of the vendor; undefined if it belongs to no request of the batch. */
export function resultIn({ data }: Pick<StoredBatch, 'data'>, line: Uint8Array): Result | undefined {
  const text = Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString('utf8')
  const { custom_id: id, result } = fieldsOf(parseJson(text))
  const index = indexOf(data, data.lines ?? [], id)
  return index === undefined ? undefined : { index, result: fieldsOf(result), text }
}

/** A line of results for the client: the vendor's text where nothing but names must change. */
export function clientLine({ data }: StoredBatch, { index, result, text }: Result): string {
  const { id, m } = (data.lines ?? [])[index] as BatchLine
  const model = data.models[m] as BatchModel
  const { type, message } = result
  if (type === 'succeeded') {
    const maker = thinkingMakerOf(model.providerModel)
    const named = maker === bareMaker ? renamedText(text, message, model) : undefined
    const vendor = JSON.stringify(vendorId(data, index))
    // Two ids would leave open which of them is the request's.
    if (named !== undefined && named.split(vendor).length === 2) return named.replace(vendor, () => JSON.stringify(id))
    const sealed = maker === bareMaker ? (message as Message) : sealedMessage(message as Message, maker)
    return JSON.stringify({ custom_id: id, result: { type, message: { ...sealed, model: model.name } } })
  }
  if (type !== 'errored') return JSON.stringify({ custom_id: id, result: { type } })
  return JSON.stringify({
    custom_id: id,
    result: { type, error: errorIn(fieldsOf(result['error']), model, data.attempt) },
  })
}

/** All results for the client, each with a newline. `source`: the lines of the vendor; undefined if it has none. */
export async function* clientLines(
  batch: StoredBatch,
  source: AsyncIterable<Uint8Array> | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  if (source === undefined) {
    const type = batch.data.cancelledAt === undefined ? 'errored' : 'canceled'
    for (const index of (batch.data.lines ?? []).keys()) {
      yield Buffer.from(`${clientLine(batch, { index, result: { type }, text: '' })}\n`)
    }
    return
  }
  for await (const line of source) {
    const result = resultIn(batch, line)
    if (result !== undefined) yield Buffer.from(`${clientLine(batch, result)}\n`)
  }
}

/** The same pieces, once the first is there: an error before it is that of the request. */
export async function begun(pieces: AsyncGenerator<Uint8Array, void, void>): Promise<AsyncIterable<Uint8Array>> {
  const first = await pieces.next()
  return (async function* () {
    if (first.done === true) return
    yield first.value
    yield* pieces
  })()
}

function renamedText(text: string, message: unknown, { name, providerModel }: BatchModel): string | undefined {
  const model = fieldsOf(message)['model']
  return name === providerModel && model === name ? text : renamed(text, model, name)
}

function errorIn(given: Fields, { name, providerModel }: BatchModel, id: string): object {
  const error = fieldsOf(given['error'] ?? given)
  const type = stringOf(error['type']) ?? 'api_error'
  const message = safeErrorText(error, providerModel, name) ?? 'The vendor could not make this message.'
  return { type: 'error', error: { type, message }, request_id: id }
}
