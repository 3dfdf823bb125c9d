/**
 * A gateway process that serves batches, which the test kills at random moments. Its clock runs `speed` times as fast as real time,
 * so that the leases of a process that has died expire within seconds.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mount } from '../../adapters/hosts/node.ts'
import { createGateway, fileDirectory, type StorageBundle } from '../../src/index.ts'
import { anthropic, openai } from '../../src/providers/index.ts'
import { openBundle, type Place } from '../bundles.ts'
import { storeTimeouts } from '../patience.ts'

const { vendor, place, account, speed, folder } = JSON.parse(process.argv[2] ?? '{}') as {
  readonly vendor: string
  readonly place: Place
  readonly account: string
  readonly speed: number
  /** Of files. */
  readonly folder: string
}
const { storage } = await openBundle(place)
const price = { input: '2', output: '2' }

function unclocked(name: 'batches' | 'fileBatches' | 'files'): StorageBundle {
  return { [name]: Object.assign(storage[name], { now: undefined }) }
}

const gateway = createGateway({
  batches: { files: fileDirectory(folder) },
  keys: { 'sk-chaos': { account } },
  models: {
    m: { provider: anthropic({ baseURL: vendor }), price },
    g: { provider: openai({ preset: 'openai', baseURL: vendor }), price },
  },
  // Without the store's clock, which runs in real time.
  storage: { ...storage, ...unclocked('batches'), ...unclocked('fileBatches'), ...unclocked('files') },
  billing: { currency: 'USD' },
  tasks: { sweepMs: 100 },
  timeouts: storeTimeouts,
  clock: () => Date.now() * speed,
})
const server = createServer({ keepAliveTimeout: 600_000 }, mount(gateway))
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
