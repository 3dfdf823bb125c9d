/** One call on its way: what its client has sent and got, until that is read and packed. */
import { fieldsOf, type Fields } from '../../wire/json.ts'
import { parseJson } from '../../conversation/json.ts'
import { copied, type BodyCopy } from '../../http/copied-body.ts'
import type { Reply } from '../../http/exchange.ts'
import type { OpenForm } from '../../http/form.ts'
import { parseMediaType } from '../../http/media-type.ts'
import type { Receipt } from '../../money/receipt.ts'
import type { ContentReading, LoggedAnswer, LoggedContent } from './content.ts'
import { MediaNotes } from './media.ts'
import { NotedForm } from './noted-form.ts'

/** Where a call is written to. */
export interface CallSink {
  /** Bytes from which on media are not kept. */
  readonly mediaBytes: number
  readonly reading: ContentReading
  /** Whether there is room for so many further bytes, which then count until they are given back. */
  takes(bytes: number): boolean
  gives(bytes: number): void
  /** The call has ended. */
  add(call: LoggedCall): void
  dropped(call: LoggedCall, why: Error): void
}

export class LoggedCall implements BodyCopy {
  readonly id: string
  readonly media: MediaNotes
  readonly #sink: CallSink
  #request: (() => Uint8Array) | undefined
  #form: NotedForm | undefined
  #type = ''
  #pieces: (string | Uint8Array)[] = []
  #size = 0
  #receipt: Receipt | undefined
  #isWhole = false
  /** Whether it does not go into the log, or no longer. */
  #isOver = false

  /** `request`: its fields in JSON, called at the end; `size`: the bytes that it holds in memory until then. */
  constructor(id: string, sink: CallSink, request: () => Uint8Array, size: number) {
    this.id = id
    this.#sink = sink
    this.#request = request
    this.media = new MediaNotes(sink.mediaBytes)
    this.#hold(size)
  }

  received(receipt: Receipt): void {
    this.#receipt = receipt
  }

  /** The form to read in place of this one. */
  noted(form: OpenForm): OpenForm {
    this.#form = new NotedForm(form)
    return this.#form
  }

  /** The reply to send in place of this one. */
  answered({ status, headers, body }: Reply): Reply {
    this.#type = headers['content-type'] ?? ''
    if (typeof body === 'string' || body instanceof Uint8Array) {
      this.took(body)
      this.ended(true)
      return { status, headers, body }
    }
    return { status, headers, body: copied(body, this) }
  }

  /** There is no answer: the client gets an error, which the receipt has. */
  failed(): void {
    this.ended(false)
  }

  took(piece: string | Uint8Array): void {
    if (!this.#isOver && this.#hold(sizeOf(piece))) this.#pieces.push(piece)
  }

  ended(whole: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#isWhole = whole
    this.#sink.add(this)
  }

  /** What is kept of it. Rejects if that is more than `maxBytes`. Must be called once. */
  async content(maxBytes: number): Promise<LoggedContent> {
    if (this.#receipt === undefined) throw new Error('the call has no receipt')
    const request = await this.#bounded(this.#request?.() ?? Buffer.of(), maxBytes)
    const fields = { ...fieldsOf(parseJson(request.toString('utf8'))), ...this.#files() }
    const asked = this.#sink.reading.request(this.#receipt.endpoint, fields)
    const answer = await this.#answer(this.#receipt, maxBytes)
    const { media } = this
    const kept = { request: media.named(asked), answer: media.named(answer) }
    return { ...factsOf(this.#receipt), isWhole: this.#isWhole, ...kept, media: media.list }
  }

  /** Lets go of everything. */
  release(): void {
    this.#isOver = true
    this.#sink.gives(this.#size)
    this.#size = 0
    this.#request = undefined
    this.#pieces = []
  }

  /** The references of the files in a form, by the names of their fields. */
  #files(): Fields {
    const files: Record<string, string[]> = {}
    for (const { name, digest, type, bytes } of this.#form?.files ?? [])
      (files[name] ??= []).push(this.media.note(digest, type, bytes))
    return files
  }

  async #answer({ endpoint }: Receipt, maxBytes: number): Promise<LoggedAnswer> {
    if (this.#pieces.length === 0) return {}
    const pieces = this.#pieces.map(asBuffer)
    const bytes = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)
    const type = parseMediaType(this.#type)?.essence ?? ''
    if (!/^text\/|[/+]json$/.test(type)) return { body: await this.media.file(bytes, type) }
    const { reading } = this.#sink
    const text = (await this.#bounded(bytes, maxBytes)).toString('utf8')
    if (type === 'text/event-stream') return reading.events(endpoint, text, this.#isWhole)
    return type.endsWith('json') ? reading.answer(endpoint, valueIn(text)) : { body: text }
  }

  async #bounded(bytes: Uint8Array, maxBytes: number): Promise<Buffer> {
    const light = await this.media.lightened(asBuffer(bytes))
    if (light.length > maxBytes) throw new Error(`it has more than ${maxBytes} bytes ("content.maxBytes")`)
    return light
  }

  #hold(bytes: number): boolean {
    if (this.#sink.takes(bytes)) {
      this.#size += bytes
      return true
    }
    this.release()
    this.#sink.dropped(this, new Error('the calls that wait to be written have too many bytes ("content.queueBytes")'))
    return false
  }
}

/** A list of events that was cut has no end. */
function valueIn(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return text
  }
}

/** Of memory, with what the piece takes beside its content. Characters may take two bytes. */
function sizeOf(piece: string | Uint8Array): number {
  return (typeof piece === 'string' ? 2 : 1) * piece.length + 128
}

function asBuffer(bytes: string | Uint8Array): Buffer {
  if (typeof bytes === 'string') return Buffer.from(bytes)
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

type Facts = Omit<LoggedContent, 'isWhole' | 'request' | 'answer' | 'media'>

function factsOf(receipt: Receipt): Facts {
  const { id, endpoint, model, account, group, key, user, session, stream } = receipt
  const { outcome, code, provider, providerModel, startedAt: at } = receipt
  const known = { key, user, session, code, provider, providerModel }
  const given = Object.entries(known).filter(([, value]) => value !== undefined)
  return { id, endpoint, model, account, group, ...Object.fromEntries(given), stream, outcome, at }
}
