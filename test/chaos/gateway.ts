/**
 * A gateway process of the chaos runs, which the test kills at random moments. Its clock runs thirty times as fast as real
 * time, so that one-minute leases expire within seconds.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'pg'
import { createClient } from '@redis/client'
import { mount } from '../../adapters/hosts/node.ts'
import { postgres } from '../../adapters/stores/postgres/postgres.ts'
import { Scripts } from '../../adapters/stores/redis/scripts.ts'
import { redisTasks } from '../../adapters/stores/redis/tasks.ts'
import { createGateway, GatewayError, type TaskStore } from '../../src/index.ts'
import { type Provider, type VideoProvider, retrySame } from '../../src/providers/index.ts'
import { statementMs } from '../patience.ts'

interface Settings {
  readonly vendor: string
  readonly kind: VideoProvider['submit']
  readonly store: 'postgres' | 'redis'
  readonly connection: string
  readonly prefix: string
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings
const clock = () => Date.now() * 30

async function openStore(): Promise<TaskStore> {
  const { connection, prefix } = settings
  if (settings.store === 'postgres') {
    const pool = new Pool({ connectionString: connection, max: 8 })
    pool.on('error', () => undefined)
    return withoutClock(postgres(pool, { schema: prefix, statementMs }).tasks)
  }
  const client = createClient({ url: connection })
  client.on('error', () => undefined)
  await client.connect()
  const scripts = new Scripts((...words) => client.sendCommand(words), false)
  return withoutClock(redisTasks(scripts, prefix))
}

/** The store without its clock, which runs in real time. */
function withoutClock(store: TaskStore): TaskStore {
  return Object.assign(store, { now: undefined })
}

function vendorProvider({ vendor, kind }: Settings): Provider {
  const ask = async (path: string, signal: AbortSignal, body?: object) => {
    try {
      const init = body === undefined ? { signal } : { signal, method: 'POST', body: JSON.stringify(body) }
      const response = await fetch(vendor + path, init)
      return { status: response.status, body: (await response.json()) as { id: string; done: boolean } }
    } catch (error) {
      throw retrySame(error)
    }
  }
  return {
    name: 'vendor',
    video: {
      submit: kind,
      // On the fast clock: a third of a second in real time.
      acceptBoundMs: 10_000,
      start: async ({ token, signal }) => ({ id: (await ask('/jobs', signal, { token })).body.id }),
      lookup: async (token, { signal }) => {
        const { status, body } = await ask(`/tokens/${token}`, signal)
        return status === 404 ? undefined : { id: body.id }
      },
      check: async (operation, { signal }) => {
        const { status, body } = await ask(`/jobs/${(operation as { id: string }).id}`, signal)
        if (status === 404) throw new GatewayError('not_found')
        return body.done ? { state: 'completed', url: 'https://videos.example/1.mp4' } : { state: 'processing' }
      },
    },
  }
}

const gateway = createGateway({
  keys: { 'sk-chaos': { account: 'chaos' } },
  models: { film: vendorProvider(settings) },
  storage: { tasks: await openStore() },
  tasks: { sweepMs: 100 },
  hooks: {
    task(event) {
      if (event.type === 'reconcile') process.send?.({ orphan: event.task.id })
    },
  },
  clock,
})
const server = createServer({ keepAliveTimeout: 600_000 }, mount(gateway))
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
