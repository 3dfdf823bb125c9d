import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runExample, type RunningExample } from './example.ts'

let example: RunningExample
let client: OpenAI
let origin: string

beforeAll(async () => {
  example = await runExample('watching')
  origin = new URL(example.baseURL.replace(/".*/, '')).origin
  client = new OpenAI({ baseURL: `${origin}/ai/v1`, apiKey: 'sk-demo', maxRetries: 0 })
})
afterAll(async () => {
  expect(await example.stop()).toBe(0)
})

const ask = (model: string) =>
  client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Reply with exactly: pong' }] })

async function metrics(): Promise<Record<string, number>> {
  const response = await fetch(`${origin}/metrics`)
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  const lines = (await response.text()).trim().split('\n').filter(Boolean)
  for (const line of lines) expect(line).toMatch(/^[a-z_]+\{([a-z]+="(?:[^"\\\n]|\\.)*",?)*\} [\d.e+-]+$/)
  return Object.fromEntries(lines.map((line) => [line.replace(/ \S+$/, ''), Number(line.split(' ').at(-1))]))
}

const logged = () =>
  example
    .printed()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test('requests, tokens and durations are counted, and each request is logged once', async () => {
  const { usage } = await ask('demo')
  await expect
    .poll(metrics)
    .toMatchObject({ 'gateway_requests_total{model="demo",provider="demo",outcome="completed"}': 1 })
  expect(await metrics()).toMatchObject({
    'gateway_tokens_total{model="demo",provider="demo",kind="input"}': usage?.prompt_tokens,
    'gateway_tokens_total{model="demo",provider="demo",kind="output"}': usage?.completion_tokens,
    'gateway_request_seconds_count{model="demo"}': 1,
    'gateway_request_seconds_bucket{model="demo",le="+Inf"}': 1,
  })
  const requests = logged().filter(({ event, model }) => event === 'request' && model === 'demo')
  expect(requests).toMatchObject([{ level: 'info', account: 'acme', outcome: 'completed', attempts: 1 }])
})

test('a deployment that fails behind a fallback is counted and logged, although the client got its response', async () => {
  expect((await ask('covered')).choices[0]?.message.content).toBe('pong')
  await expect.poll(metrics).toMatchObject({
    'gateway_attempts_total{provider="broken",outcome="failed"}': 1,
    'gateway_attempts_total{provider="demo",outcome="succeeded"}': 2,
  })
  await expect.poll(logged).toContainEqual(
    expect.objectContaining({
      level: 'warn',
      event: 'attempt failed',
      reason: expect.stringContaining('the vendor rejects our key'),
    }),
  )
})

test('an alert is counted and logged, with the request that caused it', async () => {
  await expect.poll(metrics, { timeout: 20_000 }).toMatchObject({ 'gateway_alerts_total{type="cap.threshold"}': 1 })
  const [first] = logged().filter(({ event }) => event === 'request')
  const alerts = logged().filter(({ event }) => event === 'alert')
  expect(alerts).toMatchObject([{ account: 'acme', request: first?.['id'], cap: 'daily', percent: 0.1, used: '1' }])
})

test('a failed request is logged with a cause that the client does not see', async () => {
  const error = (await ask('down').catch((thrown: unknown) => thrown)) as InstanceType<typeof OpenAI.APIError>
  expect(error.status).toBe(503)
  expect(error.message).not.toContain('rejects our key')
  await expect.poll(metrics).toMatchObject({ 'gateway_failures_total{}': 1 })
  const failures = logged().filter(({ event }) => event === 'failure')
  expect(failures).toMatchObject([{ id: error.requestID, reason: expect.stringContaining('rejects our key') }])
})
