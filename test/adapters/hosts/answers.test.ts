import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, type Answer, type Question } from './client.ts'
import { hostedGateway, defaultVendor, jsonHeaders, question } from './gateway.ts'
import { everyHost, plainHosts, type RunningHost } from './hosts.ts'

const chat = (changes: object = {}, headers: Record<string, string> = {}): Question => ({
  method: 'POST',
  target: '/v1/chat/completions',
  headers: { ...jsonHeaders, ...headers },
  body: JSON.stringify({ ...question, ...changes }),
})

/** Requests that every host must answer identically, with the expected status. */
const cases: [name: string, question: Question, status: number][] = [
  ['a chat', chat(), 200],
  ['a chat with a charset in its media type', chat({}, { 'content-type': 'application/json; charset=UTF-8' }), 200],
  ['a streamed chat', chat({ stream: true }), 200],
  ['a streamed chat with usage', chat({ stream: true, stream_options: { include_usage: true } }), 200],
  ['a long list of embeddings', { ...chat({ input: 'Hello' }), target: '/v1/embeddings' }, 200],
  ['the list of models', { target: '/v1/models', headers: jsonHeaders }, 200],
  ['a model', { target: '/v1/models/org%2Fmodel', headers: jsonHeaders }, 200],
  ['no key', { target: '/v1/models' }, 401],
  ['no key, with a body', { ...chat(), headers: { 'content-type': 'application/json' } }, 401],
  ['an unknown model', chat({ model: 'large' }), 404],
  ['an unknown path', { ...chat(), target: '/v1/chat' }, 404],
  ['a wrong method', { target: '/v1/chat/completions', headers: jsonHeaders }, 405],
  ['OPTIONS', { method: 'OPTIONS', target: '/v1/models', headers: jsonHeaders }, 405],
  ['a bad parameter', chat({ temperature: 7 }), 400],
  ['no body', { ...chat(), body: '' }, 400],
  ['a form', { ...chat({}, { 'content-type': 'application/x-www-form-urlencoded' }), body: 'model=small&a=b' }, 415],
  [
    'a multipart form',
    {
      ...chat({}, { 'content-type': 'multipart/form-data; boundary=x' }),
      body: '--x\r\ncontent-disposition: form-data; name="model"\r\n\r\nsmall\r\n--x--\r\n',
    },
    415,
  ],
  ['plain text', chat({}, { 'content-type': 'text/plain' }), 415],
]

const { gateway, vendor, close } = await hostedGateway()
afterAll(close)

/** The gateway's part of a response: the host may add headers but not change these. */
function ours({ status, headers, body }: Answer) {
  const names = ['content-type', 'cache-control', 'x-accel-buffering', 'allow', 'retry-after', 'x-should-retry']
  const own = Object.fromEntries(names.map((name) => [name, headers[name]]))
  return { status, ...own, id: /^req_[0-9a-f]{32}$/.test(headers['x-request-id'] ?? ''), body }
}

describe.each(everyHost)('behind $name', (host) => {
  let reference: RunningHost
  let running: RunningHost
  beforeAll(async () => {
    reference = await (plainHosts[0] as (typeof plainHosts)[0]).start(gateway)
    running = await host.start(gateway)
  })
  afterAll(async () => {
    await running.close()
    await reference.close()
  })

  it.each(cases)('%s gets the same response as on a plain server', async (_, question, status) => {
    const expected = ours(await ask(reference, question))
    expect(expected.status).toBe(status)
    expect(ours(await ask(running, question))).toEqual(expected)
  })

  it('a form with a file is accepted unless a parser of the host has consumed it', async () => {
    const part = (name: string, value: string, more = '') =>
      `--x\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`
    const answer = await ask(running, {
      method: 'POST',
      target: '/v1/audio/transcriptions',
      headers: { ...jsonHeaders, 'content-type': 'multipart/form-data; boundary=x' },
      body: `${part('model', 'small')}${part('file', 'RIFF', '; filename="a.wav"')}--x--\r\n`,
    })
    // These parsers consume files as well.
    if (/koa-body$|express.text$/.test(host.name)) {
      expect([answer.status, answer.body]).toEqual([400, expect.stringContaining('before')])
    } else {
      expect([answer.status, JSON.parse(answer.body)]).toEqual([200, expect.objectContaining({ text: 'heard' })])
      expect(vendor.requests.at(-1)?.body.toString()).toContain('RIFF')
    }
  })

  it('HEAD gets the headers of GET without the body', async () => {
    const { status, headers, body } = await ask(running, { method: 'HEAD', target: '/v1/models', headers: jsonHeaders })
    const { body: list } = await ask(running, { target: '/v1/models', headers: jsonHeaders })
    expect({ status, type: headers['content-type'], body }).toEqual({
      status: 200,
      type: 'application/json; charset=utf-8',
      body: '',
    })
    expect(JSON.parse(list)).toMatchObject({ object: 'list' })
  })

  it('a vendor failure is a status before the first content and an event after it', async () => {
    vendor.reply = (_, response) => void response.writeHead(500).end('<h1>secret</h1>')
    const refused = await ask(running, chat({ stream: true }))
    vendor.reply = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end('data: {"choices":[{"index":0,"delta":{"content":"He"}}]}\n\n')
    }
    const cut = await ask(running, chat({ stream: true }))
    vendor.reply = defaultVendor
    expect(refused.status).toBe(503)
    expect(JSON.parse(refused.body)).toMatchObject({ error: { code: 'service_unavailable' } })
    expect(cut.status).toBe(200)
    expect(cut.body).toMatch(/"content":"He".*\n\ndata: \{"error":\{.*\}\}\n\n$/s)
    expect(cut.body).not.toContain('[DONE]')
  })
})
