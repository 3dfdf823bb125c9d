/** Ways to write a vendor's response, as JSON or as event-stream frames. */
import type { ServerResponse } from 'node:http'

export function sendJson(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}

export function sendFrames(response: ServerResponse, frames: readonly string[]): void {
  beginFrames(response).end(frames.join(''))
}

export function beginFrames(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' })
}

/** Writes a piece so that the gateway reads it separately from the next one. Best effort: the kernel may still join them. */
export async function sendSeparately(response: ServerResponse, piece: string | Uint8Array): Promise<void> {
  await new Promise<void>((resolve) => response.write(piece, () => resolve()))
  // The reader is in this process, so it runs in the next turns of the event loop.
  await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))
}
