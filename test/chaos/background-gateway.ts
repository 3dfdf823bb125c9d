/**
 * A gateway process that makes responses in the background, which the test kills at random moments. Its clock runs four times as
 * fast as real time, so that the leases of a process that has died expire within seconds.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mount } from '../../adapters/hosts/node.ts'
import { createGateway } from '../../src/index.ts'
import { openai } from '../../src/providers/index.ts'
import { openBundle, type Place } from '../bundles.ts'
import { storeTimeouts } from '../patience.ts'

const { vendor, place, account } = JSON.parse(process.argv[2] ?? '{}') as {
  readonly vendor: string
  readonly place: Place
  readonly account: string
}
const { storage } = await openBundle(place)

const gateway = createGateway({
  keys: { 'sk-chaos': { account } },
  models: { m: { provider: openai({ baseURL: vendor }), price: { input: '1', output: '1' } } },
  // Without the store's clock, which runs in real time.
  storage: { ...storage, background: Object.assign(storage.background, { now: undefined }) },
  billing: { currency: 'USD' },
  idempotency: { leaseMs: 2_000 },
  tasks: { sweepMs: 100 },
  timeouts: storeTimeouts,
  clock: () => Date.now() * 4,
})
const server = createServer({ keepAliveTimeout: 600_000 }, mount(gateway))
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
