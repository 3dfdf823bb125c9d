/**
 * A multipart body → its parts, one after the other and no faster than they are taken. Everything that busboy leaves to
 * its user is done here: an error listener on each stream from birth, an end even where the parser announces none,
 * limits that refuse instead of cutting short, names that cannot carry a line break, nothing read behind the last line.
 */
import type { Readable } from 'node:stream'
import busboy from 'busboy'
import { GatewayError, invalid } from '../errors.ts'
import type { TextPart } from './form.ts'
import { endOf } from './inflate.ts'
import { IncomingFile, isName, malformed } from './incoming-file.ts'
import { tooLarge } from './json-body.ts'
import { LastLine } from './last-line.ts'
import type { Sizes } from './sizes.ts'

export interface Incoming {
  /** The multipart body. */
  readonly stream: Readable
  readonly boundary: string
  readonly sizes: Sizes
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal
}

export class MultipartReader {
  readonly #incoming: Incoming
  readonly #parser: busboy.Busboy
  readonly #idle: NodeJS.Timeout
  readonly #lastLine: LastLine
  #queue: (TextPart | IncomingFile)[] = []
  #wake: (() => void) | undefined
  #received = 0
  #textBytes = 0
  #over = false
  #error: unknown

  constructor(incoming: Incoming) {
    const { stream, boundary, sizes, signal } = incoming
    this.#incoming = incoming
    // A limit of busboy is reached, and silently cut off, by what is just allowed: so each is one higher here.
    const limits = {
      fieldSize: sizes.fieldBytes + 1,
      fileSize: sizes.fileBytes + 1,
      files: sizes.formFiles,
      fields: sizes.formFields,
      parts: sizes.formFiles + sizes.formFields + 1,
    }
    const headers = { 'content-type': `multipart/form-data; boundary="${boundary.replace(/["\\]/g, '\\$&')}"` }
    this.#parser = busboy({ headers, limits, defParamCharset: 'utf8' })
    this.#parser
      .on('field', (name, value, { valueTruncated }) => this.#field(name, value, valueTruncated))
      .on('file', (name, file, { filename, mimeType }) => this.#file(name, file, filename, mimeType))
      .on('filesLimit', () => this.fail(invalid(`The form has more than ${sizes.formFiles} files.`)))
      .on('fieldsLimit', () => this.fail(invalid(`The form has more than ${sizes.formFields} fields.`)))
      .on('partsLimit', () => this.fail(invalid('The form has too many parts.')))
      .on('error', (cause) => this.fail(malformed(cause)))
      .on('close', () => this.#finish(undefined))
      .on('drain', this.#flow)

    this.#lastLine = new LastLine(boundary)
    this.#idle = setTimeout(this.#tooLate, sizes.bodyIdleMs)
    this.#idle.unref()
    stream.on('error', ignore).on('data', this.#take).on('end', this.#broken).on('close', this.#left)
    signal.addEventListener('abort', this.#left)
    if (stream.isPaused()) stream.resume()
    if (stream.destroyed || signal.aborted) this.#left()
  }

  /** The next part, undefined when the form is complete. Read a file to its end, or skip it, before you ask again. */
  async next(): Promise<TextPart | IncomingFile | undefined> {
    while (this.#queue.length === 0) {
      if (this.#error !== undefined) throw this.#error
      if (this.#over) return undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.#queue.shift()
  }

  /** Ends the reading. What is still to come of the body is thrown away. */
  fail(error: unknown): void {
    if (this.#over) return
    this.#queue = []
    this.#finish(error)
    // Not at once: it may be the parser itself that has called us, and it goes on afterwards.
    process.nextTick(() => this.#parser.destroy(error as Error))
    // The connection must not be held by what nobody wants, and the answer has still to be written.
    this.#incoming.stream.resume()
  }

  readonly #take = (piece: Buffer): void => {
    this.#received += piece.length
    const { uploadBytes } = this.#incoming.sizes
    if (this.#received > uploadBytes) return this.fail(tooLarge(uploadBytes))
    this.#idle.refresh()
    const end = this.#lastLine.endIn(piece)
    if (end !== undefined) this.#ended(piece.subarray(0, end))
    else if (!this.#parser.write(piece)) this.#incoming.stream.pause()
  }

  readonly #flow = (): void => {
    if (this.#over) return
    this.#idle.refresh()
    this.#incoming.stream.resume()
  }

  /**
   * Nothing more will come: the connection may close while the last parts are still being taken. The parser is not told
   * to end, for it would wait for files that never do, but destroyed when it has read everything: that ends them all.
   */
  #ended(last: Uint8Array): void {
    clearTimeout(this.#idle)
    this.#forget()
    this.#incoming.stream.resume()
    this.#parser.off('drain', this.#flow).write(last, () => this.#parser.destroy())
  }

  readonly #broken = (): void => this.#ended(nothing)

  readonly #tooLate = (): void => {
    const { stream } = this.#incoming
    // A client that waits for somebody slower than itself is not to blame for the silence.
    if (!stream.isPaused()) this.fail(new GatewayError('request_timeout'))
  }

  readonly #left = (): void => this.fail(endOf(this.#incoming.stream))

  #field(name: string | undefined, value: string | undefined, truncated: boolean): void {
    const { sizes } = this.#incoming
    if (!isName(name)) return this.fail(badName())
    if (value === undefined) return this.fail(invalid(`The field "${name}" is not in UTF-8.`, name))
    this.#textBytes += Buffer.byteLength(value)
    if (truncated) return this.fail(fieldTooLarge(name, sizes.fieldBytes))
    if (this.#textBytes > sizes.jsonBytes) return this.fail(tooLarge(sizes.jsonBytes))
    this.#push({ name, value })
  }

  #file(name: string | undefined, stream: Readable, filename: string | undefined, mimeType: string): void {
    // Without a listener the error of a file that breaks off would end the host's process.
    stream.on('error', ignore)
    if (!isName(name)) return this.fail(badName())
    const { fileBytes } = this.#incoming.sizes
    stream.on('limit', () => this.fail(fileTooLarge(name, fileBytes)))
    this.#push(new IncomingFile(name, filename, mimeType, stream, () => this.#error))
  }

  #push(part: TextPart | IncomingFile): void {
    if (this.#over) return
    this.#queue.push(part)
    this.#awake()
  }

  #finish(error: unknown): void {
    if (this.#over) return
    this.#over = true
    this.#error = error
    clearTimeout(this.#idle)
    this.#forget()
    this.#incoming.signal.removeEventListener('abort', this.#left)
    this.#awake()
  }

  #forget(): void {
    this.#incoming.stream.off('data', this.#take).off('end', this.#broken).off('close', this.#left)
  }

  #awake(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }
}

const nothing = new Uint8Array()

function badName(): GatewayError {
  return invalid('A part of the form has no usable "name".')
}

function fieldTooLarge(name: string, bytes: number): GatewayError {
  const message = `The field "${name}" is larger than the ${bytes} bytes this server accepts.`
  return new GatewayError('request_too_large', { message, param: name })
}

function fileTooLarge(name: string, bytes: number): GatewayError {
  const message = `The file "${name}" is larger than the ${bytes} bytes this server accepts.`
  return new GatewayError('request_too_large', { message, param: name })
}

function ignore(): void {}
