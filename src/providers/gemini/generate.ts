/** Google's own API, for requests that are in its format. */
import { parseJson } from '../../conversation/json.ts'
import { isMediaType } from '../../http/media-type.ts'
import type { ContentPart, GenerateContentRequest, GenerateContentResponse } from '../../wire/gemini.ts'
import { isRecord } from '../../wire/json.ts'
import { readCount, readError, readJsonObject, requireSuccess } from '../answer.ts'
import type { Call, ContentAnswer, InteractionAnswer } from '../contract.ts'
import { readValues } from '../events.ts'
import type { Transfer } from '../transfer.ts'
import { messageOf } from '../vendor-error.ts'
import { forceParse } from '../yielding.ts'
import { readFault, readInteractionFault } from '../content/fault.ts'
import { noSignature } from '../content/signatures.ts'
import { collectionOf, type Vendor } from './vendor.ts'
import type { InteractionObject, InteractionRequest } from '../../wire/interactions.ts'
import { jsonBody, sentFor } from '../client.ts'

/** In the path, and not in the body. */
const withoutPath = { model: undefined, stream: undefined }

/** Asks for an answer: whole, or as events. The content type decides which it is. */
export async function generateContent(vendor: Vendor, call: Call<GenerateContentRequest>): Promise<ContentAnswer> {
  const method = call.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  const transfer = await sendSigned(vendor, call, method, (changes) => call.json({ ...withoutPath, ...changes }))
  if (isMediaType(transfer.contentType, 'text/event-stream')) return eventsIn(readValues(transfer, parseJson))
  const answer = await readJsonObject(transfer, vendor.client.answerBytes)
  return Array.isArray(answer.value) ? eventsIn([answer.value]) : (answer as ContentAnswer)
}

/** The fields that Vertex AI counts. Source: the reference of Vertex AI, countTokens. */
const counted: ReadonlySet<string> = new Set(['contents', 'systemInstruction', 'tools', 'generationConfig'])

/** Counts the tokens of a request. Source: the Gemini API reference, models.countTokens. */
export async function countContent(vendor: Vendor, call: Call<GenerateContentRequest>): Promise<number> {
  await forceParse(call)
  const { request } = call
  const transfer = await sendSigned(vendor, call, 'countTokens', (changes) => {
    const fields = Object.entries({ ...request, ...withoutPath, ...changes })
    const body = vendor.isVertex
      ? Object.fromEntries(fields.filter(([name]) => counted.has(name)))
      : { generateContentRequest: { ...Object.fromEntries(fields), model: collectionOf(call.model) } }
    return Buffer.from(JSON.stringify(body))
  })
  return readCount(transfer, vendor.client.answerBytes, 'totalTokens')
}

/**
 * Sends the request, and resends it without the signatures of earlier answers if the vendor rejects one: it accepts them
 * only for a time, and not from every other model or service of its own. `body`: with changed fields.
 */
async function sendSigned(
  vendor: Vendor,
  call: Call<GenerateContentRequest>,
  method: string,
  body: (changes: Record<string, unknown>) => Uint8Array,
): Promise<Transfer> {
  await call.prepare?.()
  const transfer = await vendor.send(call, method, body({}))
  const contents = transfer.status === 400 ? withoutSignatures(call.field('contents')) : undefined
  if (contents !== undefined && isAboutSignature(await readError(transfer)))
    return vendor.post(call, method, body({ contents }))
  await requireSuccess(transfer, call, readFault)
  return transfer
}

/** Whether an error is about a signature, as in "Corrupted thought signature." */
function isAboutSignature(error: unknown): boolean {
  return /thought.?signature/i.test(messageOf(error))
}

/** Undefined if there are none. Calls are marked as unsigned. */
function withoutSignatures(contents: unknown): unknown[] | undefined {
  if (!Array.isArray(contents)) return undefined
  let found = false
  const unsigned = contents.map((content: unknown) => {
    const parts = isRecord(content) ? content['parts'] : undefined
    if (!Array.isArray(parts) || !parts.some(isSigned)) return content
    found = true
    return {
      ...(content as object),
      parts: parts.map((part: unknown) => (isSigned(part) ? withoutSignature(part) : part)),
    }
  })
  return found ? unsigned : undefined
}

function isSigned(part: unknown): part is ContentPart {
  if (!isRecord(part)) return false
  const { thoughtSignature: signature = noSignature } = part
  return signature !== noSignature
}

function withoutSignature(part: ContentPart): ContentPart {
  const { thoughtSignature: _, ...unsigned } = part
  return 'functionCall' in part ? { ...unsigned, thoughtSignature: noSignature } : unsigned
}

/** The objects of a stream. */
export async function* eventsIn<Event extends object = GenerateContentResponse>(
  batches: AsyncIterable<unknown[]> | readonly unknown[][],
): AsyncGenerator<Event, void, void> {
  for await (const values of batches) yield* responsesIn<Event>(values)
}

function* responsesIn<Event extends object>(values: readonly unknown[]): Generator<Event, void, void> {
  for (const value of values) {
    if (value instanceof Error) throw value
    if (isRecord(value)) yield value as Event
  }
}

/** Asks for an answer: whole, or as events. Google keeps nothing of it: the gateway sends the whole conversation each time. */
export async function interact(vendor: Vendor, call: Call<InteractionRequest>): Promise<InteractionAnswer> {
  await call.prepare?.()
  const model = call.model.replace(/^models\//, '')
  const body = call.json({ model, store: false, stream: call.stream ? true : undefined })
  const transfer = await vendor.client.send({ path: '/interactions', body, headers: jsonBody, ...sentFor(call) })
  await requireSuccess(transfer, call, readInteractionFault)
  if (isMediaType(transfer.contentType, 'text/event-stream'))
    return eventsIn<InteractionObject>(readValues(transfer, parseJson))
  return (await readJsonObject(transfer, vendor.client.answerBytes)) as InteractionAnswer
}
