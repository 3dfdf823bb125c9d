import { boundedCache } from '../../bounded-cache.ts'
import type { NamedUser, UsageRecord, UsageStore } from './contract.ts'

/** The user under which the usage of all users beyond the maximum of an account is recorded. */
export const otherUsers = '(other)'

/** A usage record, and whether its user was named by the request instead of the host. */
export interface Recording {
  readonly record: UsageRecord
  readonly userIsClaimed: boolean
}

/** Known users are remembered for as long as there is room; a rejected one is looked up again after this time. */
const rejectedMs = 60_000

/** Bounds the number of different users that the requests of one account can name. */
export class NamedUsers {
  readonly #store: UsageStore
  readonly #most: number
  /** Whether a user is recorded under its own name. */
  readonly #known = boundedCache<string, boolean>(20_000)
  /** The number of users of each account that this process has admitted, used if the store does not count them. */
  readonly #counts = boundedCache<string, number>(10_000)

  constructor(store: UsageStore, most: number) {
    this.#store = store
    this.#most = most
  }

  /** The records to append. Synchronous if the store is, or if all users are known. */
  recordsOf(batch: readonly Recording[]): readonly UsageRecord[] | Promise<readonly UsageRecord[]> {
    const users = this.#unknownIn(batch)
    return users === undefined ? this.#renamed(batch) : this.#learned(users, batch)
  }

  #learned(
    users: readonly NamedUser[],
    batch: readonly Recording[],
  ): readonly UsageRecord[] | Promise<readonly UsageRecord[]> {
    const learn = (admitted: readonly boolean[]) => {
      users.forEach(({ account, user }, index) => {
        const isAdmitted = admitted[index] === true
        this.#known.set(nameOf(account, user), isAdmitted, isAdmitted ? {} : { ttl: rejectedMs })
      })
      return this.#renamed(batch)
    }
    const admitted = this.#admit(users)
    return admitted instanceof Promise ? admitted.then(learn) : learn(admitted)
  }

  /** The users that were not asked for yet, each once; undefined if there are none. */
  #unknownIn(batch: readonly Recording[]): readonly NamedUser[] | undefined {
    let unknown: Map<string, NamedUser> | undefined
    for (const { record, userIsClaimed } of batch) {
      const { account, user } = record
      if (!userIsClaimed || user === undefined || user === otherUsers) continue
      const name = nameOf(account, user)
      if (!this.#known.has(name)) (unknown ??= new Map()).set(name, { account, user })
    }
    return unknown && [...unknown.values()]
  }

  #admit(users: readonly NamedUser[]): readonly boolean[] | Promise<readonly boolean[]> {
    if (this.#store.admitUsers !== undefined) return this.#store.admitUsers(users, this.#most)
    return users.map(({ account }) => {
      const count = this.#counts.get(account) ?? 0
      if (count >= this.#most) return false
      this.#counts.set(account, count + 1)
      return true
    })
  }

  #renamed(batch: readonly Recording[]): readonly UsageRecord[] {
    return batch.map(({ record, userIsClaimed }) => {
      const { account, user } = record
      if (!userIsClaimed || user === undefined || this.#known.get(nameOf(account, user)) === true) return record
      return { ...record, user: otherUsers }
    })
  }
}

function nameOf(account: string, user: string): string {
  return JSON.stringify([account, user])
}
