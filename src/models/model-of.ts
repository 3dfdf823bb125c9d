/** Models as the options describe them, with the deployments of their routes. */
import { parseCost } from '../money/prices/cost.ts'
import { Price } from '../money/prices/price.ts'
import type { PriceOptions } from '../money/prices/price-options.ts'
import { picked } from '../records/picked.ts'
import type { Deployment, Model } from './contract.ts'
import { optionsOf, type ModelEntries, type ModelEntry } from './model-options.ts'

/** What a model has as its options say it. */
const sameOfModel = [
  'displayName',
  'groups',
  'contextWindow',
  'maxOutputTokens',
  'image',
  'video',
  'onDisconnect',
  'rate',
  'set',
  'prefer',
  'continue',
  'inspect',
] as const

/** What a deployment has as the entry of the route says it. */
const sameOfStep = ['contextWindow', 'when', 'firstContentMs', 'timeoutMs'] as const

/**
 * The model of an entry. `entries`: where the models in its route are found. `created`: seconds since the epoch. Throws a `TypeError`
 * that names an invalid field.
 */
export function modelOf(id: string, entry: ModelEntry, entries: ModelEntries, created: number): Model {
  const options = optionsOf(entry)
  const deployments = deploymentsOf(id, entries, [])
  const { route, price } = options
  // A route with a price of its own does not inherit `allow`, because its price may not cover those fields.
  const allow = options.allow ?? (route !== undefined && price !== undefined ? [] : undefined)
  return {
    ...picked(options, sameOfModel),
    id,
    created: options.created ?? created,
    ownedBy: options.ownedBy ?? deployments[0]?.provider.name ?? 'modelhatch',
    deployments,
    ...(price && { price: priceOf(id, price) }),
    ...(allow && { allow }),
  }
}

function deploymentsOf(id: string, entries: ModelEntries, above: string[]): Deployment[] {
  if (above.includes(id)) throw new TypeError(`models: the route of "${above[0]}" leads back to "${id}". Remove it.`)
  const entry = Object.hasOwn(entries, id) ? entries[id] : undefined
  if (entry === undefined)
    throw new TypeError(`models: the route of "${above.at(-1)}" names "${id}", which is not a model.`)
  const options = optionsOf(entry)
  const open = id.endsWith('*')
  if (options.provider !== undefined) {
    const { provider, providerModel, price, cost } = options
    // In a wildcard, `providerModel` is a wildcard too: the client's text for one `*` replaces the other.
    const rest = {
      ...picked(options, ['contextWindow', 'allow', 'set']),
      ...(open && { open }),
      ...(price && { price: priceOf(id, price) }),
      ...(cost && { cost: readAs(id, () => parseCost(cost)) }),
    }
    return [{ provider, model: providerModel ?? (open ? '*' : id), order: 0, weight: 1, ...rest }]
  }
  return (options.route ?? []).flatMap((step, index) => {
    if (typeof step === 'string') return inOrder(deploymentsOf(step, entries, [...above, id]), index, 1)
    const { order = index, weight = 1 } = step
    const limits = picked(step, sameOfStep)
    if ('model' in step) {
      const deployments = inOrder(deploymentsOf(step.model, entries, [...above, id]), order, weight)
      return deployments.map((each) => ({ ...each, ...limits }))
    }
    const { provider, providerModel = id, cost } = step
    const costs = cost && { cost: readAs(id, () => parseCost(cost)) }
    return [{ provider, model: providerModel, order, weight, ...limits, ...costs }]
  })
}

function priceOf(id: string, options: PriceOptions): Price {
  return readAs(id, () => new Price(options))
}

function readAs<T>(id: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new TypeError(`models["${id}"].${(error as Error).message}`, { cause: error })
  }
}

/** Throws a `TypeError` for a model without a price. */
export function requirePrice({ id, price, deployments }: Model): void {
  if (price !== undefined || deployments.every((deployment) => deployment.price !== undefined)) return
  throw new TypeError(
    `models["${id}"] has no price. Give it one, such as price: { input: '3', output: '15' }, or set billing.unpriced to 'free'.`,
  )
}

/** The deployments of a routed model keep their relative order within the order of the route entry. */
function inOrder(deployments: Deployment[], order: number, weight: number): Deployment[] {
  return deployments.map((each) => ({ ...each, order: order + each.order / 1024, weight: each.weight * weight }))
}
