import type * as z from 'zod'
import { GatewayError, invalid } from '../../errors.ts'
import type { RegistryEntry, RegistryKind } from '../../models/stored/contract.ts'
import { entryName, snapshotOf, type Own } from '../../models/stored/snapshot.ts'
import type { Json } from '../../wire/json.ts'
import { requireId, requireValid } from '../check.ts'
import type { AdminServices, RegistryServices } from '../services.ts'
import type { Origin } from './views.ts'

/** A change. Null removes a field. */
export type DocumentChange<Fields> = {
  readonly [Name in keyof Fields]?: Exclude<Fields[Name], undefined> | null
} & VersionChoice

/** Which version is meant. */
export interface VersionChoice {
  /** The version that was read: a 409 if it was changed since. Default: the latest. */
  readonly version?: number
}

/** What a kind of documents has of its own. */
export interface DocumentKind<View> {
  readonly kind: Extract<RegistryKind, 'model' | 'group'>
  /** The rules of a new one, and of a change. */
  readonly rules: { readonly create: z.ZodType; readonly update: z.ZodType }
  /** Those of the options. */
  readonly own: (own: Own) => readonly View[]
  /** Throws for a name that is taken or unknown, which other processes would not mind. */
  readonly check: (id: string, value: never, entries: readonly RegistryEntry[], own: Own) => void
}

/** How often a change is made anew because another process was first. */
const tries = 5

/** Creates, lists, changes and removes models or groups. */
export class DocumentAdmin<Fields extends object, View extends Fields & Origin & { readonly id: string }> {
  readonly #kind: DocumentKind<View>
  readonly #services: AdminServices

  /** @internal */
  constructor(kind: DocumentKind<View>, services: AdminServices) {
    this.#kind = kind
    this.#services = services
  }

  /** All, those of the options first. Throws a 503 if the store fails. */
  async list(): Promise<readonly View[]> {
    const { live } = requireRegistry(this.#services)
    const entries = await entriesOf(this.#services)
    const { faults } = snapshotOf(entries, live.own)
    const own = this.#kind.own(live.own)
    const named = new Set(own.map(({ id }) => id))
    const stored = entries.filter(
      ({ kind, id, value }) => kind === this.#kind.kind && value !== undefined && !named.has(id),
    )
    return [
      ...own,
      ...stored.map((entry) => viewOf(entry, faults.get(entryName(entry.kind, entry.id))) as View).sort(byId),
    ]
  }

  /** The one with an id; undefined if there is none. */
  async find(id: string): Promise<View | undefined> {
    return (await this.list()).find((each) => each.id === id)
  }

  /** Creates one. Throws a 400 for invalid fields, and a 409 if there is one with this id. */
  async create(request: Fields & { readonly id: string }): Promise<View> {
    const { live } = requireRegistry(this.#services)
    requireValid(this.#kind.rules.create, request)
    const { id, ...fields } = request
    this.#requireOwn(id, live.own)
    const created = await this.#change('create', id, (before) => {
      if (before !== undefined) throw conflict(`There is a ${this.#kind.kind} "${id}" already. Change that one.`)
      return { ...fields, createdAt: this.#services.now() }
    })
    return viewOf(created) as View
  }

  /** Changes one. Throws a 404 if there is none, and a 409 for one of the options, or if it was changed since it was read. */
  async update(id: string, { version, ...change }: DocumentChange<Fields>): Promise<View> {
    requireValid(this.#kind.rules.update, { version, ...change })
    const updated = await this.#changeStored('update', id, version, (before) => {
      const changed: Record<string, unknown> = { ...before }
      for (const [name, value] of Object.entries(change)) {
        if (value === null) delete changed[name]
        else if (value !== undefined) changed[name] = value
      }
      return changed
    })
    return viewOf(updated) as View
  }

  /** Removes one. Throws like `update`, and a 409 if another one needs it. */
  async remove(id: string, { version }: VersionChoice = {}): Promise<void> {
    await this.#changeStored('remove', id, version, () => undefined)
  }

  #changeStored(
    action: string,
    id: string,
    version: number | undefined,
    change: (before: object) => object | undefined,
  ): Promise<RegistryEntry> {
    const { live } = requireRegistry(this.#services)
    requireId(id, 'id')
    this.#requireOwn(id, live.own)
    return this.#change(action, id, (before) => {
      if (before === undefined)
        throw new GatewayError('not_found', { param: 'id', message: `No such ${this.#kind.kind}.` })
      if (version !== undefined && before.version !== version) throw changedMeanwhile()
      return change(before.value as object)
    })
  }

  async #change(
    action: string,
    id: string,
    change: (before: RegistryEntry | undefined) => object | undefined,
  ): Promise<RegistryEntry> {
    const { live, store, guard } = requireRegistry(this.#services)
    const { kind } = this.#kind
    for (let tried = 0; tried < tries; tried++) {
      const entries = await entriesOf(this.#services)
      const latest = entries.find((each) => each.kind === kind && each.id === id)
      const before = latest?.value === undefined ? undefined : latest
      const value = change(before) as Json | undefined
      const after = { kind, id, version: (latest?.version ?? 0) + 1, ...(value !== undefined && { value }) }
      this.#requireServable(after, entries, live.own)
      if (!(await guard.call(() => store.put(after)))) continue
      await live.refresh()
      const shown = (entry: RegistryEntry | undefined) => (entry === undefined ? undefined : viewOf(entry))
      await this.#services.note({
        action: `${kind}s.${action}`,
        target: id,
        before: shown(before),
        after: shown(value === undefined ? undefined : after),
      })
      return after
    }
    throw changedMeanwhile()
  }

  /** Throws if an entry would not be served, or if another one would no longer be. */
  #requireServable(after: RegistryEntry, entries: readonly RegistryEntry[], own: Own): void {
    const others = entries.filter(({ kind, id }) => kind !== after.kind || id !== after.id)
    if (after.value !== undefined) this.#kind.check(after.id, after.value as never, others, own)
    const { faults } = snapshotOf([...others, after], own)
    const fault = faults.get(entryName(after.kind, after.id))
    if (fault !== undefined) throw invalid(fault, /^"?(\w+)/.exec(fault)?.[1] ?? '')
    const earlier = snapshotOf(entries, own).faults
    for (const [name, broken] of faults) {
      if (!earlier.has(name)) throw conflict(`Another one needs it: ${broken} Change that one first.`)
    }
  }

  #requireOwn(id: string, own: Own): void {
    if (!this.#kind.own(own).some((each) => each.id === id)) return
    throw conflict(`The ${this.#kind.kind} "${id}" is set in code, in the options of the gateway. Change it there.`)
  }
}

/** The services, if administration may change models. Throws a 400 otherwise. */
export function requireRegistry({ registry }: Pick<AdminServices, 'registry'>): RegistryServices {
  if (registry !== undefined) return registry
  throw invalid(
    'Models, groups and prices are set in code here. The option "registry" lets administration change them.',
  )
}

/** All that is stored now. */
export async function entriesOf(services: Pick<AdminServices, 'registry'>): Promise<readonly RegistryEntry[]> {
  const { store, guard } = requireRegistry(services)
  return guard.call(() => store.all())
}

export function conflict(message: string): GatewayError {
  return new GatewayError('conflict', { message, shouldRetry: false })
}

function changedMeanwhile(): GatewayError {
  return conflict('It was changed by somebody else since it was read. Read it again.')
}

function viewOf({ id, version, value }: RegistryEntry, fault?: string): object {
  const fields = value as object
  return { id, source: 'registry', version, ...fields, ...(fault !== undefined && { fault }) }
}

function byId(left: { readonly id: string }, right: { readonly id: string }): number {
  return left.id < right.id ? -1 : 1
}
