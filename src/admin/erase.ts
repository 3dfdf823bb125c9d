/** Deletion of what is kept of an account for later requests. */
import { noticeMs } from '../money/caps/contract.ts'
import type { Guard } from '../records/guard.ts'
import type { AdminServices } from './services.ts'

/** What is left of an erased account until it expires: what the store cannot delete, and videos that are still being made. */
export interface Remainder {
  /** Stored responses, responses kept for idempotency keys, videos with their prompts, alerts, or keys of the options. */
  readonly kind: 'responses' | 'idempotency' | 'videos' | 'alerts' | 'keys'
  /** When the last one expires, in milliseconds since the epoch. Undefined if the store decides, and of keys. */
  readonly until?: number
}

/** Deletes the vendor keys, stored responses, idempotent responses, videos and alerts of an account. Returns what is left. */
export async function eraseStored(services: AdminServices, account: string): Promise<Remainder[]> {
  const { responses, idempotency, vendorKeys, videos, ledger, pageGuard, now } = services
  const left: Remainder[] = []
  await pageGuard('the store of vendor keys').call(() => vendorKeys?.deleteAll(account))
  services.vault?.known.forget()
  if (!(await deleteAll(responses, pageGuard('the response store'), account))) left.push({ kind: 'responses' })
  if (idempotency !== undefined) {
    const { store, keepMs } = idempotency
    const all = await deleteAll(store, pageGuard('the idempotency store'), account)
    if (!all) left.push({ kind: 'idempotency', until: now() + keepMs })
  }
  const caps = ledger?.caps
  if (caps !== undefined) {
    const deleteNotices = caps.deleteNotices && { deleteAll: (of: string) => caps.deleteNotices?.(of) ?? false }
    const all = await deleteAll(deleteNotices ?? {}, pageGuard('the ledger'), account)
    if (!all) left.push({ kind: 'alerts', until: now() + noticeMs })
  }
  const until = await videos.removeAll(account)
  if (until > 0) left.push({ kind: 'videos', until })
  return left
}

interface Deleting {
  deleteAll?(account: string): Promise<boolean> | boolean
}

/** Returns false if the store does not offer it. */
async function deleteAll(store: Deleting, guard: Guard, account: string): Promise<boolean> {
  if (store.deleteAll === undefined) return false
  while (await guard.call(() => store.deleteAll?.(account))) await new Promise(setImmediate)
  return true
}
