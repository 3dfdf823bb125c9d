/**
 * A host of its own that everything hostile is thrown at. It must be able to answer to the end, must not end by itself
 * before it is told to, and then must: nothing may hold it. Says what happened in one line of JSON each.
 */
import { createGateway, type Gateway, type GatewayOptions } from 'modelhatch'
import { openai } from 'modelhatch/providers'
import { scriptedVendor } from 'modelhatch/testing'
import { authorization, helpfulVendor, jsonHeaders, key, question } from '../gateway.ts'
import { plainHosts, type Host, type RunningHost } from '../hosts.ts'
import { departures, depart, faults } from './attacks.ts'
import { misbehaviours } from './plug-ins.ts'
import { changes, stateOf } from './state.ts'
import { slowness } from '../../../cpu-time.ts'

const hosts = ['Express 5', 'Koa 3', 'node:http', 'Express 4', 'Koa 2'].map(
  (wanted) => plainHosts.find(({ name }) => name === wanted) as Host,
)
const patience = { authMs: 40, storeMs: 40, stallMs: 500 }
const gateways: Gateway[] = []
const running: RunningHost[] = []

function tell(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

async function start(host: Host, options: GatewayOptions): Promise<RunningHost> {
  const gateway = createGateway({
    retry: { maxAttempts: 1 },
    ...options,
    timeouts: { ...patience, ...options.timeouts },
  })
  gateways.push(gateway)
  const started = await host.start(gateway)
  running.push(started)
  return started
}

/** After so long a request hangs. */
const hangMs = Math.ceil(5_000 * slowness())

/** The status of an answer, and what is wrong with the answer itself. */
async function answerOf(
  host: RunningHost,
  target: string,
  stream = false,
  patienceMs = hangMs,
): Promise<{ status: number; wrong?: string }> {
  const chat = target === '/v1/chat/completions'
  const response = await fetch(`http://127.0.0.1:${host.port}${host.path}${target}`, {
    method: chat ? 'POST' : 'GET',
    headers: chat ? jsonHeaders : { authorization },
    ...(chat && { body: JSON.stringify({ ...question, stream }) }),
    signal: AbortSignal.timeout(patienceMs),
  })
  const { status, headers } = response
  const text = await response.text()
  const said = (wrong: string) => ({ status, wrong: `${wrong}: ${text.slice(0, 500)}` })
  if (/sk-secret|sk-vendor|evil/.test(text + JSON.stringify([...headers]))) return said('tells a secret')
  if (headers.has('set-cookie')) return said('split')
  if (headers.get('content-type')?.startsWith('text/event-stream')) {
    const frames = text.split('\n\n').filter((frame) => frame !== '' && !frame.startsWith(':'))
    const failed = frames.at(-1)?.startsWith('data: {"error":{') === true
    const done = frames.at(-1) === 'data: [DONE]'
    if (!text.endsWith('\n\n') || failed === done || (failed && text.includes('[DONE]')))
      return said('ends neither way')
    return { status: failed ? 503 : 200 }
  }
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown; type?: unknown; code?: unknown } }
    if (status >= 400 && !(error?.message && error.type && error.code)) return said('has not the shape of an error')
  } catch {
    return said('is no JSON')
  }
  return { status }
}

async function attempt(name: string, act: () => Promise<object>): Promise<void> {
  try {
    tell({ name, ...(await act()) })
  } catch (error) {
    tell({ name, wrong: String(error) })
  }
}

/** In a few lanes at once, as it happens to a server. */
async function inLanes<T>(items: readonly T[], lanes: number, act: (item: T, index: number) => Promise<void>) {
  const queue = items.entries()
  const lane = async () => {
    for (const [index, item] of queue) await act(item, index)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

const vendor = await scriptedVendor(helpfulVendor)
const provider = openai({ baseURL: vendor.baseURL, apiKey: 'sk-vendor' })
const good: GatewayOptions = { keys: { [key]: {} }, models: { small: provider } }
const witnesses = await Promise.all(hosts.map((host) => start(host, good)))
for (const witness of witnesses) await answerOf(witness, '/v1/chat/completions')
const before = stateOf()

const plugIns = inLanes(misbehaviours, 32, async ({ name, options, target, fine, endless = false }, index) => {
  const host = hosts[index % hosts.length] as Host
  const server = await start(host, { ...good, ...options })
  const asked = target === undefined ? ['whole', 'stream'] : [target]
  await Promise.all(
    asked.map((each) =>
      attempt(`${name} (${each}, ${host.name})`, async () => {
        const path = target ?? '/v1/chat/completions'
        const asking = answerOf(server, path, each === 'stream', endless ? 200 : 8_000)
        if (endless) return asking.catch(() => ({ status: 200 }))
        const { status, wrong } = await asking
        return fine.includes(status) ? { status, wrong } : { status, wrong: wrong ?? `not one of ${fine.join()}` }
      }),
    ),
  )
})

const leaving = inLanes(witnesses, 5, async (witness) => {
  await inLanes(departures, 4, (departure) =>
    attempt(`a client leaves ${departure.name} (${witness.name})`, () => depart(witness, departure).then(() => ({}))),
  )
})
await Promise.all([plugIns, leaving])

for (const [name, reply] of Object.entries(faults)) {
  vendor.reply = reply
  await Promise.all(
    witnesses.flatMap((witness) =>
      [false, true].map((stream) =>
        attempt(`a vendor ${name} (${stream ? 'stream' : 'whole'}, ${witness.name})`, async () => {
          const { status, wrong } = await answerOf(witness, '/v1/chat/completions', stream)
          return wrong === undefined && ![200, 400, 500, 503].includes(status)
            ? { status, wrong: 'odd' }
            : { status, wrong }
        }),
      ),
    ),
  )
}
vendor.reply = helpfulVendor

for (const witness of witnesses) {
  for (const stream of [false, true]) {
    await attempt(`all is well in the end (${stream ? 'stream' : 'whole'}, ${witness.name})`, async () => {
      const { status, wrong } = await answerOf(witness, '/v1/chat/completions', stream)
      return status === 200 ? { status, wrong } : { status, wrong: wrong ?? 'is not well' }
    })
  }
}

// Parts that do not close are not waited for by the host either.
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
tell({ changes: changes(before, stateOf()) })
tell({ closed: Date.now() })
process.on('exit', () => tell({ exited: Date.now() }))
