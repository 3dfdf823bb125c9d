import { GatewayError } from '../errors.ts'
import type { Hold, HoldVerdict } from '../money/ledger/contract.ts'
import type { Guard } from '../records/guard.ts'
import type { AdmissionServices } from './services.ts'
import type { CallerCap } from './caps.ts'

/** Holds money for work that outlives its request. Rejects with the refusal of the ledger. `caps`: those that the hold claims. */
export async function holdDurably(
  admission: AdmissionServices,
  guard: Guard,
  given: Hold,
  caps: readonly CallerCap[],
): Promise<HoldVerdict | undefined> {
  const { expiry, options } = admission
  const { ledger } = options
  if (ledger === undefined) return undefined
  const hold = { ...given, durable: true }
  const ask = () => guard.call(() => ledger.hold(hold))
  const since = performance.now()
  const asked = async () => ({ hold: await ask() })
  let { hold: verdict } = await admission.retried({ claim: undefined, hold }, since, await asked(), asked)
  if (verdict.outcome === 'insufficient' && (await expiry?.renews(hold.account))) verdict = await ask()
  if (verdict.outcome === 'capped') throw admission.caps.refusal(caps, verdict, hold)
  if (verdict.outcome === 'insufficient') throw new GatewayError('insufficient_quota')
  return verdict
}
