import type { Readable } from 'node:stream'
import type { Reply, StreamBody } from '../../src/index.ts'

export interface Incoming extends Readable {
  readonly method?: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly httpVersionMajor: number
  readonly complete: boolean
}

/** Milliseconds for which the connection stays open for a client that is still sending. */
const lingerMs = 3_000

/** Bodies of at most this size are read to their end, so that the connection can be reused. */
const reusableBytes = 256 * 1024

/**
 * Adapts a reply that is sent before the request body has arrived completely. If a server closes a connection while data
 * still arrives, TCP resets it and the client may lose the response. So the response is sent with `connection: close`, and
 * the rest of the body is discarded for a while before the connection closes.
 */
export function linger(request: Incoming, reply: Reply): Reply {
  // HTTP/2 resets one stream and keeps the connection: nothing to do.
  if (request.complete || request.httpVersionMajor !== 1) return reply
  request.resume()
  const { status, body } = reply
  if (typeof body !== 'string' || request.method === 'HEAD') return reply
  if (Number(request.headers['content-length']) <= reusableBytes && status !== 408) return reply
  const headers = { ...reply.headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' }
  return { status, headers, body: lingering(request, body) }
}

/** Sends the body at once and ends the response when the client has sent everything, or after `lingerMs`. */
function lingering(request: Readable, body: string): StreamBody {
  return {
    start(sink) {
      sink.write(body)
      const end = () => {
        clearTimeout(timer)
        request.off('end', end).off('close', end)
        sink.end()
      }
      const timer = setTimeout(end, lingerMs)
      timer.unref()
      request.on('end', end).on('close', end)
      if (request.readableEnded || request.destroyed) end()
    },
  }
}
