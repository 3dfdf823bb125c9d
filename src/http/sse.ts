/**
 * Server-sent events, the outgoing side. Every frame is one string and so one write: readers that parse network reads
 * instead of lines exist. The data is always JSON on one line, so no value can end a frame early.
 */
import { GatewayError } from '../errors.ts'

export const sseHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream; charset=utf-8',
  // `no-transform` keeps compression middleware and proxies from holding events back.
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/** The last frame of a complete chat, completion, image or transcription stream. */
export const doneFrame = 'data: [DONE]\n\n'

/** A comment keeps proxies from cutting an idle connection. Not every client ignores it: an event of the wire is better. */
export const keepAliveFrame = ': keep-alive\n\n'

export function dataFrame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

/** A frame with an event name, as images, transcriptions and responses send them. */
export function eventFrame(name: string, value: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`
}

/** What ends a stream that cannot be completed. Never followed by `[DONE]`: clients take that for a whole answer. */
export function errorFrame(error: GatewayError): string {
  return dataFrame(error)
}
