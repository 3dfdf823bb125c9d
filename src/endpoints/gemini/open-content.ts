/** Answers of generateContent whose first content, or all of it, has arrived. */
import { Verbatim, type Call, type ContentAnswer } from '../../providers/contract.ts'
import { unreadable } from '../../providers/failure.ts'
import { contentFaults } from '../../providers/content/fault.ts'
import { answeredError } from '../../providers/vendor-error.ts'
import type { GenerateContentRequest, GenerateContentResponse } from '../../wire/gemini.ts'
import type { AnswerContext } from '../chunk-answer.ts'
import { answerWithDigits } from '../digits.ts'
import { afterFirstContent } from '../first-content.ts'
import type { Open } from '../open.ts'
import { readVendor } from '../read-vendor.ts'
import { ContentCounter, finishReasonsIn, isComplete } from './content-counter.ts'

/** `isCounted`: whether the meter knows already what the events say. */
export type OpenContent = Open<object, GenerateContentResponse, { readonly isCounted: boolean }>

/** An answer of a vendor with this API, under the public name of the model. `collected`: makes one of a stream's events. */
export async function openContent(
  answer: ContentAnswer,
  call: Call<GenerateContentRequest>,
  { meter }: AnswerContext,
  collected: (answer: object) => Promise<OpenContent>,
): Promise<OpenContent> {
  if (call.stream) {
    const events = checked(Symbol.asyncIterator in answer ? answer : listed(answer), call)
    return { kind: 'stream', pieces: await afterFirstContent(events, hasContent, isAnswer), isCounted: false }
  }
  if (Symbol.asyncIterator in answer) return collected(answer)
  const counter = new ContentCounter(meter)
  const body = answerWithDigits(answer)
  readVendor(
    () => counter.count(requireAnswer(body, call)),
    () => meter.usage,
  )
  if (!isComplete(body)) throw unreadable("the vendor's response has no candidates")
  counter.ended()
  const { modelVersion } = body
  if (answer instanceof Verbatim && modelVersion === call.publicModel)
    return { kind: 'whole', body, bytes: answer.bytes }
  return { kind: 'whole', body: { ...body, modelVersion: call.publicModel } }
}

async function* listed(
  answer: GenerateContentResponse | Verbatim<GenerateContentResponse>,
): AsyncGenerator<GenerateContentResponse, void, void> {
  yield answerWithDigits(answer)
}

/** The events with the public name; throws for one that is an error. */
async function* checked(
  events: AsyncIterable<GenerateContentResponse>,
  call: Pick<Call<unknown>, 'openModel' | 'field' | 'publicModel'>,
): AsyncGenerator<GenerateContentResponse, void, void> {
  const { publicModel: modelVersion } = call
  for await (const event of events) yield { ...requireAnswer(event, call), modelVersion }
}

function requireAnswer(
  event: GenerateContentResponse,
  call: Pick<Call<unknown>, 'openModel' | 'field'>,
): GenerateContentResponse {
  const { error } = event
  if (error) throw answeredError(error, call, contentFaults)
  return event
}

function hasContent(event: GenerateContentResponse): boolean {
  return isAnswer(event) || (event.candidates ?? []).some(({ content }) => (content?.parts ?? []).length > 0)
}

function isAnswer(event: GenerateContentResponse): boolean {
  return finishReasonsIn(event).length > 0 || event.promptFeedback?.['blockReason'] !== undefined
}
