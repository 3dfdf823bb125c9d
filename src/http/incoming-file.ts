import type { Readable } from 'node:stream'
import { invalid, type GatewayError } from '../errors.ts'
import { parseMediaType } from './media-type.ts'

/** A file of a multipart body that is still arriving. */
export class IncomingFile {
  readonly name: string
  readonly filename: string
  readonly type: string
  readonly #pieces: AsyncIterator<Buffer>
  readonly #failure: () => unknown

  constructor(name: string, filename: string | undefined, type: string, stream: Readable, failure: () => unknown) {
    this.name = name
    this.filename = cleanFilename(filename ?? '')
    this.type = parseMediaType(type)?.essence ?? 'application/octet-stream'
    this.#pieces = stream.iterator({ destroyOnReturn: false })
    this.#failure = failure
  }

  /** The next bytes; undefined at the end. Throws if the upload fails. */
  async next(): Promise<Buffer | undefined> {
    try {
      const { done, value } = await this.#pieces.next()
      return done === true ? undefined : value
    } catch (error) {
      throw this.#failure() ?? malformed(error)
    }
  }

  /** Discards the rest of the file, which the parser requires before it emits the next part. */
  async skip(): Promise<void> {
    while ((await this.next()) !== undefined);
  }
}

/** A line break in a name could inject a header when the form is passed on. */
// oxlint-disable-next-line no-control-regex -- the expression matches the control characters that are not allowed
const control = /[\x00-\x1f\x7f]/g

/** Whether a name is allowed for a part: not empty, at most 256 characters, no control characters. */
export function isName(name: string | undefined): name is string {
  return name !== undefined && name !== '' && name.length <= 256 && name.search(control) < 0
}

function cleanFilename(filename: string): string {
  return filename.replaceAll(control, '').slice(-255)
}

/** The error for a body that is not valid multipart. */
export function malformed(cause: unknown): GatewayError {
  return invalid('The multipart body is malformed or ends too early.', undefined, cause)
}
