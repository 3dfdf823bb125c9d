/** What a process that is killed spends: calls of slices, told to the store as a gateway does. */
import type { AdmissionStore, CapClaim, LimitClaim } from '../../adapters/stores/index.ts'
import { Slices } from '../../src/admission/slices/slices.ts'
import { ownedBy } from '../../src/money/limits/bucket.ts'

export const places = 10_000

/** The limits of a call; its units are not refilled. */
export function slicedClaim(account: string, id: string, leaseMs: number): LimitClaim {
  const rate = { bucket: ownedBy(account, 'units'), cost: 2, limit: 1, periodMs: 1e12, burst: 1_000_000 }
  return { id, rates: [rate], places: [{ bucket: ownedBy(account, 'places'), places }], leaseMs }
}

const period = { window: 'always', start: 0, end: 8e15, rollingMs: 0 }

/** The cap of an account. Its limit is not reached. */
export function slicedCap(account: string): CapClaim {
  const { window, start, end } = period
  return { name: `cap of ${account}`, window, periods: { boundaries: [start, end] }, limits: { calls: 1_000_000_000n } }
}

/** Never ends. `begun` is called once slices were drawn and told. */
export async function spendSliced(
  admission: AdmissionStore,
  name: string,
  { accounts, leaseMs }: { readonly accounts: readonly string[]; readonly leaseMs: number },
  begun: () => void,
): Promise<never> {
  const slices = new Slices({
    ms: 100,
    admit: (claim, hold, slice) => admission.admit(claim, hold, slice),
    finish: (ends) => admission.finish([], ends),
  })
  let open: { readonly id: string; readonly account: string }[] = []
  for (let round = 0; ; round++) {
    const calls = Array.from({ length: 40 }, (_, index) => {
      return { id: `${name} ${round} ${index}`, account: accounts[index % accounts.length] as string }
    })
    // One after the other, as they arrive: those of a turn would not wait for the slice that the first one draws.
    for (const { id, account } of calls) {
      const hold = { id, account, amount: 10n, tokens: 3n, leaseMs, caps: [slicedCap(account)] }
      await slices.admit(slicedClaim(account, id, leaseMs), hold)
    }
    const ended = open.map(({ id, account }, index) => {
      const returned = { id, places: slicedClaim(account, id, leaseMs).places.map(({ bucket }) => bucket) }
      const { name } = slicedCap(account)
      const charge = { amount: BigInt(index % 11), tokens: 3n, caps: [{ name, ...period }] }
      return { returned: { ...returned, corrections: [] }, end: { id, account, ...(index % 3 > 0 && charge) } }
    })
    await slices.tell((ends) => admission.finish(ended, ends))
    open = calls
    if (round === 3) begun()
  }
}
