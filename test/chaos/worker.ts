/** A process that runs tasks on a shared store for its parent. */
import { spendSliced } from './slice-spender.ts'
import { openBundle, type Place } from '../bundles.ts'
import { spendCapped, type CapWork } from './cap-spenders.ts'

export type Work =
  /** Places `spenders` concurrent holds of `cost`. Answers with the number of holds granted. */
  | {
      readonly do: 'hold'
      readonly round: string
      readonly account: string
      readonly spenders: number
      readonly cost: string
    }
  /** Holds, settles and releases until the process is killed. */
  | { readonly do: 'spend'; readonly accounts: readonly string[]; readonly leaseMs: number }
  /** The same with what slices admit, and with limits. */
  | { readonly do: 'spendSliced'; readonly accounts: readonly string[]; readonly leaseMs: number }
  /** Holds and settles within caps. Answers with a `CapSpent`. */
  | ({
      readonly do: 'spendCapped'
      readonly round: string
      readonly spenders: number
      readonly times: number
    } & CapWork)
  /** The same until the process is killed. */
  | ({ readonly do: 'spendCappedOn' } & CapWork)
  /** Draws single units for `ms` milliseconds. Answers with the time of each unit. */
  | {
      readonly do: 'draw'
      readonly bucket: string
      readonly limit: number
      readonly burst: number
      readonly ms: number
    }

export interface Drawn {
  /** For each unit, the times before and after the call, in milliseconds of the machine's monotonic clock. */
  readonly times: readonly (readonly [from: number, to: number])[]
}

const { clockMs, ...place } = JSON.parse(process.argv[2] as string) as Place & { readonly clockMs: number }
const clock = Date.now.bind(Date)
Date.now = () => clock() + clockMs
const bundle = await openBundle(place)
const { ledger, limits } = bundle.storage
const own = `process ${process.pid}`

async function work(task: Work): Promise<unknown> {
  switch (task.do) {
    case 'hold': {
      const holds = Array.from({ length: task.spenders }, async (_, index) => {
        const id = `${own} ${task.round} ${index}`
        return ledger.hold({ id, account: task.account, amount: BigInt(task.cost), leaseMs: 600_000 })
      })
      return (await Promise.all(holds)).filter(({ outcome }) => outcome === 'held').length
    }
    case 'spend': {
      await Promise.all(task.accounts.map(async (account) => spend(account, task.leaseMs)))
      return undefined
    }
    case 'spendSliced':
      return spendSliced(bundle.storage.admission, own, task, () => process.send?.({ begun: true }))
    case 'spendCapped':
      return spendCapped(ledger, task, `${own} ${task.round}`, task.spenders, task.times)
    case 'spendCappedOn': {
      await spendCapped(ledger, task, `${own} first`, 8, 1)
      process.send?.({ begun: true })
      return spendCapped(ledger, task, own, 8, Infinity)
    }
    case 'draw': {
      const drawers = Array.from({ length: 4 }, async (_, index) => draw(task, index))
      return { times: (await Promise.all(drawers)).flat() } satisfies Drawn
    }
  }
}

async function spend(account: string, leaseMs: number): Promise<never> {
  for (let made = 0; ; made++) {
    const hold = { id: `${own} ${account} ${made}`, account, amount: BigInt(5 + (made % 7)), leaseMs }
    await ledger.hold(hold)
    if (made % 3 === 0) await ledger.release(hold)
    else await ledger.settle({ ...hold, amount: BigInt(made % 11) })
    if (made === 2) process.send?.({ begun: true })
  }
}

async function draw({ bucket, limit, burst, ms }: Extract<Work, { do: 'draw' }>, index: number) {
  const times: [number, number][] = []
  const end = performance.now() + ms
  const now = () => Number(process.hrtime.bigint()) / 1e6
  for (let made = 0; performance.now() < end; made++) {
    const rates = [{ bucket, cost: 1, limit, periodMs: 1_000, burst }]
    const from = now()
    const { admitted } = await limits.take({ id: `${own} ${index} ${made}`, rates, places: [], leaseMs: 1_000 })
    if (admitted) times.push([from, now()])
    // Leaves the CPU to the other processes.
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return times
}

process.on('message', (task: Work | 'end') => {
  if (task === 'end') return void bundle.close().then(() => process.disconnect())
  work(task).then(
    (answer) => process.send?.({ answer }),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
process.send?.({ ready: true })
