/** Calls a gateway without a socket and reads its responses as a client would. */
import assert from 'node:assert/strict'
import type { Gateway, Reply } from '../index.ts'
import type { ChatCompletion } from '../wire/chat.ts'
import { resultOfChunks, resultOfCompletion, type ChatResult } from './chat-result.ts'

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The whole response body. */
  readonly text: string
}

export interface Answer extends RawAnswer {
  readonly result: ChatResult
}

export interface AskOptions {
  /** Aborted when the client disconnects. */
  readonly signal?: AbortSignal
  /** Called with each piece of a stream as it is written. */
  readonly onPiece?: (piece: string) => void
}

/** Sends a chat request for the model `model`. */
export async function askInProcess(gateway: Gateway, request: object, options: AskOptions = {}): Promise<Answer> {
  const answer = await postInProcess(gateway, '/v1/chat/completions', request, options)
  const { status, headers, text } = answer
  return { ...answer, result: await resultOf(status, text, headers['content-type'] ?? '') }
}

/** Sends a request of any endpoint for the model `model`. */
export async function postInProcess(
  gateway: Gateway,
  target: string,
  request: object,
  { signal = new AbortController().signal, onPiece }: AskOptions = {},
): Promise<RawAnswer> {
  const reply = await gateway.handle({
    method: 'POST',
    target,
    headers: { authorization: 'Bearer sk-kit', 'content-type': 'application/json' },
    body: { state: 'text', text: JSON.stringify({ model: 'model', ...request }) },
    signal,
  })
  const { status, headers } = reply
  return { status, headers, text: await bodyText(reply, signal, onPiece) }
}

async function resultOf(status: number, text: string, type: string): Promise<ChatResult> {
  if (type.startsWith('text/event-stream')) return resultOfChunks(chunksIn(text))
  const body = JSON.parse(text) as unknown
  if (status === 200) return resultOfCompletion(body as ChatCompletion)
  const { error } = body as { error: { code: unknown } }
  return resultOfChunks(failing({ status, code: error.code }))
}

/** The chunks of a stream. Throws the error it reports, and fails if it ends without [DONE] or an error. */
function* chunksIn(text: string): Generator {
  const frames = text.split('\n\n').filter((frame) => frame.startsWith('data: '))
  const last = frames.pop()
  for (const frame of frames) yield JSON.parse(frame.slice(6))
  if (last === 'data: [DONE]') return
  const { error } = JSON.parse(last?.slice(6) ?? '{}') as { error?: { code: unknown } }
  assert.ok(error !== undefined, 'a stream ends with [DONE] or with an error')
  throw Object.assign(new Error('an error inside the stream'), { code: error.code })
}

// oxlint-disable-next-line require-yield -- it only throws
function* failing(error: object): Generator {
  throw Object.assign(new Error('an error response'), error)
}

/** Reads the body of a response; a streamed one until it ends. `signal` is aborted when the client disconnects. */
export function bodyText(reply: Reply, signal: AbortSignal, onPiece?: (piece: string) => void): Promise<string> {
  const { body } = reply
  if (typeof body === 'string') return Promise.resolve(body)
  if (body instanceof Uint8Array) return Promise.resolve(Buffer.from(body).toString('utf8'))
  return new Promise((resolve) => {
    const pieces: Buffer[] = []
    const end = () => resolve(Buffer.concat(pieces).toString('utf8'))
    body.start({
      get closed() {
        return signal.aborted
      },
      write(piece) {
        const bytes = typeof piece === 'string' ? Buffer.from(piece) : Buffer.from(piece)
        pieces.push(bytes)
        onPiece?.(bytes.toString('utf8'))
        return true
      },
      drained: () => Promise.resolve(),
      end,
      destroy: end,
    })
  })
}
