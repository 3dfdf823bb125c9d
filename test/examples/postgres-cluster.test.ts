/** Two real processes and a real Postgres: what one of them does, the other one knows. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasPostgres, ownName, postgresPool, postgresUrl } from '../servers.ts'
import { runExample, type RunningExample } from './example.ts'

describe.skipIf(!hasPostgres)('two processes that share Postgres', () => {
  const schema = ownName().replace(/_$/, '')
  let example: RunningExample

  beforeAll(async () => {
    example = await runExample('postgres-cluster', { DATABASE_URL: postgresUrl, SCHEMA: schema })
  })
  afterAll(async () => {
    expect(await example.stop()).toBe(0)
    const pool = postgresPool()
    await pool.query(`DROP SCHEMA ${schema} CASCADE`)
    await pool.end()
  })

  interface Answer {
    readonly status: number
    readonly process: string
    readonly headers: Headers
    readonly body: Record<string, unknown>
  }

  /** On a connection of its own, so that the processes take turns. */
  async function send(path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
    const post = body && { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(new URL(path, example.baseURL), {
      headers: {
        authorization: 'Bearer sk-demo',
        'content-type': 'application/json',
        connection: 'close',
        ...headers,
      },
      ...post,
    })
    const parsed = (await response.json()) as Record<string, unknown>
    const served = response.headers.get('x-served-by') ?? ''
    return { status: response.status, process: served, headers: response.headers, body: parsed }
  }

  /** Sends the same until the other process has served it. */
  async function elsewhere(than: string, ask: () => Promise<Answer>): Promise<Answer> {
    for (let sent = 0; sent < 40; sent++) {
      const answer = await ask()
      // 409: the first response is being stored.
      if (answer.process !== than && answer.status !== 409) return answer
    }
    throw new Error('only one process serves')
  }

  test('a stored response is continued and read in the other process', async () => {
    const first = await send('/ai/v1/responses', { model: 'demo', input: 'My name is Ada.' })
    expect(first.status).toBe(200)
    const { id } = first.body as { id: string }
    const read = await elsewhere(first.process, () => send(`/ai/v1/responses/${id}`))
    expect(read.body).toMatchObject({ id })
    const next = await elsewhere(first.process, () =>
      send('/ai/v1/responses', { model: 'demo', input: 'What is my name?', previous_response_id: id }),
    )
    expect(JSON.stringify(next.body)).toContain('Ada')
  })

  test('a request with an Idempotency-Key is replayed by the other process', async () => {
    const body = { model: 'demo', messages: [{ role: 'user', content: 'Hello' }] }
    const key = { 'idempotency-key': crypto.randomUUID() }
    const first = await send('/ai/v1/chat/completions', body, key)
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    const second = await elsewhere(first.process, () => send('/ai/v1/chat/completions', body, key))
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(second.body).toEqual(first.body)
  })

  test('both processes topped up one balance, once, and charge it', async () => {
    const one = await send('/ai/v1/chat/completions', { model: 'demo', messages: [{ role: 'user', content: 'Hi' }] })
    expect(one.status).toBe(200)
    const balances = async () => {
      const first = await send('/balance')
      const second = await elsewhere(first.process, () => send('/balance'))
      return [Number(first.body['balance']), Number(second.body['balance'])]
    }
    await expect.poll(async () => Math.max(...(await balances()))).toBeLessThan(5)
    expect(Math.min(...(await balances()))).toBeGreaterThan(4.9)
  })

  test('one limit counts the requests of both', async () => {
    const body = { model: 'demo', messages: [{ role: 'user', content: 'Hi' }] }
    const processes = new Set<string>()
    const began = performance.now()
    let served = 0
    for (let sent = 0; sent < 80; sent++) {
      const answer = await send('/ai/v1/chat/completions', body)
      processes.add(answer.process)
      if (answer.status === 200) served++
      else expect(answer.status).toBe(429)
    }
    expect(processes.size).toBe(2)
    // Thirty at once, and one more every two seconds.
    expect(served).toBeLessThanOrEqual(30 + Math.ceil((performance.now() - began) / 2_000))
    expect(served).toBeGreaterThan(10)
  })
})
