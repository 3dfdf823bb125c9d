/** Reading a multipart body from the socket, within limits, or from what the host's own body parser left of it. */
import { Readable } from 'node:stream'
import { GatewayError, invalid } from '../errors.ts'
import { parserError } from './body.ts'
import { header, type Exchange, type PresetExchange } from './exchange.ts'
import { inflated } from './inflate.ts'
import { tooLarge } from './json-body.ts'
import { parseMediaType } from './media-type.ts'
import { MultipartReader } from './multipart.ts'
import type { Sizes } from './sizes.ts'
import { UploadedForm, type FormRules } from './uploaded-form.ts'

const multipartType = /^multipart\/form-data *(?:;|$)/i

/**
 * Reads a multipart form, or the beginning of one that is passed on while it arrives. Throws 400 (malformed, or against
 * the rules), 408 (stopped arriving), 413 (too large), 415 (other media type).
 */
export async function readForm(exchange: Exchange, sizes: Sizes, rules: FormRules): Promise<UploadedForm> {
  const boundary = boundaryOf(exchange)
  const declared = Number(header(exchange, 'content-length') ?? 0)
  if (declared > sizes.uploadBytes) throw tooLarge(sizes.uploadBytes)
  const source = streamOf(exchange)
  // A host's parser that kept the bytes has already decompressed them.
  const stream = exchange.body.state === 'unread' ? inflated(exchange, source, sizes) : source
  const reader = new MultipartReader({ stream, boundary, sizes, signal: exchange.signal })
  return UploadedForm.read(reader, preset(rules, exchange), sizes)
}

/** Rules that also fill in the presets of the exchange. */
function preset(rules: FormRules, { presets }: PresetExchange): FormRules {
  if (presets === undefined) return rules
  const { fixed, defaults } = presets
  const fill = (form: UploadedForm, whole: boolean) => {
    for (const [name, value] of Object.entries(fixed)) form.set(name, value)
    if (!whole) return
    for (const [name, value] of Object.entries(defaults)) if (!form.fields.get(name)?.[0]) form.set(name, value)
  }
  return {
    passOn: (form) => (fill(form, false), rules.passOn(form)),
    check: (form, whole) => (fill(form, whole), rules.check(form, whole)),
  }
}

/** Whether a request declares a multipart form. */
export function isForm(exchange: Exchange): boolean {
  return multipartType.test(header(exchange, 'content-type') ?? '')
}

function boundaryOf(exchange: Exchange): string {
  if (!isForm(exchange)) {
    const message = 'This endpoint takes "Content-Type: multipart/form-data".'
    throw new GatewayError('unsupported_media_type', { message })
  }
  const boundary = parseMediaType(header(exchange, 'content-type') ?? '')?.parameters.get('boundary') ?? ''
  if (/^[\x20-\x7e]{1,200}$/.test(boundary)) return boundary
  throw invalid('The content type has no valid "boundary". Let your HTTP client set the header for a multipart body.')
}

function streamOf({ body }: Exchange): Readable {
  switch (body.state) {
    case 'unread':
      // If the host called `setEncoding`, the stream yields text, and the bytes of the files are lost.
      if (body.stream.readableEncoding === null) return body.stream
      break
    case 'text':
      if (body.text instanceof Uint8Array) return Readable.from([body.text])
      break
    case 'failed':
      throw parserError(body.status, 'We could not parse the multipart body of your request.')
    default:
  }
  throw invalid(
    'Another parser of the server consumed the form before it reached this endpoint. ' +
      'Mount the gateway before the parser of multipart bodies.',
  )
}
