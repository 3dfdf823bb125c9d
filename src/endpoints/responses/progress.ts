/**
 * What a client has been told of a response so far. It brings a provider's events into the one form: numbered without
 * gaps, one id for the response and for each item whatever the vendor does, every required field present. And it knows
 * how to end a response that cannot be completed.
 */
import type { GatewayError } from '../../errors.ts'
import { doneFrame, eventFrame } from '../../http/sse.ts'
import type { OutputItem, ResponseEvent, ResponseObject } from '../../wire/responses.ts'
import { sealed, sealedItem } from './sealing.ts'

export interface ProgressOptions {
  /** The response before anything has come of it. */
  readonly blank: ResponseObject
  /** The name of the model is the gateway's in any case. */
  readonly renamed: boolean
  /** Who made the items, and alone can read what is encrypted in them; undefined where the gateway made them. */
  readonly maker: string | undefined
  /** What the client was told while another provider was asked. */
  readonly earlier?: ResponseProgress | undefined
}

export class ResponseProgress {
  readonly #options: ProgressOptions
  #head: ResponseObject | undefined
  /** The last number the client has seen. */
  #number = -1
  /** Frames passed on unread, in which the last number stands. */
  #unread: Uint8Array | undefined
  /** What is known of each item, by `output_index`. */
  readonly #items = new Map<number, OutputItem>()
  readonly #done = new Set<number>()
  /** Events of ours stand between those of the vendor, so that its numbers are not the client's. */
  #renumbered = false
  #created = false

  constructor(options: ProgressOptions) {
    this.#options = options
    const { blank, earlier } = options
    if (earlier?.created !== true) return
    this.#number = earlier.#number
    this.#head = blank
    this.#renumbered = this.#created = true
  }

  /** The client knows the response from an event of ours. */
  get created(): boolean {
    return this.#created
  }

  /** The response as it was told last. */
  get response(): ResponseObject {
    return this.#head ?? this.#options.blank
  }

  /** Frames of deltas as the client gets them: as they came, unless their numbers have to change. */
  passed(frames: Uint8Array): Uint8Array | string {
    if (this.#renumbered) return this.#anew(frames)
    this.#unread = frames
    return frames
  }

  /** The first frames of a response of which nothing is known yet. */
  open(): string {
    this.#created = true
    this.#head = this.#options.blank
    return this.#going('response.created') + this.idle()
  }

  /** A frame for a client that has been told nothing for a while: the response goes on. */
  idle(): string {
    this.#renumbered = true
    return this.#going('response.in_progress')
  }

  #going(type: string): string {
    return eventFrame(type, { type, sequence_number: this.#next(), response: this.response })
  }

  #anew(frames: Uint8Array): string {
    const datas = Buffer.from(frames)
      .toString('utf8')
      .matchAll(/^data: ?(.*)$/gm)
    return Array.from(datas, ([, data = '']) => {
      const event = this.accept(JSON.parse(data) as ResponseEvent)
      return eventFrame(event.type, event)
    }).join('')
  }

  /** The event as it is told to the client. */
  accept(event: ResponseEvent): ResponseEvent {
    const changes: Record<string, unknown> = {}
    const { output_index: index, item, item_id: itemId, response } = event
    if (response !== undefined) changes['response'] = this.whole(response)
    if (typeof index === 'number') {
      const known = this.#items.get(index)
      if (item !== undefined) {
        const own = sealedItem(item, this.#options.maker)
        const same = known === undefined || known.id === own.id ? own : { ...own, id: known.id }
        this.#items.set(index, same)
        if (event.type === 'response.output_item.done') this.#done.add(index)
        changes['item'] = same
      } else if (itemId !== undefined && known !== undefined) changes['item_id'] = known.id
    }
    return { ...event, ...changes, sequence_number: this.#next(event.sequence_number) }
  }

  /** A response of the vendor with every field there is; the same object where nothing had to change. */
  whole(raw: ResponseObject): ResponseObject {
    const { blank, renamed } = this.#options
    const known = Object.fromEntries(Object.entries(raw).filter(([name, value]) => isGiven(name, value)))
    const whole: ResponseObject = {
      ...blank,
      ...known,
      id: this.#head?.id ?? (raw.id || blank.id),
      created_at: this.#head?.created_at ?? (raw.created_at || blank.created_at),
      model: renamed ? blank.model : raw.model || blank.model,
      output: this.#outputOf(raw),
      previous_response_id: blank.previous_response_id,
      store: blank.store,
    }
    this.#head = whole
    return isSame(whole, raw) ? raw : whole
  }

  /**
   * The frames that end a response which cannot be completed. Clients differ in which of the two events they know, and
   * in where they look for the code; the last frame says that no more will come.
   */
  failed(error: GatewayError): string {
    const { code, message, param, type } = error
    const told = { code, message, param, error: { type, code, message, param } }
    const output = [...this.#done].sort((left, right) => left - right).map((index) => this.#items.get(index))
    const response = {
      ...this.response,
      status: 'failed',
      error: { code: failureCode(error), message },
      output,
      usage: null,
    }
    return [
      eventFrame('error', { type: 'error', sequence_number: this.#next(), ...told }),
      eventFrame('response.failed', { type: 'response.failed', sequence_number: this.#next(), response }),
      doneFrame,
    ].join('')
  }

  /** Vendors that rotate ids, or leave the output of the last event empty, are held to what they said before. */
  #outputOf(raw: ResponseObject): readonly OutputItem[] {
    const { status } = raw
    const output = Array.isArray(raw.output) ? sealed(raw.output as readonly OutputItem[], this.#options.maker) : []
    if (output.length === 0 && status !== 'in_progress' && this.#done.size > 0) {
      return [...this.#done].sort((left, right) => left - right).map((index) => this.#items.get(index) as OutputItem)
    }
    const rotated = output.some((item, index) => this.#idAt(index, item) !== item.id)
    return rotated ? output.map((item, index) => ({ ...item, id: this.#idAt(index, item) })) : output
  }

  #idAt(index: number, item: OutputItem): string {
    const known = this.#items.get(index)
    return known?.type === item.type ? known.id : item.id
  }

  /** The vendor's number where it goes on upwards, else the next one. */
  #next(given?: number): number {
    if (this.#unread !== undefined) {
      const numbers = Buffer.from(this.#unread)
        .toString('latin1')
        .matchAll(/"sequence_number": ?(\d+)/g)
      for (const [, number] of numbers) this.#number = Number(number)
      this.#unread = undefined
    }
    this.#number = given !== undefined && given > this.#number ? given : this.#number + 1
    return this.#number
  }
}

/** `user` is a text or absent; OpenAI itself sends null. */
function isGiven(name: string, value: unknown): boolean {
  return value !== undefined && (name !== 'user' || typeof value === 'string')
}

function isSame(left: ResponseObject, right: ResponseObject): boolean {
  const names = Object.keys(left)
  return names.length === Object.keys(right).length && names.every((name) => left[name] === right[name])
}

/** The codes clients know from `response.failed`. */
function failureCode({ code, status }: GatewayError): string {
  if (code === 'rate_limit_exceeded' || code === 'insufficient_quota' || code === 'context_length_exceeded') return code
  return status >= 500 ? 'server_error' : 'invalid_prompt'
}
