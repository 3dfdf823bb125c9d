/** Gateways that share a storage and a vendor. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { GatewayOptions, StorageBundle } from '../../../src/index.ts'
import { openai } from '../../../src/providers/index.ts'
import type { Place } from '../../bundles.ts'
import { sourceFlags } from '../../source-flags.ts'

export interface Sharing {
  /** The base URL of the vendor. */
  readonly vendor: string
  /** Account of the key `sk-test`. */
  readonly account: string
  /** Milliseconds until keys and holds of a dead process expire. Default 30,000. */
  readonly leaseMs?: number
}

/** The model `m` costs one micro-unit a token. */
export function optionsOf(storage: StorageBundle, { vendor, account, leaseMs = 30_000 }: Sharing): GatewayOptions {
  return {
    keys: { 'sk-test': { account } },
    models: { m: { provider: openai({ baseURL: vendor }), price: { input: '1', output: '1' } } },
    retry: { maxAttempts: 1 },
    billing: { currency: 'CNY', leaseMs },
    idempotency: { leaseMs },
    storage,
  }
}

export interface Child {
  readonly url: string
  readonly kill: () => Promise<void>
}

/** Starts such a gateway in its own process. */
export async function childAt(place: Place, sharing: Sharing): Promise<Child> {
  const path = fileURLToPath(new URL('child.ts', import.meta.url))
  const child = fork(path, [JSON.stringify({ place, ...sharing })], {
    execArgv: [...sourceFlags, '--disable-warning=ExperimentalWarning'],
  })
  const ended = once(child, 'exit')
  const [{ port }] = (await Promise.race([once(child, 'message'), ended.then(() => [{ port: 0 }])])) as [
    { port: number },
  ]
  return {
    url: `http://127.0.0.1:${port}`,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
