import { byteStream } from '../../http/byte-stream.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { jsonReply, piecesReply, refuse } from '../../http/answers.ts'
import type { Exchange, Reply, StreamBody } from '../../http/exchange.ts'
import type { AdminApiOptions } from './options.ts'
import { requireOpen, type AdminCall, type Route } from './route.ts'
import { itemsPerTurn } from '../in-turns.ts'
import { GatewayError } from '../../errors.ts'

/** Milliseconds after which a client that does not read a stream is disconnected. */
export const stallMs = 60_000

const types = { csv: 'text/csv; charset=utf-8; header=present', jsonl: 'application/jsonl; charset=utf-8' }

/** The headers of every reply: nothing is kept by caches, guessed at by browsers, or embedded by other sites. */
const safeHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
}

/** The reply with these headers and the id of its request. */
export function finished(id: string, { status, headers, body }: Reply): Reply {
  return { status, headers: { ...headers, ...safeHeaders, 'x-request-id': id }, body }
}

/** The reply for what was thrown, which the host learns of if it is no fault of the client. */
export function refused(
  id: string,
  { method, target }: Exchange,
  error: unknown,
  onError: AdminApiOptions['onError'],
): Reply {
  const reply = refuse(error)
  try {
    if (reply.status >= 500) onError?.({ id, method, target, error })
  } catch {
    // The host's function failed: the client gets its reply all the same.
  }
  return finished(id, reply)
}

/** The reply of a route. */
export async function replyOf(route: Route, call: AdminCall, exports: Exports): Promise<Reply> {
  if (route.produces === 'bytes') return route.answer(call)
  const account = call.identity.role === 'account' ? call.identity.account : undefined
  if (route.produces === 'json') {
    // Those of the operator are bounded together.
    const end = route.isLong && exports.begin(account ?? '')
    try {
      return await printed(await route.answer(call), route.status, call.exchange.method === 'HEAD')
    } finally {
      end?.()
    }
  }
  const headers = { 'content-type': types[route.produces], 'content-disposition': attachment(route) }
  const end = exports.begin(account)
  try {
    const pieces = route.answer(call)[Symbol.asyncIterator]()
    // An invalid question fails at the first piece, while there can still be an error reply.
    const first = await pieces.next()
    const body = byteStream(bytesOf(call, first, pieces, end), stallMs)
    if (call.exchange.method !== 'HEAD') return { status: 200, headers, body }
    await pieces.return?.()
  } catch (error) {
    end()
    throw error
  }
  end()
  return { status: 200, headers, body: empty }
}

/** As JSON. A long list is printed in several turns of the event loop. */
async function printed(answer: unknown, status: 200 | 201, isHead: boolean): Promise<Reply> {
  const { items, ...rest } = Object(answer) as { readonly items?: unknown }
  if (!Array.isArray(items) || items.length <= itemsPerTurn) return jsonReply(answer, status)
  const pieces: Uint8Array[] = []
  for (let at = 0; at < items.length; at += itemsPerTurn) {
    const text = JSON.stringify(items.slice(at, at + itemsPerTurn)).slice(1, -1)
    pieces.push(encoder.encode(`${at === 0 ? '{"items":[' : ','}${text}`))
    await nextTurn()
  }
  const end = JSON.stringify(rest).slice(1)
  const reply = piecesReply([...pieces, encoder.encode(`]${end === '}' ? '' : ','}${end}`)])
  return isHead ? { ...reply, body: empty } : reply
}

/** For HEAD: files are without a `content-length`, which is not known. */
const empty: StreamBody = { start: (sink) => sink.end() }

function attachment({ path, produces }: Route): string {
  const name =
    path
      .split('/')
      .at(-1)
      ?.replace(/\.\w+$/, '') ?? 'export'
  return `attachment; filename="${name}.${produces}"`
}

const encoder = new TextEncoder()

async function* bytesOf(
  { gateway }: Pick<AdminCall, 'gateway'>,
  first: IteratorResult<string>,
  rest: AsyncIterator<string>,
  end: () => void,
): AsyncGenerator<Uint8Array, void> {
  try {
    for (let piece = first; piece.done !== true; piece = await rest.next()) {
      yield encoder.encode(piece.value)
      requireOpen(gateway)
    }
  } finally {
    end()
    await rest.return?.()
  }
}

/** The most files and statements that one account reads at a time, because each keeps pages of the stores in memory. */
const most = 4

/** Counts the files and statements that are being read, by account. */
export class Exports {
  readonly #open = new Map<string, number>()

  /** Begins one for an account. Throws a 429 if it has too many. Returns the function that ends it, once. */
  begin(account: string | undefined): () => void {
    if (account === undefined) return () => undefined
    const count = this.#open.get(account) ?? 0
    if (count >= most) {
      const message = `At most ${most} of these can be read at a time. Wait until one is complete.`
      throw new GatewayError('rate_limit_exceeded', { message, retryAfterMs: 5_000 })
    }
    this.#open.set(account, count + 1)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      const left = (this.#open.get(account) ?? 1) - 1
      if (left === 0) this.#open.delete(account)
      else this.#open.set(account, left)
    }
  }
}
