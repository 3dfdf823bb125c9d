/** One request to the process under attack, and what has to be true of every answer. */
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
  /** Called with everything that has come so far; true leaves the answer there. */
  readonly leaves?: (text: string) => boolean
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

export const json = 'application/json'

/** Rejects when the connection ends without an answer. */
export function send(attacked: Attacked, attack: Attack): Promise<Answer> {
  const { gate = 'open', host, method = 'POST', path, account = 'a', contentType = json, body = '', leaves } = attack
  const { port, path: before } = attacked.ports[gate][host]
  const size = { 'content-type': contentType, 'content-length': String(Buffer.byteLength(body)) }
  const headers = { authorization: `Bearer ${keyOf(account)}`, ...(method === 'POST' && size), ...attack.headers }
  return new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, path: before + path, method, headers, agent: false }, (answer) => {
      const { statusCode: status = 0, headers: heard } = answer
      const pieces: Buffer[] = []
      const done = () => resolve({ status, headers: heard, text: Buffer.concat(pieces).toString() })
      answer.on('error', reject)
      answer.on('end', done)
      answer.on('data', (piece: Buffer) => {
        pieces.push(piece)
        if (leaves?.(Buffer.concat(pieces).toString()) !== true) return
        done()
        call.destroy()
      })
    })
    call.on('error', reject)
    call.end(body)
  })
}

/**
 * Undefined for an answer as it should be. `own`: the mark that this request carried; one of any other request is a byte
 * of somebody else's.
 */
export function faultIn({ status, headers, text }: Answer, own?: string, busy = false): string | undefined {
  if (status >= 500 && !(busy && status === 503)) return `status ${status}: ${text.slice(0, 200)}`
  if (text.includes(secret) || JSON.stringify(headers).includes(secret)) return `tells a secret: ${text.slice(0, 200)}`
  const foreign = (text.match(marks) ?? []).find((mark) => mark !== own)
  if (foreign !== undefined) return `holds ${foreign} of another request`
  return status >= 400 ? shapeFault(text) : undefined
}

export function markOf(number: number): string {
  return `mark${String(number).padStart(8, '0')}`
}

const marks = /mark\d{8}/g

function shapeFault(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: Record<string, unknown> }
    const named = ['message', 'type', 'param', 'code'].every((name) => error !== undefined && name in error)
    return named ? undefined : `an error in another form: ${text.slice(0, 200)}`
  } catch {
    return `an error that is no JSON: ${text.slice(0, 200)}`
  }
}
