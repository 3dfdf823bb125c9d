/** Deletion of what is kept of an account for later requests. */
import { noticeMs } from '../money/caps/contract.ts'
import type { AdminServices } from './services.ts'

/** What is left of an erased account until it expires: what the store cannot delete, and videos that are still being made. */
export interface Remainder {
  /** Stored responses, responses kept for idempotency keys, videos with their prompts, alerts, or keys of the options. */
  readonly kind: 'responses' | 'idempotency' | 'videos' | 'alerts' | 'keys'
  /** When the last one expires, in milliseconds since the epoch. Undefined if the store decides, and of keys. */
  readonly until?: number
}

/** Deletes the content, vendor keys, stored responses, idempotent responses, batches with their files, videos and alerts of an account. Returns what is left. */
export async function eraseStored(services: AdminServices, account: string): Promise<Remainder[]> {
  const { responses, idempotency, idempotencyMs, vendorKeys, videos, ledger, now } = services
  const left: Remainder[] = []
  // Before the responses, so that none is stored when it ends.
  await services.background.removeAll(account)
  for (const each of services.batches) await each.removeAll(account)
  await services.content?.reader.erase(account)
  if (vendorKeys.store !== undefined) await vendorKeys.page((store) => store.deleteAll(account))
  services.vault?.known.forget()
  if (responses.store?.deleteAll === undefined) left.push({ kind: 'responses' })
  else await responses.steps(async (store) => (await store.deleteAll?.(account)) ?? false)
  if (idempotency.store?.deleteAll !== undefined)
    await idempotency.steps(async (store) => (await store.deleteAll?.(account)) ?? false)
  else if (idempotency.store !== undefined) left.push({ kind: 'idempotency', until: now() + idempotencyMs })
  const caps = ledger.store?.caps
  if (caps?.deleteNotices !== undefined) await ledger.steps(async () => (await caps.deleteNotices?.(account)) ?? false)
  else if (caps !== undefined) left.push({ kind: 'alerts', until: now() + noticeMs })
  const until = await videos.removeAll(account)
  if (until > 0) left.push({ kind: 'videos', until })
  return left
}
