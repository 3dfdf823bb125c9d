/** Sends a request to the process under attack and checks its response. */
import { request } from 'node:http'
import type { Attacked } from './attacked.ts'
import { keyOf, secret, type Gate, type HostName } from './places.ts'

export interface Attack {
  readonly gate?: Gate
  readonly host: HostName
  readonly method?: string
  readonly path: string
  readonly account?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly contentType?: string
  readonly body?: string | Buffer
  /** Called with the text received so far. Returning true disconnects. */
  readonly disconnectAt?: (text: string) => boolean
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

export const json = 'application/json'

/** Rejects if the connection ends without a response. */
export function send(attacked: Attacked, attack: Attack): Promise<Answer> {
  const {
    gate = 'open',
    host,
    method = 'POST',
    path,
    account = 'a',
    contentType = json,
    body = '',
    disconnectAt,
  } = attack
  const { port, path: before } = attacked.ports[gate][host]
  const size = { 'content-type': contentType, 'content-length': String(Buffer.byteLength(body)) }
  const headers = { authorization: `Bearer ${keyOf(account)}`, ...(method === 'POST' && size), ...attack.headers }
  return new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, path: before + path, method, headers, agent: false }, (answer) => {
      const { statusCode: status = 0, headers: received } = answer
      const pieces: Buffer[] = []
      const done = () => resolve({ status, headers: received, text: Buffer.concat(pieces).toString() })
      answer.on('error', reject)
      answer.on('end', done)
      answer.on('data', (piece: Buffer) => {
        pieces.push(piece)
        if (disconnectAt?.(Buffer.concat(pieces).toString()) !== true) return
        done()
        call.destroy()
      })
    })
    call.on('error', reject)
    call.end(body)
  })
}

/**
 * What is wrong with a response; undefined if nothing is. `own` is the mark of this request: the mark of any other request
 * means that data has leaked.
 */
export function faultIn({ status, headers, text }: Answer, own?: string, busy = false): string | undefined {
  if (status >= 500 && !(busy && status === 503)) return `status ${status}: ${text.slice(0, 200)}`
  if (text.includes(secret) || JSON.stringify(headers).includes(secret))
    return `contains a secret: ${text.slice(0, 200)}`
  const foreign = (text.match(marks) ?? []).find((mark) => mark !== own)
  if (foreign !== undefined) return `contains ${foreign} of another request`
  return status >= 400 ? shapeFault(text) : undefined
}

export function markOf(number: number): string {
  return `mark${String(number).padStart(8, '0')}`
}

const marks = /mark\d{8}/g

function shapeFault(text: string): string | undefined {
  try {
    const { type, error } = JSON.parse(text) as { type?: unknown; error?: Record<string, unknown> }
    // Anthropic's clients get errors in its format.
    const names = type === 'error' ? ['message', 'type'] : ['message', 'type', 'param', 'code']
    const named = names.every((name) => error !== undefined && name in error)
    return named ? undefined : `an error in another format: ${text.slice(0, 200)}`
  } catch {
    return `an error that is not JSON: ${text.slice(0, 200)}`
  }
}
