/** Reading a multipart body: from the wire within limits, or from what an earlier parser of the host left of it. */
import { Readable } from 'node:stream'
import { GatewayError, invalid } from '../errors.ts'
import { refusedBy, requireNoEncoding } from './body.ts'
import { header, type Exchange } from './exchange.ts'
import { tooLarge } from './json-body.ts'
import { parseMediaType } from './media-type.ts'
import { MultipartReader } from './multipart.ts'
import type { Sizes } from './sizes.ts'
import { UploadedForm, type FormRules } from './uploaded-form.ts'

const multipartType = /^multipart\/form-data *(?:;|$)/i

/** Throws 400 (malformed, or not as the rules want it), 408 (does not arrive), 413 (too large), 415 (other media type). */
export async function readForm(exchange: Exchange, sizes: Sizes, rules: FormRules): Promise<UploadedForm> {
  const boundary = boundaryOf(exchange)
  requireNoEncoding(exchange)
  const declared = Number(header(exchange, 'content-length') ?? 0)
  if (declared > sizes.uploadBytes) throw tooLarge(sizes.uploadBytes)
  const reader = new MultipartReader({ stream: streamOf(exchange), boundary, sizes, signal: exchange.signal })
  return UploadedForm.read(reader, rules, sizes)
}

export function isForm(exchange: Exchange): boolean {
  return multipartType.test(header(exchange, 'content-type') ?? '')
}

function boundaryOf(exchange: Exchange): string {
  if (!isForm(exchange)) {
    const message = 'This endpoint takes "Content-Type: multipart/form-data", without a content encoding.'
    throw new GatewayError('unsupported_media_type', { message })
  }
  const boundary = parseMediaType(header(exchange, 'content-type') ?? '')?.parameters.get('boundary') ?? ''
  if (/^[\x20-\x7e]{1,200}$/.test(boundary)) return boundary
  throw invalid('The content type has no usable "boundary". Let your HTTP client set the header for a multipart body.')
}

function streamOf({ body }: Exchange): Readable {
  switch (body.state) {
    case 'unread':
      // Text, where the host has called `setEncoding`: the bytes of the files are not in it any more.
      if (body.stream.readableEncoding === null) return body.stream
      break
    case 'text':
      if (body.text instanceof Uint8Array) return Readable.from([body.text])
      break
    case 'failed':
      throw refusedBy(body.status, 'We could not parse the multipart body of your request.')
    default:
  }
  throw invalid(
    'The form was read by another parser of the server before it reached this endpoint, and its files are gone. ' +
      'Mount the gateway before the parser of multipart bodies.',
  )
}
