/**
 * A host process under attack. It must keep serving valid responses, must not exit before everything is closed, and must
 * then exit at once, because nothing may keep it alive. Prints one line of JSON per attack.
 */
import { createGateway, type Gateway, type GatewayOptions } from 'modelhatch'
import { openai } from 'modelhatch/providers'
import { scriptedVendor } from 'modelhatch/testing'
import { authorization, defaultVendor, jsonHeaders, key, question } from '../gateway.ts'
import { plainHosts, type Host, type RunningHost } from '../hosts.ts'
import { disconnect, disconnects, faults } from './attacks.ts'
import { misbehaviours } from './plug-ins.ts'
import { changes, stateOf } from './state.ts'
import { slowness } from '../../../cpu-time.ts'

const hosts = ['Express 5', 'Koa 3', 'node:http', 'Express 4', 'Koa 2'].map(
  (wanted) => plainHosts.find(({ name }) => name === wanted) as Host,
)
const shortTimeouts = { authMs: 40, storeMs: 40, stallMs: 500 }
const gateways: Gateway[] = []
const running: RunningHost[] = []

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

async function start(host: Host, options: GatewayOptions): Promise<RunningHost> {
  const gateway = createGateway({
    retry: { maxAttempts: 1 },
    ...options,
    timeouts: { ...shortTimeouts, ...options.timeouts },
  })
  gateways.push(gateway)
  const started = await host.start(gateway)
  running.push(started)
  return started
}

/** Milliseconds after which a request counts as hanging. */
const hangMs = Math.ceil(5_000 * slowness())

/** The status of a response, and what is wrong with the response itself. */
async function answerOf(
  host: RunningHost,
  target: string,
  stream = false,
  timeoutMs = hangMs,
): Promise<{ status: number; wrong?: string }> {
  const chat = target === '/v1/chat/completions'
  const response = await fetch(`http://127.0.0.1:${host.port}${host.path}${target}`, {
    method: chat ? 'POST' : 'GET',
    headers: chat ? jsonHeaders : { authorization },
    ...(chat && { body: JSON.stringify({ ...question, stream }) }),
    signal: AbortSignal.timeout(timeoutMs),
  })
  const { status, headers } = response
  const text = await response.text()
  const fault = (wrong: string) => ({ status, wrong: `${wrong}: ${text.slice(0, 500)}` })
  if (/sk-secret|sk-vendor|evil/.test(text + JSON.stringify([...headers]))) return fault('contains a secret')
  if (headers.has('set-cookie')) return fault('was split by a header')
  if (headers.get('content-type')?.startsWith('text/event-stream')) {
    const frames = text.split('\n\n').filter((frame) => frame !== '' && !frame.startsWith(':'))
    const failed = frames.at(-1)?.startsWith('data: {"error":{') === true
    const done = frames.at(-1) === 'data: [DONE]'
    if (!text.endsWith('\n\n') || failed === done || (failed && text.includes('[DONE]')))
      return fault('has neither [DONE] nor an error at its end')
    return { status: failed ? 503 : 200 }
  }
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown; type?: unknown; code?: unknown } }
    if (status >= 400 && !(error?.message && error.type && error.code)) return fault('has not the format of an error')
  } catch {
    return fault('is not JSON')
  }
  return { status }
}

async function attempt(name: string, act: () => Promise<object>): Promise<void> {
  try {
    print({ name, ...(await act()) })
  } catch (error) {
    print({ name, wrong: String(error) })
  }
}

/** Runs `act` for all items, `count` at once. */
async function concurrently<T>(items: readonly T[], count: number, act: (item: T, index: number) => Promise<void>) {
  const queue = items.entries()
  const worker = async () => {
    for (const [index, item] of queue) await act(item, index)
  }
  await Promise.all(Array.from({ length: count }, worker))
}

const vendor = await scriptedVendor(defaultVendor)
const provider = openai({ baseURL: vendor.baseURL, apiKey: 'sk-vendor' })
const good: GatewayOptions = { keys: { [key]: {} }, models: { small: provider } }
const witnesses = await Promise.all(hosts.map((host) => start(host, good)))
for (const witness of witnesses) await answerOf(witness, '/v1/chat/completions')
const before = stateOf()

const plugIns = concurrently(misbehaviours, 32, async ({ name, options, target, fine, endless = false }, index) => {
  const host = hosts[index % hosts.length] as Host
  const server = await start(host, { ...good, ...options })
  const forms = target === undefined ? ['non-streaming', 'stream'] : [target]
  await Promise.all(
    forms.map((each) =>
      attempt(`${name} (${each}, ${host.name})`, async () => {
        const path = target ?? '/v1/chat/completions'
        const response = answerOf(server, path, each === 'stream', endless ? 200 : 8_000)
        if (endless) return response.catch(() => ({ status: 200 }))
        const { status, wrong } = await response
        return fine.includes(status) ? { status, wrong } : { status, wrong: wrong ?? `not one of ${fine.join()}` }
      }),
    ),
  )
})

const leaving = concurrently(witnesses, 5, async (witness) => {
  await concurrently(disconnects, 4, (each) =>
    attempt(`a client disconnects ${each.name} (${witness.name})`, () => disconnect(witness, each).then(() => ({}))),
  )
})
await Promise.all([plugIns, leaving])

for (const [name, reply] of Object.entries(faults)) {
  vendor.reply = reply
  await Promise.all(
    witnesses.flatMap((witness) =>
      [false, true].map((stream) =>
        attempt(`a vendor ${name} (${stream ? 'stream' : 'non-streaming'}, ${witness.name})`, async () => {
          const { status, wrong } = await answerOf(witness, '/v1/chat/completions', stream)
          return wrong === undefined && ![200, 400, 500, 503].includes(status)
            ? { status, wrong: 'unexpected status' }
            : { status, wrong }
        }),
      ),
    ),
  )
}
vendor.reply = defaultVendor

for (const witness of witnesses) {
  for (const stream of [false, true]) {
    await attempt(`the server works afterwards (${stream ? 'stream' : 'non-streaming'}, ${witness.name})`, async () => {
      const { status, wrong } = await answerOf(witness, '/v1/chat/completions', stream)
      return status === 200 ? { status, wrong } : { status, wrong: wrong ?? 'unexpected status' }
    })
  }
}

// Closing the gateway does not wait for providers that fail to close.
const parts = {
  throws: () => {
    throw new Error('evil')
  },
  rejects: () => Promise.reject(new Error('evil')),
  hangs: () => new Promise<void>(() => undefined),
}
for (const [name, close] of Object.entries(parts)) {
  const gateway = createGateway({ ...good, models: { small: { ...provider, close } } })
  const closed = gateway.close({ graceMs: 0 })
  if (name !== 'hangs') await attempt(`a provider that ${name} when it is closed`, () => closed.then(() => ({})))
}

await Promise.all(running.map((server) => server.close()))
await Promise.all(gateways.map((gateway) => gateway.close({ graceMs: 0 })))
await vendor.close()
print({ changes: changes(before, stateOf()) })
print({ closed: Date.now() })
process.on('exit', () => print({ exited: Date.now() }))
