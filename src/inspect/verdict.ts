/** Asking an inspector: within its time, and with what its failure means. */
import { GatewayError } from '../errors.ts'
import { within } from '../http/deadline.ts'
import type { InspectedCall, Inspector } from './contract.ts'

/** What inspectors of one request are asked with. */
export interface Asking {
  readonly call: InspectedCall
  /** Gets the failures that the request survives. */
  readonly failed: (error: unknown) => void
}

/** What an inspector says; undefined if it lets pass. Rejects with 503 if it fails and must not. */
export async function verdictOf<Verdict>(
  { name = 'an inspector', deadlineMs = 2_000, onFailure = 'refuse' }: Inspector,
  { failed }: Asking,
  ask: () => Verdict | Promise<Verdict>,
): Promise<Verdict | undefined> {
  try {
    const verdict = ask()
    return verdict instanceof Promise ? await within(deadlineMs, verdict, name) : verdict
  } catch (cause) {
    if (onFailure === 'refuse')
      throw new GatewayError('service_unavailable', { message: notChecked, cause, fault: 'gateway_error' })
    failed(cause)
    return undefined
  }
}

const notChecked = 'The content could not be checked. Try again later.'
