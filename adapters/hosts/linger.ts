/**
 * Answers to requests whose body was not read to its end. A server that closes a connection on which data still comes
 * in resets it, and the client loses the answer that lay ready for it. So the answer is sent, the client is told that
 * the connection will close, and what still comes is thrown away for a while before it does.
 */
import type { Readable } from 'node:stream'
import type { Reply, StreamBody } from '../../src/index.ts'

export interface Incoming extends Readable {
  readonly method?: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly httpVersionMajor: number
  readonly complete: boolean
}

/** Milliseconds for which a client that was answered may go on sending. */
const lingerMs = 3_000

/** A rest of at most this many bytes is waited for, and the connection used again. */
const reusableBytes = 256 * 1024

/** The reply as it must be sent while the body of the request is still on its way. */
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

/** All of the answer at once, and its end when the client is done or its time is over. */
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
