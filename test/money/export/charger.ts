/** A process that charges accounts and exports the charges to Stripe, until it is killed; or only exports, if it is told so. */
import { stripeMeter } from '../../../src/index.ts'
import { Exporter } from '../../../src/money/export/exporter.ts'
import { askingLots, type AskLedger } from '../../../src/money/lots/credits.ts'
import { Guard } from '../../../src/records/guard.ts'
import { openBundle, type Place } from '../../bundles.ts'

const { charges, accounts, baseURL, ...place } = JSON.parse(process.argv[2] as string) as Place & {
  readonly charges: boolean
  readonly accounts: readonly string[]
  readonly baseURL: string
}
const { storage } = await openBundle(place)
const { ledger } = storage
const guard = new Guard({ name: 'the ledger', timeoutMs: 5_000, now: () => performance.now() })
const send = stripeMeter({ apiKey: 'sk_test', event: 'llm', customer: (account) => `cus_${account}`, baseURL })
const exporter = new Exporter({
  ask: askingLots(ledger, guard) as AskLedger,
  sink: { send, since: 0, timeoutMs: 250 },
  now: Date.now,
  failed: () => undefined,
})
// Keeps the process running.
process.on('message', () => undefined)
process.send?.('ready')
for (const count of charges ? counting() : []) {
  const account = accounts[count % accounts.length] as string
  const id = `${process.pid} ${count}`
  await ledger.hold({ id, account, amount: 100n, leaseMs: 60_000 })
  await ledger.settle({ id, account, amount: BigInt(1 + (count % 7)) })
  exporter.use(account)
  await new Promise((resolve) => setTimeout(resolve, 5))
}

function* counting(): Generator<number, void> {
  for (let count = 0; ; count++) yield count
}
