import { call, events } from './gateway.js'

/** @typedef {{ role: 'user' | 'assistant', content: string, reasoning?: string, note?: Note }} Message */
/** @typedef {{ requestId: string | undefined, firstMs: number | undefined, totalMs: number, tokens: number | undefined }} Note */

/**
 * The answer to a request as far as it has come, again and again; at last with a note.
 * @param {{ apiKey: string, body: object, signal: AbortSignal }} asked
 * @returns {AsyncGenerator<Message>}
 */
export async function* answers({ apiKey, body, signal }) {
  const started = performance.now()
  const response = await call('chat/completions', { apiKey, signal, body })
  const requestId = response.headers.get('x-request-id') ?? undefined
  let [content, reasoning] = ['', '']
  /** @type {number | undefined} */
  let firstMs
  /** @type {number | undefined} */
  let tokens
  /** @returns {Message} */
  const soFar = () => ({ role: 'assistant', content, ...(reasoning !== '' && { reasoning }) })
  for await (const event of events(response)) {
    const delta = event.choices?.[0]?.delta ?? {}
    tokens = event.usage?.completion_tokens ?? tokens
    content += delta.content ?? ''
    reasoning += delta.reasoning_content ?? delta.reasoning ?? ''
    if (content !== '' || reasoning !== '') firstMs ??= performance.now() - started
    yield soFar()
  }
  yield { ...soFar(), note: { requestId, firstMs, totalMs: performance.now() - started, tokens } }
}
