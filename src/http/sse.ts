/**
 * Serialization of server-sent events. Each frame is one write, because some clients parse network reads instead of
 * lines. The data is JSON on one line, so that no value can end a frame early.
 */
import { GatewayError } from '../errors.ts'

/** Response headers of an event stream. */
export const sseHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream; charset=utf-8',
  // `no-transform` keeps compression middleware and proxies from holding events back.
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/** The last frame of a complete chat, completion, image or transcription stream. */
export const doneFrame = 'data: [DONE]\n\n'

/** A comment that keeps proxies from closing an idle connection. Some clients reject comments: prefer a real event. */
export const keepAliveFrame = ': keep-alive\n\n'

/** A frame without an event name. */
export function dataFrame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

/** A frame with an event name, as images, transcriptions and responses use. */
export function eventFrame(name: string, value: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`
}

/** The last frame of a stream that failed. `[DONE]` must not follow: clients would take the response for complete. */
export function errorFrame(error: GatewayError): string {
  return dataFrame(error)
}

/** Frames one after the other: as text if both are. */
export function joinedFrames(left: string | Uint8Array, right: string | Uint8Array): string | Uint8Array {
  if (typeof left === 'string' && typeof right === 'string') return left + right
  if (left.length === 0 || right.length === 0) return left.length === 0 ? right : left
  return Buffer.concat([left, right].map((frames) => (typeof frames === 'string' ? Buffer.from(frames) : frames)))
}
