/** A gateway asked without a socket in front of it: what leaves it is read as a client would read it. */
import assert from 'node:assert/strict'
import type { Gateway, Reply } from '../index.ts'
import { toldByChunks, toldByCompletion, type Told } from './told.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Everything that was sent, to look for what must not be in it. */
  readonly text: string
  readonly told: Told
}

export interface AskOptions {
  /** Aborted when the client goes. */
  readonly signal?: AbortSignal
  /** Called with each piece of a stream as it is written. */
  readonly seen?: (piece: string) => void
}

/** Asks for a chat of the model `model`. */
export async function askInProcess(gateway: Gateway, request: object, options: AskOptions = {}): Promise<Answer> {
  const { signal = new AbortController().signal, seen } = options
  const reply = await gateway.handle({
    method: 'POST',
    target: '/v1/chat/completions',
    headers: { authorization: 'Bearer sk-kit', 'content-type': 'application/json' },
    body: { state: 'text', text: JSON.stringify({ model: 'model', ...request }) },
    signal,
  })
  const { status, headers } = reply
  const text = await textOf(reply, signal, seen)
  return { status, headers, text, told: await tell(status, text, headers['content-type'] ?? '') }
}

async function tell(status: number, text: string, type: string): Promise<Told> {
  if (type.startsWith('text/event-stream')) return toldByChunks(chunksIn(text))
  const body = JSON.parse(text) as never
  if (status === 200) return toldByCompletion(body)
  const { error } = body as { error: { code: unknown } }
  return toldByChunks(failing({ status, code: error.code }))
}

/** The chunks of a stream; an error inside it is thrown, and so is an end without a mark. */
function* chunksIn(text: string): Generator {
  const frames = text.split('\n\n').filter((frame) => frame.startsWith('data: '))
  const last = frames.pop()
  for (const frame of frames) yield JSON.parse(frame.slice(6))
  if (last === 'data: [DONE]') return
  const { error } = JSON.parse(last?.slice(6) ?? '{}') as { error?: { code: unknown } }
  assert.ok(error !== undefined, 'a stream ends with [DONE] or with an error')
  throw Object.assign(new Error('an error inside the stream'), { code: error.code })
}

// oxlint-disable-next-line require-yield -- it is there to throw
function* failing(error: object): Generator {
  throw Object.assign(new Error('refused'), error)
}

/** The body; of a stream all that was written until its end. Leaving early is the client's affair: `signal`. */
export function textOf(reply: Reply, signal: AbortSignal, seen?: (piece: string) => void): Promise<string> {
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
        seen?.(bytes.toString('utf8'))
        return true
      },
      drained: () => Promise.resolve(),
      end,
      destroy: end,
    })
  })
}
