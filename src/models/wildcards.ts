import { within } from '../http/deadline.ts'
import type { Provider } from '../providers/contract.ts'
import type { ModelObject } from '../wire/model.ts'
import type { Model } from './contract.ts'

/** Timeout in milliseconds of a vendor's model list; the list is then sent without its models. */
const vendorListMs = 2_500
/** Milliseconds for which a vendor's model list counts, and after which it is asked for again while the vendor is down. */
const [ageMs, retryMs] = [300_000, 5_000]

/** A model whose name ends in `*`, and what its vendor lists. */
export interface Wildcard {
  /** The text before the `*`. */
  readonly prefix: string
  readonly model: Model
  listed?: { readonly models: readonly ModelObject[]; readonly at: number }
  /** The request to the vendor in progress. */
  asking?: Promise<void> | undefined
}

export function wildcardOf(model: Model): Wildcard {
  return { prefix: model.id.slice(0, -1), model }
}

/** Whether a name is one of a wildcard. */
export function isOf({ prefix }: Wildcard, id: string): boolean {
  return id.length > prefix.length && id.startsWith(prefix)
}

/** The model of a wildcard with a name. */
export function openModel({ prefix, model }: Wildcard, id: string): Model {
  const rest = id.slice(prefix.length)
  return {
    ...model,
    id,
    deployments: model.deployments.map((each) => ({ ...each, model: each.model.replace('*', () => rest) })),
  }
}

/** The models that the vendor lists, or its last list while the vendor is down. */
export async function offeredBy(wildcard: Wildcard, now: () => number): Promise<Model[]> {
  const provider = wildcard.model.deployments[0]?.provider
  if (provider?.models === undefined) return []
  if (wildcard.listed === undefined || now() - wildcard.listed.at > ageMs) {
    wildcard.asking ??= ask(wildcard, provider, now).finally(() => (wildcard.asking = undefined))
    await wildcard.asking
  }
  return (wildcard.listed?.models ?? []).map(({ id, created, owned_by: ownedBy }) => ({
    ...openModel(wildcard, wildcard.prefix + id),
    created,
    ownedBy,
  }))
}

/** Concurrent callers share one request to the vendor, which is independent of the client that caused it. */
async function ask(wildcard: Wildcard, provider: Provider, now: () => number): Promise<void> {
  try {
    const asked = Promise.resolve(provider.models?.({ signal: AbortSignal.timeout(vendorListMs) }))
    const models = await within(vendorListMs, asked, 'the list of a vendor')
    wildcard.listed = { models: models ?? [], at: now() }
  } catch {
    wildcard.listed = { models: wildcard.listed?.models ?? [], at: now() - ageMs + retryMs }
  }
}
