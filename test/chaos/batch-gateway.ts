/**
 * A gateway process that serves batches, which the test kills at random moments. Its clock runs thirty times as fast as real time,
 * so that the leases of a process that has died expire within seconds.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mount } from '../../adapters/hosts/node.ts'
import { createGateway } from '../../src/index.ts'
import { anthropic } from '../../src/providers/index.ts'
import { openBundle, type Place } from '../bundles.ts'

const { vendor, place, account, speed } = JSON.parse(process.argv[2] ?? '{}') as {
  readonly vendor: string
  readonly place: Place
  readonly account: string
  readonly speed: number
}
const { storage } = await openBundle(place)

const gateway = createGateway({
  batches: true,
  keys: { 'sk-chaos': { account } },
  models: { m: { provider: anthropic({ baseURL: vendor }), price: { input: '2', output: '2' } } },
  // Without the store's clock, which runs in real time.
  storage: { ...storage, batches: Object.assign(storage.batches, { now: undefined }) },
  billing: { currency: 'USD' },
  tasks: { sweepMs: 100 },
  timeouts: { storeMs: 20_000 },
  clock: () => Date.now() * speed,
})
const server = createServer({ keepAliveTimeout: 600_000 }, mount(gateway))
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
