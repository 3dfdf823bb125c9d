import type { Caller } from '../callers/contract.ts'
import type { Groups } from '../models/group-fields.ts'
import type { Observer } from '../observe/observe.ts'
import type { ScopedCap } from '../records/cap.ts'
import type { ConfigWarning } from '../records/warning.ts'

export interface UserlessCapsOptions {
  readonly groups: Groups
  readonly billing: { readonly caps?: readonly ScopedCap[] | undefined }
  readonly observer: Pick<Observer, 'warning'>
}

/** Warns once of each cap per user that did not limit a call, because its caller has no user. */
export class UserlessCaps {
  readonly #options: UserlessCapsOptions
  /** Lists that were read before. */
  readonly #known = new WeakSet<readonly ScopedCap[]>()
  readonly #found = new Map<string, ConfigWarning>()

  constructor(options: UserlessCapsOptions) {
    this.#options = options
  }

  get warnings(): readonly ConfigWarning[] {
    return [...this.#found.values()]
  }

  /** A call of this caller is admitted. */
  note({ user, group }: Pick<Caller, 'user' | 'group'>): void {
    if (user !== undefined) return
    const { groups, billing } = this.#options
    const own = Object.hasOwn(groups, group) ? groups[group]?.caps : undefined
    if (own !== undefined) this.#read(own, `groups.${group}.caps`)
    if (billing.caps !== undefined) this.#read(billing.caps, 'billing.caps')
  }

  #read(caps: readonly ScopedCap[], where: string): void {
    if (this.#known.has(caps)) return
    this.#known.add(caps)
    for (const { name, per } of caps) {
      const id = `${where} ${name}`
      if (per !== 'user' || this.#found.has(id)) continue
      const message = `the cap "${name}" is per user and did not limit a call, because its caller has no user. Set "user" of keys, or let authenticate return one: the field "user" of a request does not count, because clients choose it.`
      const warning: ConfigWarning = { code: 'cap_without_user', where, message }
      this.#found.set(id, warning)
      this.#options.observer.warning(warning)
    }
  }
}
