/**
 * Serializes a form as a multipart body, part by part as it is pulled. Names are escaped, and the boundary is random,
 * so that no value can inject a header or a part.
 */
import { randomUUID } from 'node:crypto'
import { isFile, type FilePart, type Form, type FormPart, type TextPart } from './form.ts'

/** A serialized form. */
export interface FormBody {
  readonly contentType: string
  /** Bytes; undefined for a form that is passed on while it arrives. */
  readonly length: number | undefined
  readonly bytes: AsyncIterable<Uint8Array>
}

/** The multipart body for a form. A form that is kept has a known length. */
export async function formBody(form: Form): Promise<FormBody> {
  const boundary = `modelhatch-${randomUUID()}`
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    length: form.kept ? await lengthOf(form.parts(), boundary) : undefined,
    bytes: written(form.parts(), boundary),
  }
}

async function* written(parts: AsyncIterable<FormPart>, boundary: string): AsyncGenerator<Uint8Array> {
  for await (const part of parts) {
    if (isFile(part)) {
      yield Buffer.from(fileHead(part, boundary))
      yield* part.bytes
      yield Buffer.from('\r\n')
    } else yield Buffer.from(textPart(part, boundary))
  }
  yield Buffer.from(lastLine(boundary))
}

async function lengthOf(parts: AsyncIterable<FormPart>, boundary: string): Promise<number> {
  let length = Buffer.byteLength(lastLine(boundary))
  for await (const part of parts) {
    if (isFile(part)) length += Buffer.byteLength(fileHead(part, boundary)) + (part.size ?? 0) + 2
    else length += Buffer.byteLength(textPart(part, boundary))
  }
  return length
}

function textPart({ name, value }: TextPart, boundary: string): string {
  return `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"\r\n\r\n${value}\r\n`
}

function fileHead({ name, filename, type }: FilePart, boundary: string): string {
  // Vendors take a part without a file name for a text field.
  const disposition = `form-data; name="${escaped(name)}"; filename="${escaped(filename || 'file')}"`
  return `--${boundary}\r\nContent-Disposition: ${disposition}\r\nContent-Type: ${type}\r\n\r\n`
}

function lastLine(boundary: string): string {
  return `--${boundary}--\r\n`
}

/**
 * Percent-encoded as browsers do it (https://html.spec.whatwg.org/#multipart-form-data), and backslashes too, which
 * some parsers interpret.
 */
function escaped(name: string): string {
  return name.replaceAll(/["\\\r\n]/g, encodeURIComponent)
}
