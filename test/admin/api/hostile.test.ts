/** Requests as attackers send them: from pages of other sites, to other names, and malformed. */
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { gatewayWith, served, type Served } from './served.ts'

const open = { method: 'POST', body: { id: 'acme' } } as const

async function write(api: Served, headers: Readonly<Record<string, string>>): Promise<number> {
  return (await api.ask('admin', '/accounts', { ...open, headers })).status
}

describe('a page of another site', () => {
  test('cannot make a browser write', async () => {
    const api = await served()
    const { host } = new URL(api.origin)
    expect(await write(api, {})).toBe(201)
    const own = { origin: `http://${host}` }
    expect(await write(api, { 'sec-fetch-site': 'same-origin', ...own })).toBe(201)
    expect(await write(api, { 'sec-fetch-site': 'none' })).toBe(201)
    expect(await write(api, own)).toBe(201)
    const foreign: Readonly<Record<string, string>>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'anything' },
      { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site', ...own },
      { origin: 'null' },
      { origin: '' },
      { origin: 'https://evil.example' },
      { origin: `https://evil.example/${host}` },
      { origin: `http://${host}.evil.example` },
      { origin: `http://${host}@evil.example` },
      { origin: 'http://127.0.0.1:1' },
      { origin: 'http://localhost' },
    ]
    for (const headers of foreign) expect(await write(api, headers), JSON.stringify(headers)).toBe(403)
  })

  test('cannot write without the header, with any method or media type', async () => {
    const { origin } = await served()
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      for (const type of [
        'application/json',
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data',
      ]) {
        const headers = { 'x-as': 'admin', 'content-type': type, host: new URL(origin).host }
        const path =
          method === 'POST' ? '/accounts' : method === 'PATCH' ? '/accounts/acme' : '/accounts/acme/caps/monthly'
        const answer = await rawly(origin, method, path, headers, '{"id":"acme"}')
        expect(answer, `${method} ${type}`).toMatch(/^HTTP\/1.1 403 /)
      }
    }
  })

  test('gets no permission of CORS', async () => {
    const { ask } = await served()
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
    for (const method of ['OPTIONS', 'GET']) {
      const answer = await ask('admin', '/accounts', { method, headers })
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
      expect(answer.headers['cache-control']).toBe('no-store')
      expect(answer.headers['cross-origin-resource-policy']).toBe('same-origin')
      expect(answer.headers['x-content-type-options']).toBe('nosniff')
    }
  })

  test('cannot reach the API under a name of its own', async () => {
    const api = await served()
    const port = new URL(api.origin).port
    const status = async (host: string, each = api) => (await each.ask('admin', '/me', { headers: { host } })).status
    for (const host of ['localhost', `localhost:${port}`, '127.0.0.1', '[::1]:80', 'LOCALHOST']) {
      expect(await status(host), host).toBe(200)
    }
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      'localhost.evil.example',
      '127.0.0.1.nip.io',
      '0.0.0.0',
    ]) {
      expect(await status(host), host).toBe(403)
    }
    expect(
      await exchanged(api.origin, 'GET /me HTTP/1.1\r\nhost:\r\nx-as: admin\r\nconnection: close\r\n\r\n'),
    ).toMatch(/^HTTP\/1.1 403 /)
    // A stranger does not even learn that.
    expect((await api.ask(undefined, '/me', { headers: { host: 'evil.example' } })).status).toBe(404)
    const named = await served(gatewayWith(), { hosts: ['admin.example.com', 'other.example:8443'] })
    expect(await status('admin.example.com:3000', named)).toBe(200)
    expect(await status('other.example:8443', named)).toBe(200)
    expect(await status('other.example', named)).toBe(403)
    expect(await status('localhost', named)).toBe(403)
    const all = await served(gatewayWith(), { hosts: '*' })
    expect(await status('anything.example', all)).toBe(200)
    // Behind a proxy that sends another host, the public one is trusted only if it is configured.
    const behind = await served(gatewayWith(), { hosts: ['admin.example.com', '127.0.0.1'] })
    expect(await write(behind, { origin: 'https://admin.example.com' })).toBe(201)
    expect(await write(behind, { origin: 'https://other.example' })).toBe(403)
    expect(await write(all, { origin: 'https://other.example' })).toBe(403)
  })
})

describe('malformed', () => {
  test('paths are a 404 or one route, never two', async () => {
    const { ask, gateway } = await served()
    await gateway.admin.accounts.topUp({ account: 'mine', amount: '5', reference: 'a' })
    await gateway.admin.accounts.topUp({ account: 'theirs', amount: '5', reference: 'b' })
    const paths = [
      '/accounts/mine/../theirs',
      '/accounts/mine%2F..%2Ftheirs',
      '/accounts/mine/%2e%2e/theirs',
      '/accounts/theirs%00',
      '/accounts/%E0%A4%A',
      '/accounts/theirs%20',
      '/accounts/%74heirs',
      '/accounts/theirs;x=mine',
      '/accounts/theirs?account=mine',
      '/accounts/mine/..%2ftheirs/entries',
      '/accounts//theirs',
      '/accounts/\u{1f600}'.replace(/./gu, (char) =>
        (char.codePointAt(0) as number) > 127 ? encodeURIComponent(char) : char,
      ),
      '/accounts/__proto__',
      '/accounts/constructor',
      '/__proto__',
      '/constructor/prototype',
      '/keys/..',
      '/%6be%79s',
      `/accounts/${'x'.repeat(7_000)}`,
    ]
    for (const path of paths) {
      const answer = await ask('mine', path)
      expect(answer.status, path).toBe(404)
      expect(answer.text).not.toContain('theirs')
    }
    const absolute = await ask('mine', 'http://127.0.0.1/accounts/theirs')
    expect(absolute.status).toBe(404)
    expect((await ask('mine', 'http://127.0.0.1/accounts/mine')).json.id).toBe('mine')
  })

  test('parameters are a 400 that names them', async () => {
    const { ask } = await served()
    const wrong: Readonly<Record<string, string>> = {
      'limit=0': 'limit',
      'limit=1001': 'limit',
      'limit=1e3': 'limit',
      'limit=0x10': 'limit',
      'limit=10&limit=20': 'limit',
      'limit=': 'limit',
      'limit=NaN': 'limit',
      'limit=99999999999999999999': 'limit',
      'from=1.5': 'from',
      'from=1890000000': 'from',
      'outcome=maybe': 'outcome',
      '__proto__=1': '__proto__',
      'constructor=1': 'constructor',
      'toString=1': 'toString',
      'all=true': 'all',
      'user[]=1': 'user[]',
      'after=%5B1%5D': 'after',
      'after=nonsense': 'after',
      'model=%00': 'model',
      [`user=${'x'.repeat(600)}`]: 'user',
    }
    for (const [query, param] of Object.entries(wrong)) {
      const answer = await ask('admin', `/requests?${query}`)
      expect([answer.status, answer.json.error.param], query).toEqual([400, param])
    }
    const long = await ask('admin', `/requests?${'user=x&'.repeat(1_300)}`)
    expect(long.status).toBe(400)
    expect((await ask('admin', '/me?x=1')).status).toBe(400)
    expect((await ask('admin', '/usage?by=day,day,day')).status).toBeLessThan(500)
    expect((await ask('admin', '/usage?by=year')).json.error.param).toBe('by.0')
  })

  test('bodies are a 4xx, and change nothing', async () => {
    const { ask, gateway } = await served()
    const bodies: [string, number][] = [
      ['', 400],
      ['[]', 400],
      ['null', 400],
      ['"x"', 400],
      ['{"id":"acme","admin":true}', 400],
      ['{"id":"acme","__proto__":{"unlimited":true}}', 400],
      ['{"id":"acme","constructor":{}}', 400],
      ['{"id":5}', 400],
      ['{"id":"a b"}', 400],
      ['{"id":""}', 400],
      ['{"id":"acme","unlimited":"true"}', 400],
      ['{"id":"acme","name":"\\ud800"}', 400],
      [`{"id":"acme","name":"${'x'.repeat(70_000)}"}`, 413],
      [`{"id":${'['.repeat(40)}${']'.repeat(40)}}`, 400],
      ['{"id":"acme"}}', 400],
    ]
    for (const [raw, status] of bodies) {
      const answer = await ask('admin', '/accounts', { method: 'POST', raw })
      expect(answer.status, raw.slice(0, 80)).toBe(status)
    }
    expect((await gateway.admin.accounts.list()).items).toEqual([])
    expect(({} as { unlimited?: boolean }).unlimited).toBeUndefined()
  })

  test('repeated headers do not let a request pass', async () => {
    const { origin } = await served()
    const { host } = new URL(origin)
    const text = '{"id":"acme"}'
    const headers = `x-as: admin\r\nx-modelhatch-admin: 1\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n`
    const doubled = [
      `host: ${host}\r\norigin: http://${host}\r\norigin: https://evil.example\r\n`,
      `host: ${host}\r\nsec-fetch-site: same-origin\r\nsec-fetch-site: cross-site\r\n`,
      `host: ${host}\r\norigin: https://evil.example\r\norigin: http://${host}\r\n`,
    ]
    for (const more of doubled) {
      const answer = await exchanged(
        origin,
        `POST /accounts HTTP/1.1\r\n${more}${headers}connection: close\r\n\r\n${text}`,
      )
      expect(answer, more).toMatch(/^HTTP\/1.1 4\d\d /)
    }
    const two = `POST /accounts HTTP/1.1\r\nhost: ${host}\r\nhost: evil.example\r\n${headers}connection: close\r\n\r\n${text}`
    expect(await exchanged(origin, two)).toMatch(/^HTTP\/1.1 (?:4\d\d|201) /)
  })
})

test('responses of errors have the same shape, and an id of their own', async () => {
  const { ask } = await served()
  const answers = [
    await ask('admin', '/nothing'),
    await ask('admin', '/keys?limit=0'),
    await ask('admin', '/keys', { method: 'POST', body: {} }),
    await ask('reader', '/accounts', open),
    await ask(undefined, '/keys'),
  ]
  expect(answers.map(({ status }) => status)).toEqual([404, 400, 405, 403, 404])
  for (const { json, headers } of answers) {
    expect(Object.keys(json.error)).toEqual(['message', 'type', 'param', 'code'])
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
  }
  expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(5)
})

function rawly(
  origin: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<string> {
  const lines = Object.entries({ ...headers, 'content-length': String(body.length), connection: 'close' })
  return exchanged(
    origin,
    `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  )
}

/** Sends bytes, and resolves with all that comes back. */
function exchanged(origin: string, text: string): Promise<string> {
  const { hostname, port } = new URL(origin)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text))
    let received = ''
    socket.setEncoding('utf8')
    socket.on('data', (piece: string) => (received += piece))
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
  })
}
