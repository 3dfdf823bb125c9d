/** Requests to vendors contain only what the host has configured and the body of the request. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { openai } from 'modelhatch/providers'
import { describe, expect, test } from 'vitest'
import { hasShared, sharedJson } from '../shared.ts'
import { askChat, hostedWith, vendorFor } from '../hosted.ts'

interface Disguises {
  readonly headers: readonly { readonly id: string; readonly name: string; readonly value: string }[]
  readonly body_fields: readonly { readonly id: string; readonly field: string; readonly value: unknown }[]
  readonly model_ids: readonly { readonly id: string; readonly model: unknown }[]
}

const disguises = (
  hasShared ? sharedJson('corpora/disguises.json') : { headers: [], body_fields: [], model_ids: [] }
) as Disguises

async function served() {
  const vendor = await vendorFor((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}')
  })
  const provider = openai({
    baseURL: `${vendor.baseURL}/deep`,
    apiKey: 'sk-vendor',
    organization: 'org',
    headers: { 'x-own': 'yes' },
  })
  return { vendor, ...(await hostedWith({ models: { m: provider } })) }
}

/** All headers of a request to the vendor. */
function expected(bytes: number, port: string): IncomingHttpHeaders {
  return {
    host: `127.0.0.1:${port}`,
    connection: 'keep-alive',
    authorization: 'Bearer sk-vendor',
    'openai-organization': 'org',
    'x-own': 'yes',
    accept: '*/*',
    'accept-encoding': 'identity',
    'user-agent': 'modelhatch',
    'content-type': 'application/json',
    'content-length': String(bytes),
  }
}

describe.skipIf(!hasShared)('no header of a client reaches a vendor or redirects its request:', () => {
  const own = [
    'cookie',
    'te',
    'x-api-key',
    'proxy-authorization',
    'openai-organization',
    'x-stainless-lang',
    'traceparent',
  ]
  const all = [...disguises.headers, ...own.map((name) => ({ id: name, name, value: 'from-the-client' }))]

  test.each(all)('$id', async ({ name, value }) => {
    const { vendor, url } = await served()
    // The client may send any `Host`; the vendor is the one of the options.
    const status = await post(url, { [name]: value })
    if (name === 'Host' && status === 400) return
    expect(status).toBe(200)
    const [{ headers, url: target, body }] = vendor.requests as [(typeof vendor.requests)[0]]
    expect(target).toBe('/v1/deep/chat/completions')
    expect(headers).toEqual(expected(body.length, new URL(vendor.baseURL).port))
  })
})

describe.skipIf(!hasShared)('no field of a body redirects the request or changes its key:', () => {
  test.each(disguises.body_fields)('$id', async ({ field, value }) => {
    const { vendor, url } = await served()
    const response = await askChat(url, { [field]: value })
    // Fields that are known to choose a deployment or a key are rejected by name.
    if (response.status === 400) {
      expect(await response.text()).toContain(field)
      expect(vendor.requests).toEqual([])
      return
    }
    expect(response.status).toBe(200)
    const [{ headers, url: target, body }] = vendor.requests as [(typeof vendor.requests)[0]]
    expect(target).toBe('/v1/deep/chat/completions')
    expect(headers).toEqual(expected(body.length, new URL(vendor.baseURL).port))
  })
})

describe.skipIf(!hasShared)('no request for an unknown model reaches a vendor:', () => {
  test.each(disguises.model_ids)('$id', async ({ model }) => {
    const { vendor, url } = await served()
    expect([400, 404]).toContain((await askChat(url, { model })).status)
    expect(vendor.requests).toEqual([])
  })
})

test.skipIf(!hasShared)('a model name that the client chose stays in the body, whatever it looks like', async () => {
  const vendor = await vendorFor((_, response) => void response.writeHead(404).end('{}'))
  const { url } = await hostedWith({ models: { 'v/*': openai({ baseURL: vendor.baseURL }) } })
  const names = disguises.model_ids.flatMap(({ model }) => (typeof model === 'string' && model !== '' ? [model] : []))
  for (const name of names) {
    expect((await askChat(url, { model: `v/${name}` })).status).toBe(404)
    const { url: target, json } = vendor.requests.at(-1) as (typeof vendor.requests)[0]
    expect({ target, model: (json as { model: string }).model }).toEqual({
      target: '/v1/chat/completions',
      model: name,
    })
  }
  expect(vendor.requests).toHaveLength(names.length)
})

test.each(['https://user:secret@vendor.example/v1', 'ftp://vendor.example', 'vendor.example', ''])(
  'rejects the base URL "%s" without repeating it',
  (baseURL) => {
    const message = 'baseURL must be an http(s) URL without credentials, such as "https://api.openai.com/v1"'
    expect(() => openai({ baseURL })).toThrow(new TypeError(message))
  },
)

test.each([false, true])('hides the vendor’s model name from the client, stream: %s', async (stream) => {
  const chunk = { id: 'x', created: 1, model: 'theirs', choices: [{ index: 0, delta: { content: 'Hi' } }] }
  const vendor = await vendorFor((_, response) => {
    response.setHeader('content-type', 'text/event-stream')
    response.end(`data: ${JSON.stringify(chunk)}\n\n`.repeat(3).concat('data: [DONE]\n\n'))
  })
  const provider = openai({ baseURL: vendor.baseURL, modelNames: { m: 'theirs' } })
  const { url } = await hostedWith({ models: { m: provider } })
  const text = await (await askChat(url, { stream })).text()
  expect(text).toContain('"model":"m"')
  expect(text).not.toContain('theirs')
  expect(vendor.requests[0]?.json).toMatchObject({ model: 'theirs' })
})

test('sends the query of the base URL with every request', async () => {
  const vendor = await vendorFor((_, response) => void response.writeHead(500).end())
  const { url } = await hostedWith({ models: { m: openai({ baseURL: `${vendor.baseURL}/?api-version=1` }) } })
  await askChat(url)
  expect(vendor.requests[0]?.url).toBe('/v1/chat/completions?api-version=1')
})

/** Uses `node:http`, because `fetch` rejects some headers. */
function post(url: string, headers: Record<string, string>): Promise<number | undefined> {
  const body = '{"model":"m","messages":[{"role":"user","content":"Hi"}]}'
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${url}/v1/chat/completions`, {
      method: 'POST',
      agent: false,
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json', ...headers },
    })
    request.on('response', (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode))
    })
    request.on('error', reject)
    request.end(body)
  })
}
