/** A vendor that speaks: a dialect on a real socket. */
import type { ServerResponse } from 'node:http'
import type { Dialect, Heard, Refusal, Script } from './dialects/dialect.ts'
import type { VendorReply, VendorRequest } from './vendor.ts'

export interface Speaking {
  readonly reply: VendorReply
  /** What was asked so far, oldest first. */
  readonly heard: Heard[]
}

/** Answers each request as `plan` says, in the form that was asked for. */
export function speaking(dialect: Dialect, plan: (heard: Heard, request: VendorRequest) => Script): Speaking {
  const all: Heard[] = []
  return {
    heard: all,
    reply(request, response) {
      let heard: Heard
      try {
        heard = dialect.hear(request)
      } catch (error) {
        const { status, body, headers } = dialect.refusal('invalid', (error as Error).message)
        return sendJson(response, status, body, headers)
      }
      all.push(heard)
      const script = plan(heard, request)
      if (heard.stream) sendFrames(response, dialect.stream(script).frames)
      else sendJson(response, 200, dialect.whole(script))
    },
  }
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Refusal['headers'] = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}

export function sendFrames(response: ServerResponse, frames: readonly string[]): void {
  beginFrames(response).end(frames.join(''))
}

export function beginFrames(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' })
}

/** Writes a piece and waits until it has arrived on its own, as far as that can be told from here. */
export async function sendApart(response: ServerResponse, piece: string | Uint8Array): Promise<void> {
  await new Promise<void>((resolve) => response.write(piece, () => resolve()))
  // The other end is in this process: it reads in the next turns of the loop.
  await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))
}
