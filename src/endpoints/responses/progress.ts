import type { GatewayError } from '../../errors.ts'
import { doneFrame, eventFrame } from '../../http/sse.ts'
import type { OutputItem, ResponseEvent, ResponseObject } from '../../wire/responses.ts'
import { sealedItems, sealedItem } from './seal-items.ts'

export interface ProgressOptions {
  /** The response without output. */
  readonly empty: ResponseObject
  /** Whether the gateway's model name replaces the vendor's. */
  readonly renamed: boolean
  /** The vendor that made the items and can decrypt them; undefined if the gateway makes them. */
  readonly maker: string | undefined
  /** The progress of an earlier attempt for the same client. */
  readonly earlier?: ResponseProgress | undefined
}

/**
 * The events of one response, as the client receives them. Normalises a provider's events: ascending numbers,
 * constant ids of response and items, every required field. Also writes the end of a response that failed.
 */
export class ResponseProgress {
  readonly #options: ProgressOptions
  #head: ResponseObject | undefined
  /** The last sequence number sent to the client. */
  #number = -1
  /** Frames that were passed through and may contain the last sequence number. */
  #unread: Uint8Array | undefined
  /** The latest state of each item, by `output_index`. */
  readonly #items = new Map<number, OutputItem>()
  readonly #done = new Set<number>()
  /** Whether the gateway has inserted events, so that the vendor's sequence numbers must be replaced. */
  #renumbered = false
  #created = false

  constructor(options: ProgressOptions) {
    this.#options = options
    const { empty, earlier } = options
    if (earlier?.created !== true) return
    this.#number = earlier.#number
    this.#head = empty
    this.#renumbered = this.#created = true
  }

  /** Whether the gateway itself has sent `response.created`. */
  get created(): boolean {
    return this.#created
  }

  /** Whether the gateway makes the events. */
  get isTranslated(): boolean {
    return this.#options.maker === undefined
  }

  /** The response as last sent to the client. */
  get response(): ResponseObject {
    return this.#head ?? this.#options.empty
  }

  /** Frames of deltas for the client: unchanged, unless their sequence numbers must be replaced. */
  passThrough(frames: Uint8Array): Uint8Array | string {
    if (this.#renumbered) return this.#rewrite(frames)
    this.#unread = frames
    return frames
  }

  /** The first frames of a response, sent before the provider has sent anything. */
  open(): string {
    const { empty } = this.#options
    this.#created = true
    this.#head = empty
    if (empty['background'] !== true) return this.#statusFrame('response.created') + this.idle()
    this.#head = { ...empty, status: 'queued' }
    const queued = this.#statusFrame('response.created') + this.#statusFrame('response.queued')
    this.#head = empty
    this.#renumbered = true
    return queued
  }

  /** A frame that keeps the connection open. */
  idle(): string {
    this.#renumbered = true
    return this.#statusFrame('response.in_progress')
  }

  #statusFrame(type: string): string {
    return eventFrame(type, { type, sequence_number: this.#next(), response: this.response })
  }

  #rewrite(frames: Uint8Array): string {
    const datas = Buffer.from(frames)
      .toString('utf8')
      .matchAll(/^data: ?(.*)$/gm)
    return Array.from(datas, ([, data = '']) => {
      const event = this.accept(JSON.parse(data) as ResponseEvent)
      return eventFrame(event.type, event)
    }).join('')
  }

  /** A provider's event as the client receives it. */
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

  /** A vendor's response with all required fields; the same object if nothing has to change. */
  whole(raw: ResponseObject): ResponseObject {
    const { empty, renamed } = this.#options
    const known = Object.fromEntries(Object.entries(raw).filter(([name, value]) => isGiven(name, value)))
    const whole: ResponseObject = {
      ...empty,
      ...known,
      id: this.#head?.id ?? (raw.id || empty.id),
      created_at: this.#head?.created_at ?? (raw.created_at || empty.created_at),
      model: renamed ? empty.model : raw.model || empty.model,
      output: this.#outputOf(raw),
      previous_response_id: empty.previous_response_id,
      store: empty.store,
      background: empty['background'],
      ...(empty['conversation'] !== undefined && { conversation: empty['conversation'] }),
    }
    this.#head = whole
    return isSame(whole, raw) ? raw : whole
  }

  /**
   * The last frames of a response that failed. Two events, and the code in several fields, because clients differ in
   * which of them they handle.
   */
  failed(error: GatewayError): string {
    const { code, message, param, type } = error
    const details = { code, message, param, error: { type, code, message, param } }
    const output = [...this.#done].sort((left, right) => left - right).map((index) => this.#items.get(index))
    const response = {
      ...this.response,
      status: 'failed',
      error: { code: failureCode(error), message },
      output,
      usage: null,
    }
    return [
      eventFrame('error', { type: 'error', sequence_number: this.#next(), ...details }),
      eventFrame('response.failed', { type: 'response.failed', sequence_number: this.#next(), response }),
      doneFrame,
    ].join('')
  }

  /**
   * The output with the ids and items sent before, for vendors that change ids or omit the output in the last event.
   */
  #outputOf(raw: ResponseObject): readonly OutputItem[] {
    const { status } = raw
    const output = Array.isArray(raw.output)
      ? sealedItems(raw.output as readonly OutputItem[], this.#options.maker)
      : []
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

  /** The next sequence number: the vendor's if it is higher than the last one, else the last one plus 1. */
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

/** Whether a vendor's field counts. `user` must be a string, although OpenAI sends null. */
function isGiven(name: string, value: unknown): boolean {
  return value !== undefined && (name !== 'user' || typeof value === 'string')
}

function isSame(left: ResponseObject, right: ResponseObject): boolean {
  const names = Object.keys(left)
  return names.length === Object.keys(right).length && names.every((name) => left[name] === right[name])
}

/** The error codes that clients know from `response.failed`. */
export function failureCode({ code, status }: GatewayError): string {
  if (code === 'rate_limit_exceeded' || code === 'insufficient_quota' || code === 'context_length_exceeded') return code
  return status >= 500 ? 'server_error' : 'invalid_prompt'
}
