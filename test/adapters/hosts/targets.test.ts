import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasShared, sharedJson } from '../../shared.ts'
import type { Answer } from './client.ts'
import { authorization, hostedGateway } from './gateway.ts'
import { everyHost, plainHosts, type Host, type RunningHost } from './hosts.ts'
import { head, RawConnection } from './raw.ts'

interface Disguises {
  readonly request_targets: readonly { id: string; target: string; same_as: string | null }[]
  readonly headers: readonly { id: string; name: string; value: string }[]
}

/** Ways to write a path that some hosts and proxies accept and others do not. */
const pathForms: Readonly<Record<string, (path: string) => string>> = {
  unchanged: (path) => path,
  'with a query': (path) => `${path}?model=other&api_key=x`,
  'with a slash at its end': (path) => `${path}/`,
  'with two slashes at its start': (path) => `/${path}`,
  'with an empty segment': (path) => path.replace('/v1/', '/v1//'),
  'in capitals': (path) => path.toUpperCase(),
  'with an encoded letter': (path) => path.replace('/v1/', '/%761/'),
  'with an encoded slash': (path) => path.replace('/v1/', '/v1%2F'),
  'with a twice encoded slash': (path) => path.replace('/v1/', '/v1%252F'),
  'with a dot segment': (path) => path.replace('/v1/', '/v1/./'),
  'with a double-dot segment': (path) => path.replace('/v1/', '/v1/x/../'),
  'with encoded dots': (path) => path.replace('/v1/', '/v1/%2e%2e/v1/'),
  'with a backslash': (path) => path.replace('/v1/', '/v1\\'),
  'with a path parameter': (path) => `${path};jsessionid=1`,
  'with a fragment': (path) => `${path}#x`,
  'with an encoded line break': (path) => `${path}%0d%0aset-cookie:%20a=b`,
  'with an encoded NUL': (path) => `${path}%00`,
  'with a broken escape': (path) => `${path}%E0%A4%A`,
  'in absolute form': (path) => `http://127.0.0.1${path}`,
  'in absolute form with another host': (path) => `HTTPS://evil.example:8443${path}`,
}

const endpoints = [
  'GET /v1/models',
  'GET /v1/models/org%2Fmodel',
  'POST /v1/chat/completions',
  'POST /v1/completions',
  'POST /v1/embeddings',
  'POST /v1/moderations',
  'POST /v1/images/generations',
  'POST /v1/images/edits',
  'POST /v1/images/variations',
  'POST /v1/audio/transcriptions',
  'POST /v1/videos/generations',
  'GET /v1/videos/generations/video_1',
  'GET /v1/nothing',
]

const few = ['GET /v1/models', 'POST /v1/chat/completions', 'GET /v1/nothing']

const rawHosts = everyHost.filter(
  ({ name, http2 }) =>
    !http2 && (!name.includes('behind') || /[35] behind (?:express.json|@koa.bodyparser)$/.test(name)),
)

const { gateway, close } = await hostedGateway()
afterAll(close)

/** One connection to a host, reopened when the host closes it. */
class HostClient {
  readonly host: RunningHost
  #connection: RawConnection | undefined

  constructor(host: RunningHost) {
    this.host = host
  }

  /** Sends a request below the mount path; the target may be in absolute form. */
  async send(method: string, target: string, headers: string[] = [], hostLine?: string): Promise<Answer> {
    const origin = /^[a-z]+:\/\/[^/]*/i.exec(target)?.[0] ?? ''
    const below = target.startsWith('/') || origin !== ''
    const mounted = below ? origin + this.host.path + target.slice(origin.length) : target
    this.#connection ??= new RawConnection(this.host.port)
    const body = method === 'POST' ? ['content-type: application/json', 'content-length: 2'] : []
    const request = { method, target: mounted, headers: [...headers, ...body], ...(hostLine && { host: hostLine }) }
    await this.#connection.send(head(request) + (method === 'POST' ? '{}' : ''))
    const answer = await this.#connection.answer()
    if (answer.headers['connection'] === 'close') this.close()
    return answer
  }

  close(): void {
    this.#connection?.destroy()
    this.#connection = undefined
  }

  async stop(): Promise<void> {
    this.close()
    await this.host.close()
  }
}

/** The decision in a response: its status, and the body of the gateway or the host. */
function decision({ status, headers, body }: Answer) {
  // Outside the mount path, a plain server sends the gateway's 404, and a framework its own.
  if (status === 404 && (body === 'no route of the host' || body.includes('"unknown_url"'))) return { status }
  return { status, type: headers['content-type'], allow: headers['allow'], body }
}

function expectHarmless({ status, headers, body }: Answer, withKey: boolean): void {
  expect(status).toBeLessThan(500)
  expect(status < 300 || status >= 400).toBe(true)
  if (!withKey) expect([400, 401, 404]).toContain(status)
  for (const name of ['location', 'set-cookie', 'x-injected']) expect(headers).not.toHaveProperty(name)
  for (const value of Object.values(headers)) expect(value).not.toMatch(/models|evil|injected|set-cookie/i)
  if (body !== '' && body !== 'no route of the host') expect(JSON.parse(body)).toBeTypeOf('object')
}

/** The target as a fetch host sees it, normalised by the URL parser. */
function normalised(host: Host, target: string): string {
  if (host.family !== 'fetch') return target
  const { pathname, search } = new URL(target.startsWith('/') ? `http://127.0.0.1${target}` : target)
  return pathname + search
}

/** Whether a fetch host can receive this target: web servers reject targets that are not URLs. */
function isFor(host: Host, target: string): boolean {
  return host.family !== 'fetch' || target.startsWith('/') || /^https?:/i.test(target)
}

/** All hosts must decide as a plain server does. */
const bare = new HostClient(await (plainHosts[0] as Host).start(gateway))
const decided = new Map<string, Promise<Answer>>()
afterAll(() => bare.stop())

function decidedBare(method: string, target: string, headers: string[]): Promise<Answer> {
  const request = JSON.stringify([method, target, headers])
  const known = decided.get(request)
  if (known !== undefined) return known
  const sent = bare.send(method, target, headers)
  decided.set(request, sent)
  return sent
}

describe.each(rawHosts)('the request target behind $name', (host) => {
  const full = plainHosts.includes(host)
  let client: HostClient
  beforeAll(async () => {
    client = new HostClient(await host.start(gateway))
  })
  afterAll(() => client.stop())

  describe.each([
    ['with a key', [`authorization: ${authorization}`]],
    ['without a key', []],
  ])('%s', (_, headers) => {
    const withKey = headers.length > 0

    it.each(Object.entries(pathForms))('has the same meaning as in a plain server, %s', async (_, form) => {
      for (const endpoint of full ? endpoints : few) {
        const [method, path] = endpoint.split(' ') as [string, string]
        const answer = await client.send(method, form(path), headers)
        expectHarmless(answer, withKey)
        expect(decision(answer)).toEqual(decision(await decidedBare(method, normalised(host, form(path)), headers)))
      }
    })

    it.skipIf(!hasShared)('has the same meaning as in a plain server in every known disguise', async () => {
      const { request_targets: targets } = sharedJson('corpora/disguises.json') as Disguises
      for (const { id, target, same_as: listed } of targets) {
        // The list has /v1/models here; by RFC 3986 the two dots take away `completions` and nothing else.
        if (!isFor(host, target)) continue
        const same = id === 'method-in-path' ? '/v1/chat/models' : listed
        const answer = await client.send('GET', target, headers)
        expectHarmless(answer, withKey)
        expect(decision(answer)).toEqual(decision(await decidedBare('GET', normalised(host, target), headers)))
        if (same !== null) expect(decision(answer)).toEqual(decision(await client.send('GET', same, headers)))
      }
    })

    if (!full) return
    it.skipIf(!hasShared)('alone decides: no header changes the decision', async () => {
      const { headers: disguises } = sharedJson('corpora/disguises.json') as Disguises
      for (const endpoint of few) {
        const [method, path] = endpoint.split(' ') as [string, string]
        const expected = decision(await client.send(method, path, headers))
        for (const { name, value } of disguises) {
          const line = `${name}: ${value}`
          const answer =
            name === 'Host'
              ? await client.send(method, path, headers, line)
              : await client.send(method, path, [...headers, line])
          expectHarmless(answer, withKey)
          if (name !== 'Host' || answer.status !== 400) expect(decision(answer)).toEqual(expected)
        }
      }
    })
  })
})
