/**
 * A multipart body as a sequence of parts, with back-pressure. Adds what busboy leaves to its caller: error listeners
 * on every stream, an end in every case, limits that reject instead of truncating, names without line breaks, and no
 * parsing after the closing boundary.
 */
import busboy from 'busboy'
import type { Readable } from 'node:stream'
import { GatewayError, invalid } from '../errors.ts'
import type { TextPart } from './form.ts'
import { discard, endOf } from './inflate.ts'
import { IncomingFile, isName, malformed } from './incoming-file.ts'
import { tooLarge } from './json-body.ts'
import type { Sizes } from './sizes.ts'
import { ignore } from './ignore.ts'

/** A multipart body to be read. */
export interface Incoming {
  /** The multipart body. */
  readonly stream: Readable
  readonly boundary: string
  readonly sizes: Sizes
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
}

/** Reads the parts of a multipart body. */
export class MultipartReader {
  readonly #incoming: Incoming
  readonly #parser: busboy.Busboy
  readonly #idle: NodeJS.Timeout
  readonly #lastLine: ClosingBoundary
  #queue: (TextPart | IncomingFile)[] = []
  #wake: (() => void) | undefined
  #received = 0
  #textBytes = 0
  #over = false
  #error: unknown

  constructor(incoming: Incoming) {
    const { stream, boundary, sizes, signal } = incoming
    this.#incoming = incoming
    // busboy truncates, and reports a limit as soon as it is reached, not only when it is exceeded: hence the `+ 1`.
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

    this.#lastLine = new ClosingBoundary(boundary)
    this.#idle = setTimeout(this.#tooLate, sizes.bodyIdleMs)
    this.#idle.unref()
    stream.on('error', ignore).on('data', this.#take).on('end', this.#onEnd).on('close', this.#onClose)
    signal.addEventListener('abort', this.#onClose)
    if (stream.isPaused()) stream.resume()
    if (stream.destroyed || signal.aborted) this.#onClose()
  }

  /**
   * The next part; undefined when the form is complete. Read a file to its end, or skip it, before the next call.
   * Throws if the upload fails.
   */
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

  /** Ends reading with this error, and discards the rest of the body. */
  fail(error: unknown): void {
    if (this.#over) return
    this.#queue = []
    this.#finish(error)
    // Later, because the caller may be the parser itself, which continues after its callback.
    process.nextTick(() => this.#parser.destroy(error as Error))
    discard(this.#incoming.stream)
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
   * Handles the end of the body; the connection may close while the last parts are still being read. The parser is
   * destroyed once it has parsed everything: `end()` would wait for incomplete files forever, `destroy()` ends them.
   */
  #ended(last: Uint8Array): void {
    clearTimeout(this.#idle)
    this.#removeListeners()
    discard(this.#incoming.stream)
    this.#parser.off('drain', this.#flow).write(last, () => this.#parser.destroy())
  }

  readonly #onEnd = (): void => this.#ended(nothing)

  readonly #tooLate = (): void => {
    const { stream } = this.#incoming
    // While the stream is paused, it is our reader that is slow and not the client.
    if (!stream.isPaused()) this.fail(new GatewayError('request_timeout'))
  }

  readonly #onClose = (): void => this.fail(endOf(this.#incoming.stream))

  #field(name: string | undefined, value: string | undefined, truncated: boolean): void {
    const { sizes } = this.#incoming
    if (!isName(name)) return this.fail(badName())
    if (value === undefined) return this.fail(invalid(`The field "${name}" is not in UTF-8.`, name))
    this.#textBytes += Buffer.byteLength(value)
    if (truncated) return this.fail(partTooLarge('field', name, sizes.fieldBytes))
    if (this.#textBytes > sizes.jsonBytes) return this.fail(tooLarge(sizes.jsonBytes))
    this.#push({ name, value })
  }

  #file(name: string | undefined, stream: Readable, filename: string | undefined, mimeType: string): void {
    // Without a listener, the error of a truncated file would crash the host's process.
    stream.on('error', ignore)
    if (!isName(name)) return this.fail(badName())
    const { fileBytes } = this.#incoming.sizes
    stream.on('limit', () => this.fail(partTooLarge('file', name, fileBytes)))
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
    this.#removeListeners()
    this.#incoming.signal.removeEventListener('abort', this.#onClose)
    this.#awake()
  }

  #removeListeners(): void {
    this.#incoming.stream.off('data', this.#take).off('end', this.#onEnd).off('close', this.#onClose)
  }

  #awake(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }
}

const nothing = new Uint8Array()

function badName(): GatewayError {
  return invalid('A part of the form has no valid "name": give it 1 to 256 characters without control characters.')
}

function partTooLarge(kind: 'field' | 'file', name: string, bytes: number): GatewayError {
  const message = `The ${kind} "${name}" is larger than the ${bytes} bytes this server accepts.`
  return new GatewayError('request_too_large', { message, param: name })
}

/** Finds the closing boundary of a multipart body, after which busboy would go on parsing. */
class ClosingBoundary {
  readonly #line: Buffer
  /** The last bytes received, one fewer than the boundary line has. */
  #before: Buffer = Buffer.from('\r\n')

  constructor(boundary: string) {
    this.#line = Buffer.from(`\r\n--${boundary}--`)
  }

  /** The offset after the boundary line in the next piece of the body; undefined if it has not arrived yet. */
  endIn(piece: Buffer): number | undefined {
    const line = this.#line
    const seam = Buffer.concat([this.#before, piece.subarray(0, line.length)])
    const across = seam.indexOf(line)
    if (across >= 0) return across + line.length - this.#before.length
    const inside = piece.indexOf(line)
    if (inside >= 0) return inside + line.length
    this.#before = (piece.length < line.length ? seam : piece).subarray(1 - line.length)
    return undefined
  }
}
