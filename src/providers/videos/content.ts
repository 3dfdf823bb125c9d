/** The bytes of a finished video. */
import { GatewayError } from '../../errors.ts'
import { requireFile, requireSuccess } from '../answer.ts'
import type { Transfer } from '../transfer.ts'
import type { VideoContent } from '../video.ts'

export async function contentOf(transfer: Transfer): Promise<VideoContent> {
  requireFound(transfer)
  if (transfer.status !== 206 && transfer.status !== 416) await requireSuccess(transfer)
  if (transfer.status !== 416) requireFile(transfer)
  const headers: Record<string, string> = {}
  for (const name of ['content-type', 'content-length', 'content-range', 'accept-ranges']) {
    const value = transfer.header(name)
    if (value !== undefined) headers[name] = value
  }
  return { status: transfer.status, headers, body: transfer }
}

/** Throws `not_found` for a job that the vendor does not know, as opposed to a 503 for a vendor that is unavailable. */
export function requireFound(transfer: Transfer): void {
  if (transfer.status === 404 || transfer.status === 410) throw transfer.fail(new GatewayError('not_found'))
}

/** The given bytes, or the range of them that the header selects. Video players send such requests. */
export function ranged(bytes: Buffer, range: string | undefined, type = 'video/mp4'): VideoContent {
  const headers = { 'content-type': type, 'accept-ranges': 'bytes' }
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? []
  const whole = from === '' && to === ''
  const start = from === '' ? Math.max(bytes.length - Number(to), 0) : Number(from)
  const end = from === '' || to === '' ? bytes.length - 1 : Math.min(Number(to), bytes.length - 1)
  if (whole || start > end) {
    return { status: 200, headers: { ...headers, 'content-length': String(bytes.length) }, body: once(bytes) }
  }
  const part = bytes.subarray(start, end + 1)
  const position = { 'content-range': `bytes ${start}-${end}/${bytes.length}`, 'content-length': String(part.length) }
  return { status: 206, headers: { ...headers, ...position }, body: once(part) }
}

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
}
