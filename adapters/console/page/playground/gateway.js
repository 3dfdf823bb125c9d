/** Calls of the gateway itself, through the console's own mount, with the key of the playground. */
import { ApiError, errorOf, fetched, ownHeader } from '../api.js'

/**
 * @param {string} path Such as `chat/completions`.
 * @param {{ apiKey: string, method?: 'GET' | 'POST', body?: unknown, signal?: AbortSignal }} options
 */
export async function call(path, { apiKey, method = 'POST', body, signal }) {
  const headers = {
    ...ownHeader,
    ...(apiKey !== '' && { authorization: `Bearer ${apiKey}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const sent = { method, headers, signal: signal ?? null, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const response = await fetched(`gateway/v1/${path}`, sent)
  if (!response.ok) throw await errorOf(response)
  return response
}

/** The data of server-sent events, until `[DONE]`. @param {Response} response */
export async function* events(response) {
  if (response.body === null) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  const requestId = response.headers.get('x-request-id') ?? undefined
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    const frames = (rest + value).split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      const data = frame.split('\n').flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : []))
      if (data.length === 0) continue
      const text = data.join('\n')
      if (text === '[DONE]') return
      const event = JSON.parse(text)
      if (event.error)
        throw new ApiError(event.error.message ?? '', {
          status: 200,
          code: event.error.code,
          ...(requestId && { requestId }),
        })
      yield event
    }
  }
  throw new ApiError('', { status: 0, ...(requestId && { requestId }) })
}
