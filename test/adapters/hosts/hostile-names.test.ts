import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { demo } from 'modelhatch/providers'
import { createGateway } from 'modelhatch'
import { hasShared, sharedJson } from '../../shared.ts'
import type { Answer } from './client.ts'
import { authorization, key, question } from './gateway.ts'
import { plainHosts, type Host, type RunningHost } from './hosts.ts'
import { head, RawConnection } from './raw.ts'

const hosts = plainHosts.filter(({ name }) => ['node:http', 'Express 5', 'Koa 3'].includes(name))
const strings = hasShared ? (sharedJson('corpora/naughty-strings.json') as string[]) : []
const disguised = hasShared
  ? (sharedJson('corpora/disguises.json') as { model_ids: { model: unknown }[] }).model_ids
  : []

let called = 0
const provider = demo()
const gateway = createGateway({
  keys: { [key]: {} },
  models: {
    small: {
      provider: {
        ...provider,
        name: 'counted',
        generate(call) {
          called++
          return provider.generate(call)
        },
      },
    },
  },
})
afterAll(() => gateway.close({ graceMs: 0 }))

describe.skipIf(!hasShared).each(hosts)('behind $name', (host: Host) => {
  let running: RunningHost
  let connection: RawConnection | undefined
  const prototype = Object.getOwnPropertyNames(Object.prototype).join()
  beforeAll(async () => {
    running = await host.start(gateway)
  })
  afterAll(async () => {
    connection?.destroy()
    await running.close()
    expect(called).toBe(0)
    expect(Object.getOwnPropertyNames(Object.prototype).join()).toBe(prototype)
  })

  const ask = async (method: string, target: string, headers: string[], body?: string): Promise<Answer> => {
    connection ??= new RawConnection(running.port)
    const json =
      body === undefined ? [] : ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]
    await connection.send(head({ method, target: host.path + target, headers: [...headers, ...json] }) + (body ?? ''))
    const answer = await connection.answer()
    if (answer.headers['connection'] === 'close') {
      connection.destroy()
      connection = undefined
    }
    return answer
  }
  const chat = (model: unknown) =>
    ask('POST', '/v1/chat/completions', [`authorization: ${authorization}`], JSON.stringify({ ...question, model }))

  it('no hostile string is a key', async () => {
    const wrong: unknown[] = []
    for (const text of strings) {
      // Spaces around a key are not part of it.
      const around = /^\s*$/.test(text) ? [] : [`Bearer ${key}${text}`, `Bearer ${text}${key}`]
      for (const value of [text, `Bearer ${text}`, ...around]) {
        const line = `authorization: ${value.replaceAll(/[\r\n]/g, ' ')}`
        const { status, body } = await ask('GET', '/v1/models', [line])
        // Node itself rejects control characters.
        // oxlint-disable-next-line no-control-regex -- intended
        const refused = status === 401 || (status === 400 && /[\x00-\x1f\x7f]/.test(value))
        if (!refused || body.includes(key)) wrong.push([line, status, body])
      }
    }
    expect(wrong).toEqual([])
  })

  it('no hostile string is a model', async () => {
    const wrong: unknown[] = []
    for (const model of [...strings, ...disguised.map(({ model }) => model)]) {
      const { status, body } = await chat(model)
      const { code } = (JSON.parse(body) as { error: { code: string } }).error
      const expected = typeof model === 'string' && model !== '' ? '404 model_not_found' : '400 invalid_request_error'
      if (`${status} ${code}` !== expected) wrong.push([model, status, code])
    }
    expect(wrong).toEqual([])
  })

  it('no hostile string in a path is a model or a task', async () => {
    const wrong: unknown[] = []
    // Empty segments and dots are not names in a path.
    for (const text of strings.filter((each) => !/^\.*$/.test(each))) {
      const id = encodeURIComponent(text.toWellFormed())
      for (const target of [`/v1/models/${id}`, `/v1/videos/generations/${id}`]) {
        const { status, body } = await ask('GET', target, [`authorization: ${authorization}`])
        if (status !== 404 || !body.startsWith('{"error"')) wrong.push([target, status, body])
      }
    }
    expect(wrong).toEqual([])
  })

  it('no hostile string in a query changes anything', async () => {
    const expected = (await ask('GET', '/v1/models', [`authorization: ${authorization}`])).body
    const wrong: unknown[] = []
    for (const text of strings) {
      const value = encodeURIComponent(text.toWellFormed())
      const unknown = await ask('GET', `/v1/models?of=${value}`, [`authorization: ${authorization}`])
      if (unknown.status !== 200 || unknown.body !== expected) wrong.push([text, unknown])
      const limited = await ask('GET', `/v1/models?limit=${value}`, [`authorization: ${authorization}`])
      const refused = limited.status === 400 && limited.body.startsWith('{"error"')
      if (!refused && (!/^\d*$/.test(text) || limited.status !== 200)) wrong.push([text, limited])
    }
    expect(wrong).toEqual([])
  })
})
