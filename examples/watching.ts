/**
 * Metrics for Prometheus and a log in JSON lines, from the channels that the gateway publishes on.
 *
 *     npm run example examples/watching.ts
 *
 *     curl http://127.0.0.1:3000/metrics
 */
import { subscribe } from 'node:diagnostics_channel'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { createGateway, type Channels } from 'modelhatch'
import { mount } from 'modelhatch/express'
import { defineProvider, demo, tryNext } from 'modelhatch/providers'

/** The value of each series, by its name and labels. */
const series = new Map<string, number>()
/** Upper bounds of the duration histogram, in seconds. */
const bounds = [0.1, 0.5, 1, 5, 30, 120, Infinity]

function count(name: string, labels: Readonly<Record<string, unknown>>, by = 1): void {
  // Names of models can come from clients: quotes and line breaks must not end the label.
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(String(value))}`)
  const key = `${name}{${pairs.join()}}`
  series.set(key, (series.get(key) ?? 0) + by)
}

function log(level: 'info' | 'warn' | 'error', event: string, fields: object): void {
  console.log(JSON.stringify({ time: new Date().toISOString(), level, event, ...fields }))
}

/** The message of an error and of what caused it. Only for the log: clients never see a cause. */
function reasonOf(error: unknown): string {
  const { message = String(error), cause } = Object(error) as Partial<Error>
  return cause === undefined ? message : `${message} (${reasonOf(cause)})`
}

/** `subscribe` with the types of the messages. */
function on<Name extends keyof Channels>(name: Name, listener: (message: Channels[Name]) => void): void {
  subscribe(name, (message) => listener(message as Channels[Name]))
}

on('modelhatch:receipt', (receipt) => {
  const { id, account, model, provider = 'none', outcome, code, attempts, usage, charge, totalMs } = receipt
  const labels = { model, provider }
  count('gateway_requests_total', { ...labels, outcome })
  count('gateway_tokens_total', { ...labels, kind: 'input' }, usage.prompt_tokens)
  count('gateway_tokens_total', { ...labels, kind: 'output' }, usage.completion_tokens)
  for (const bound of bounds) {
    const le = bound === Infinity ? '+Inf' : bound
    count('gateway_request_seconds_bucket', { model, le }, totalMs / 1000 <= bound ? 1 : 0)
  }
  count('gateway_request_seconds_sum', { model }, totalMs / 1000)
  count('gateway_request_seconds_count', { model })
  log('info', 'request', { id, account, model, provider, outcome, code, attempts, cost: charge?.cost, totalMs })
})

// Clients do not notice a deployment that fails behind a working fallback, so you should.
on('modelhatch:attempt', ({ id, model, provider, outcome, ms, error }) => {
  count('gateway_attempts_total', { provider, outcome })
  if (outcome === 'failed') log('warn', 'attempt failed', { id, model, provider, ms, reason: reasonOf(error) })
})

// Responses of 500 and above, and work behind a response that failed.
on('modelhatch:failure', ({ id, error }) => {
  count('gateway_failures_total', {})
  log('error', 'failure', { id, reason: reasonOf(error) })
})

on('modelhatch:task', ({ type, reason, task }) => {
  count('gateway_videos_total', { type })
  // The vendor may charge for a video that no account pays for.
  if (type === 'reconcile') log('error', 'reconcile', { id: task.id, account: task.account, reason })
})

// Once per threshold of a cap and level of a balance; again if a process died while it was delivered.
on('modelhatch:alert', ({ type, account, request, ...alert }) => {
  count('gateway_alerts_total', { type })
  log('warn', 'alert', { type, account, request, ...alert })
})

const broken = defineProvider({
  name: 'broken',
  chat() {
    throw tryNext(new Error('the vendor rejects our key'))
  },
})
const local = demo()

const gateway = createGateway({
  keys: { 'sk-demo': { account: 'acme' } },
  models: { demo: local, down: broken, covered: { route: ['down', { provider: local, providerModel: 'demo' }] } },
  // A cap with a threshold, so that there is something to be warned of.
  groups: { default: { models: '*', caps: [{ name: 'daily', period: 'day', calls: 1_000, thresholds: [0.1] }] } },
  billing: { currency: 'EUR', unpriced: 'free' },
})

const app = express()
app.use('/ai', mount(gateway))
// Reachable for anyone here. Serve it on a port of its own, or behind your own check.
app.get('/metrics', (_, response) => {
  const lines = [...series].map(([key, value]) => `${key} ${value}\n`)
  response.type('text/plain; version=0.0.4').send(lines.toSorted((left, right) => left.localeCompare(right)).join(''))
})

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', (error) => {
  if (error) throw error
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  log('info', 'listening', { baseURL: `${baseURL}/ai/v1`, metrics: `${baseURL}/metrics` })
})
process.once('SIGTERM', () => void gateway.close({ graceMs: 5_000 }).then(() => server.close()))
