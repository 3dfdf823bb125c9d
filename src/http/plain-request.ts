/** A request to a service that is no vendor of models, without a pool. */
export interface PlainRequest {
  readonly method?: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly timeoutMs: number
}

/** The longest response that is read, in characters. */
const longest = 20_000_000

/** Sends it over `http:` or `https:`. Rejects if there is no whole response in time. Redirects are not followed. */
export function requestPlainly(
  url: URL,
  { method = 'GET', headers, body, timeoutMs }: PlainRequest,
): Promise<{ readonly status: number; readonly text: string }> {
  const { request: send } = process.getBuiltinModule(url.protocol === 'http:' ? 'node:http' : 'node:https')
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const signal = AbortSignal.timeout(timeoutMs)
    const request = send(url, { method, agent: false, headers: { ...headers, ...length }, signal })
    request.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
        if (text.length > longest) request.destroy(new Error('the response is too long'))
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      response.on('error', reject)
    })
    request.on('error', reject)
    request.end(body)
  })
}
