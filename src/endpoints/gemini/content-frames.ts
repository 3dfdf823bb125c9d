/** The frames of a streamed answer: events, or the items of one JSON list. */
import type { GatewayError } from '../../errors.ts'
import { googleError } from '../../http/google-error.ts'
import type { Flow } from '../../http/flow.ts'
import { FrameWriter } from '../../http/mapped-flow.ts'
import { unreadable } from '../../providers/failure.ts'
import type { GenerateContentResponse } from '../../wire/gemini.ts'
import type { AnswerContext } from '../chunk-answer.ts'
import { streamOf } from '../open.ts'
import { readVendor } from '../read-vendor.ts'
import { ContentCounter } from './content-counter.ts'
import type { OpenContent } from './open-content.ts'
import type { StreamForm } from './request.ts'

/** The frames of an answer; they fail if it ends before every candidate has. */
export function contentFrames(
  answer: OpenContent,
  { meter }: AnswerContext,
  form: StreamForm,
): Flow<string | Uint8Array> {
  const { pieces, isCounted } = streamOf(answer)
  return new ContentFrames(pieces, isCounted ? undefined : new ContentCounter(meter), form)
}

class ContentFrames extends FrameWriter<GenerateContentResponse> {
  readonly #counter: ContentCounter | undefined
  readonly #form: StreamForm

  constructor(events: Flow<GenerateContentResponse>, counter: ContentCounter | undefined, form: StreamForm) {
    super(events)
    this.#counter = counter
    this.#form = form
  }

  protected print(event: GenerateContentResponse): string {
    readVendor(() => this.#counter?.count(event))
    return frameOf(event, this.#form)
  }

  protected end(): string {
    if (this.#counter?.isComplete === false)
      throw unreadable("the vendor's stream ended before the response was complete")
    this.#counter?.ended()
    if (!this.#form.isList) return ''
    return this.#form.isOpen ? ']' : '[]'
  }
}

/** One event; Google's clients expect the line ends of its API. */
function frameOf(value: object, form: StreamForm): string {
  const text = JSON.stringify(value)
  if (!form.isList) return `data: ${text}\r\n\r\n`
  const before = form.isOpen ? ',\r\n' : '['
  form.isOpen = true
  return before + text
}

/** The last frame of a stream that failed. */
export function failedFrame(error: GatewayError, form: StreamForm): string {
  const frame = frameOf(googleError(error), form)
  return form.isList ? `${frame}]` : frame
}

/** An event without content, because clients read no comments; between the items of a list, white space. */
export function idleFrame(model: string, form: StreamForm): string {
  if (form.isList) return ' '
  const candidates = [{ content: { role: 'model', parts: [{ text: '' }] }, index: 0 }]
  return frameOf({ candidates, modelVersion: model }, form)
}
