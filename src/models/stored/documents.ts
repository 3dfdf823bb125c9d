/** What administration sets of models, groups and prices. A new field is a line of a type and one of its fields. */
import * as z from 'zod'
import { parseCost, type CostOptions } from '../../money/prices/cost.ts'
import { Price } from '../../money/prices/price.ts'
import type { PriceOptions } from '../../money/prices/price-options.ts'
import { instant, optionalOf, parsed, storable, strict } from '../../records/rules.ts'
import { groupFields, type Group } from '../group-fields.ts'
import { modelFields, type ModelProperties } from '../model-fields.ts'
import { routeStepFields, type RouteStep } from '../route-entry.ts'
import type { RegistryKind } from './contract.ts'

/** One deployment of a stored model. */
export interface StoredDeployment extends RouteStep {
  /** A name in `registry.providers`. Either this or `model`. */
  readonly provider?: string
  /** The provider's name for the model. Default: the id of the model. */
  readonly providerModel?: string
  /** What calls cost the host, as in the options of a model. Only with `provider`. Default: the list price of the price table. */
  readonly cost?: CostOptions
  /** Another model: all its deployments. */
  readonly model?: string
  /** Whether it gets no calls. Default false. */
  readonly disabled?: boolean
}

/** A model that administration has created. Its prices are separate. */
export interface StoredModel extends ModelProperties {
  /** Tried in their order. At least one; a model whose id ends in `*` has one, with a provider. */
  readonly deployments: readonly StoredDeployment[]
  /** Whether the model does not exist for clients. Default false. */
  readonly disabled?: boolean
  /** For those who administrate. */
  readonly note?: string
}

/** A group that administration has created. */
export interface StoredGroup extends Group {
  /** For those who administrate. */
  readonly note?: string
}

/** The price of a model from a moment on, until that of its next one. */
export interface StoredPrice {
  /** The id of the model. */
  readonly model: string
  /** Milliseconds since the epoch. Calls that start then or later cost this. */
  readonly from: number
  /** As in the options. */
  readonly price: PriceOptions
  /** For those who administrate. */
  readonly note?: string
}

const name = z.string().min(1).max(200)
const note = storable(500).describe('For those who administrate.')

const deployment = strict({
  provider: name.optional().describe('One of `GET /registry/providers`. Either this or `model`.'),
  providerModel: name.optional().describe("The provider's name for the model. Default: the id of the model."),
  cost: parsed(parseCost)
    .meta({ type: 'object', additionalProperties: true })
    .optional()
    .describe('What calls cost the host: `{ "multiplier": "0.9" }` of the list price, or rates as in a price.'),
  model: name.optional().describe('Another model: all its deployments.'),
  disabled: z.boolean().optional().describe('Whether it gets no calls.'),
  ...routeStepFields,
}).refine(({ provider, model }) => (provider === undefined) !== (model === undefined), 'needs "provider" or "model"')

export const storedModelFields: Readonly<Record<keyof StoredModel, z.ZodType>> = {
  deployments: z.array(deployment).min(1).max(50).describe('What serves the model, tried in order.'),
  disabled: z.boolean().describe('Whether the model does not exist for clients.'),
  note,
  ...modelFields,
}

export const storedGroupFields: Readonly<Record<keyof StoredGroup, z.ZodType>> = { ...groupFields, note }

const price = parsed((given: PriceOptions) => new Price(given))
  .meta({ type: 'object', additionalProperties: true })
  .describe('As in the options of the gateway: decimal strings by part, such as `{ "input": "3", "output": "15" }`.')

export const storedPriceFields: Readonly<Record<keyof StoredPrice, z.ZodType>> = {
  model: name,
  from: instant.describe('Milliseconds since the epoch. Calls that start then or later cost this.'),
  price,
  note,
}

/** The rules of the values that a store returns. Further fields are of a later version, and count for nothing. */
export const storedRules: Readonly<Record<RegistryKind, z.ZodType>> = {
  model: z.object({ ...optionalOf(storedModelFields), deployments: storedModelFields.deployments }),
  group: z.object({ ...optionalOf(storedGroupFields), models: storedGroupFields.models }),
  price: z.object({ ...storedPriceFields, note: note.optional() }),
}

/** The id of a price among the entries of a store. */
export function priceId({ model, from }: Pick<StoredPrice, 'model' | 'from'>): string {
  return `${model} ${from}`
}
