/** Who has created a task, as the data of videos and batches keep it. */
import type { Caller } from '../callers/contract.ts'
import type { Receipt } from '../money/receipt.ts'
import type { Attribution } from '../observe/usage/attribution.ts'
import type { Cap } from '../records/cap.ts'
import type { TaskRecord } from './contract.ts'

const named = ['group', 'key', 'user', 'session', 'agent', 'tags'] as const

type Named = Pick<Receipt, (typeof named)[number]>

/** The caller of the request that created a task, and whom the request names. */
export interface TaskOwner extends Named {
  /** Whether the host named the user, and not the request. */
  readonly userIsKnown?: true
  /** The caps of the caller's key at the submission. */
  readonly callerCaps?: readonly Cap[]
}

type Owned = Pick<TaskRecord, 'account'> & { readonly data: TaskOwner }

/** What a task keeps of its creation. */
export function ownerOf({ group, key, user, caps }: Caller, attribution: Attribution): TaskOwner {
  return {
    group,
    ...(key !== undefined && { key }),
    ...attribution,
    ...(user !== undefined && { userIsKnown: true }),
    ...(caps !== undefined && { callerCaps: caps }),
  }
}

/** The caller, as far as caps know it. */
export function callerOf({ account, data }: Owned): Caller {
  const { group, key, user, userIsKnown, tags, callerCaps } = data
  return {
    account,
    group,
    ...(key !== undefined && { key }),
    ...(userIsKnown === true && user !== undefined && { user }),
    ...(tags !== undefined && { tags }),
    ...(callerCaps !== undefined && { caps: callerCaps }),
  }
}

/** What the receipts of a task say of its owner. */
export function namedIn({ account, data }: Owned): Pick<Receipt, 'account'> & Named {
  const known = named.filter((name) => data[name] !== undefined).map((name) => [name, data[name]])
  return { account, ...(Object.fromEntries(known) as unknown as Named) }
}
