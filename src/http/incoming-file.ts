/** One file of a multipart body. */
import type { Readable } from 'node:stream'
import { invalid, type GatewayError } from '../errors.ts'
import { parseMediaType } from './media-type.ts'

/** A file while it comes. */
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

  /** The next bytes; undefined at the end. Throws what is wrong with the upload. */
  async next(): Promise<Buffer | undefined> {
    try {
      const { done, value } = await this.#pieces.next()
      return done === true ? undefined : value
    } catch (error) {
      throw this.#failure() ?? malformed(error)
    }
  }

  /** Reads what is left of the file, and throws it away: the parts behind it come only then. */
  async skip(): Promise<void> {
    while ((await this.next()) !== undefined);
  }
}

/** Control characters would end a header early where the name is written again. */
// oxlint-disable-next-line no-control-regex -- control characters are what must not stand in a name
const control = /[\x00-\x1f\x7f]/g

/** Whether a part may be called so. */
export function isName(name: string | undefined): name is string {
  return name !== undefined && name !== '' && name.length <= 256 && name.search(control) < 0
}

function cleanFilename(filename: string): string {
  return filename.replaceAll(control, '').slice(-255)
}

export function malformed(cause: unknown): GatewayError {
  return invalid('The multipart body is malformed or ends too early.', undefined, cause)
}
