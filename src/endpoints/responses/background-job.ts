/** One response that this process makes in the background. */
import type { DurableEnd } from '../../admission/ticket.ts'
import type { EventPlaces } from '../../admission/idempotency/recording.ts'
import { Recording } from '../../admission/idempotency/recording.ts'
import { GatewayError } from '../../errors.ts'
import { jsonReply } from '../../http/answers.ts'
import { Canceller } from '../../http/cancellation.ts'
import type { Reply, Sink, StreamBody } from '../../http/exchange.ts'
import { doneFrame, eventFrame, sseHeaders } from '../../http/sse.ts'
import type { InputItem, ResponseObject } from '../../wire/responses.ts'
import type { Continued, StoredResponse } from './archive.ts'
import { encoded, isOver, type BackgroundEnd, type BackgroundTask, type StoredJob } from './background-task.ts'
import { failureCode } from './progress.ts'

/** A sink that nothing reads. */
const unread: Sink = { write: () => true, drained: () => Promise.resolve(), end() {}, destroy() {}, closed: false }

/** Events are known by their sequence numbers. */
const bySequence: EventPlaces = { after: positionAfterNumber }

/**
 * Takes the events and the end of a response. It is as if its client read as fast as the vendor sends: clients that follow it come
 * and go. The last event is held back until the end is stored.
 */
export class BackgroundJob implements Sink {
  readonly response: ResponseObject
  /** Cancels the response, as a client does that disconnects. */
  readonly cancellation: Canceller = new Canceller()
  readonly closed = false
  /** As last stored by this process. */
  task: StoredJob
  readonly #finish: (job: BackgroundJob) => Promise<boolean>
  readonly #continued: Continued | undefined
  readonly #recording: Recording
  #made: { readonly response: ResponseObject; readonly earlier: number } | undefined
  /** The last events, which are not sent yet. */
  #held = ''
  #error: GatewayError | undefined
  #charge: DurableEnd | undefined

  /** `finish` stores the end: whether it is that of this process. Must not reject. */
  constructor(
    response: ResponseObject,
    task: StoredJob,
    settings: { readonly maxBytes: number; readonly continued: Continued | undefined },
    finish: (job: BackgroundJob) => Promise<boolean>,
  ) {
    this.response = response
    this.task = task
    this.#finish = finish
    this.#continued = settings.continued
    this.#recording = new Recording({ start() {} }, settings.maxBytes, bySequence, () => undefined)
    this.#recording.body.start(unread)
  }

  /** What the client gets at once. */
  get reply(): Reply {
    return jsonReply(this.response)
  }

  /** The events after a number, and the rest as it comes. Undefined if they are too many to be kept. */
  follow(number: number): Reply | undefined {
    const body = this.#recording.after(number)
    return body && { status: 200, headers: sseHeaders, body }
  }

  /** Takes the complete response in place of an archive. */
  async put({ response, input }: StoredResponse, newItems: readonly InputItem[]): Promise<void> {
    this.#made = { response: response as ResponseObject, earlier: input.length - newItems.length }
  }

  /** Why the response has failed. */
  failed(error: GatewayError): void {
    this.#error = error
  }

  /** What the response costs. */
  keep(charge: DurableEnd): void {
    this.#charge = charge
  }

  /** Takes the body of the reply as soon as there is one. */
  async run(serving: Promise<Reply>): Promise<void> {
    try {
      const { body } = await serving
      ;(body as StreamBody).start(this)
    } catch (error) {
      this.failed(GatewayError.from(error))
      const type = 'response.failed'
      this.write(
        eventFrame(type, { type, sequence_number: 0, response: isOver(this.response, this.#failure) }) + doneFrame,
      )
      this.end()
    }
  }

  write(piece: string | Uint8Array): boolean {
    if (this.#made === undefined) this.#recording.write(piece)
    else this.#held += typeof piece === 'string' ? piece : Buffer.from(piece).toString()
    return true
  }

  async drained(): Promise<void> {}

  destroy(): void {}

  end(): void {
    void this.#finish(this).then((isOwn) => {
      this.#recording.write(isOwn ? this.#held : doneFrame)
      this.#recording.end()
    })
  }

  /** The end to store. A response that its client has cancelled stays cancelled. */
  ended({ cancelled }: BackgroundTask): BackgroundEnd {
    if (cancelled === true || (this.#made === undefined && this.#error === undefined)) this.#held = doneFrame
    const events = this.#recording.bytes?.toString()
    const charge = this.#charge && encoded(this.#charge)
    const common = {
      ...(charge !== undefined && { charge }),
      ...(events !== undefined && { events: events + this.#held }),
    }
    const { response, earlier } = this.#made ?? { response: undefined, earlier: 0 }
    if (cancelled !== true && response !== undefined) {
      return { response, earlier, ...common, ...(this.#continued && { conversation: this.#continued }) }
    }
    return { response: isOver(this.response, cancelled === true ? undefined : this.#failure), earlier, ...common }
  }

  get #failure(): { readonly code: string; readonly message: string } {
    const error = this.#error ?? new GatewayError('server_error')
    return { code: failureCode(error), message: error.message }
  }
}

/** Where the events after a sequence number begin. */
export function positionAfterNumber(stream: Uint8Array, number: number): number {
  const bytes = Buffer.from(stream.buffer, stream.byteOffset, stream.length)
  let position = 0
  for (let at = 0, end = bytes.indexOf('\n\n'); end !== -1; at = end + 2, end = bytes.indexOf('\n\n', at)) {
    const [, data] = /^data: (\{.*)$/m.exec(bytes.toString('utf8', at, end)) ?? []
    const event = data === undefined ? {} : (JSON.parse(data) as { readonly sequence_number?: number })
    if (event.sequence_number !== undefined && event.sequence_number <= number) position = end + 2
  }
  return position
}
