import { randomBytes } from 'node:crypto'
import { GatewayError } from '../../errors.ts'
import type { Guard } from '../../records/guard.ts'
import type { Actor, Change } from './change.ts'
import { linked } from './chain.ts'
import type { AuditEntry, AuditStore } from './contract.ts'

/** How often an entry is linked anew because another process was first. */
const tries = 20

/** Writes changes into the audit log. */
export class AuditLog {
  readonly store: AuditStore
  readonly guard: Guard
  readonly #now: () => number

  constructor(store: AuditStore, guard: Guard, now: () => number) {
    this.store = store
    this.guard = guard
    this.#now = now
  }

  /** Writes a change that was made. Rejects with a 503 that says so if it cannot be written. */
  async write(actor: Actor | undefined, { action, account, ...about }: Change): Promise<void> {
    // Without the salt, what was erased could be guessed by its digest.
    const salt = randomBytes(16).toString('base64url')
    const named = { ...(account !== undefined && { account }), ...(actor?.name !== undefined && { actor: actor.name }) }
    const content = JSON.stringify({ salt, ...named, address: actor?.address, ...about })
    try {
      for (let tried = 0; tried < tries; tried++) {
        const before = await this.guard.call(() => this.store.last())
        const entry = linked(before, { number: (before?.number ?? 0) + 1, at: this.#now(), action, ...named, content })
        if (await this.guard.call(() => this.store.append(entry))) return
      }
      throw new Error(`${tries} entries of other processes came first`)
    } catch (cause) {
      const message = 'The change was made, but it could not be written to the audit log.'
      throw new GatewayError('service_unavailable', { message, cause, fault: 'gateway_store', shouldRetry: false })
    }
  }

  /** All entries in ascending order. */
  async *entries(): AsyncGenerator<AuditEntry> {
    for (let after = 0; ;) {
      const found = await this.guard.call(() => this.store.read(after, 1_000))
      yield* found
      const last = found.at(-1)
      if (last === undefined) return
      after = last.number
    }
  }
}
