import * as z from 'zod'
import { noneOf } from '../../records/known-options.ts'
import { mistake, optionalOf, strict, verify } from '../../records/rules.ts'
import type { Group } from '../../models/group-fields.ts'
import { meet } from '../../models/names.ts'
import { modelFields } from '../../models/model-fields.ts'
import type { ModelEntries, ModelEntry } from '../../models/model-options.ts'
import { routeStepFields } from '../../models/route-entry.ts'

/** A provider, or what looks like one. */
export const provider: z.ZodType = z.custom<object>(
  (value) => typeof value === 'object' && value !== null && typeof (value as { name?: unknown }).name === 'string',
  'must be a provider: an object with a name, such as openai({ apiKey }) or defineProvider({ name, chat })',
)

/** Inspectors, or functions that make them. */
export const inspect: z.ZodType = z.array(
  z.custom<object>(
    (value) =>
      typeof value === 'function' || ['request', 'answer'].some((name) => typeof Object(value)[name] === 'function'),
    'must be an inspector: an object with a method "request" or "answer", or a function that returns one, such as mask()',
  ),
)

const step = z.union(
  [
    z.string(),
    strict({ model: z.string(), ...routeStepFields }),
    strict({ provider, providerModel: z.string().optional(), cost: z.looseObject({}).optional(), ...routeStepFields }),
  ],
  'must be a model name, { model } or { provider, providerModel?, cost? }, with order?, weight?, contextWindow?, when?, firstContentMs? and timeoutMs?',
)

const model = strict({
  provider: provider.optional(),
  providerModel: z.string().min(1).optional(),
  route: z.array(step).min(1).optional(),
  created: z.int().optional(),
  price: z.looseObject({}).optional(),
  cost: z.looseObject({}).optional(),
  inspect: inspect.optional(),
  ...optionalOf(modelFields),
})

/** Validates the models, and the groups that refer to them. `isAll`: whether there can be no others. Throws a `TypeError` that names the invalid option. */
export function checkModels(models: ModelEntries, groups: Readonly<Record<string, Group>>, isAll = true): void {
  const form = "must map names to models, such as { 'gpt-5': openai({ apiKey }) }"
  if (typeof models !== 'object' || models === null || Array.isArray(models)) throw mistake('models', form)
  for (const [id, entry] of Object.entries(models)) checkModel(id, entry)
  checkNames(models, groups, isAll)
}

function checkModel(id: string, entry: ModelEntry): void {
  const place = `models["${id}"]`
  if (typeof entry !== 'object' || entry === null) {
    throw mistake(place, 'must be a provider, such as openai({ apiKey }), or { provider, … }')
  }
  if ('name' in entry) {
    if ('provider' in entry || 'route' in entry) throw mistake(place, 'remove "name": the map key is the model\'s name')
    return
  }
  verify(model, entry, place)
  if ((entry.provider === undefined) === (entry.route === undefined)) {
    throw new TypeError(`createGateway: ${place} needs either "provider" or "route".`)
  }
  if (entry.route !== undefined && entry.cost !== undefined) {
    throw mistake(`${place}.cost`, 'move it to the entries of the route, each of which has a cost of its own')
  }
}

/** Rejects references to unknown models and groups, because such a typo would silently hide a model from its users. */
function checkNames(models: ModelEntries, groups: Readonly<Record<string, Group>>, isAll: boolean): void {
  const names = new Set(Object.keys(models))
  for (const [id, entry] of Object.entries(models)) {
    if ('name' in entry) continue
    for (const alias of entry.aliases ?? []) {
      if (names.has(alias)) throw mistake(`models["${id}"].aliases`, `"${alias}" is already the name of another model`)
      names.add(alias)
    }
    for (const group of entry.groups ?? []) {
      if (isAll && !Object.hasOwn(groups, group))
        throw mistake(`models["${id}"].groups`, noneOf([group], Object.keys(groups)))
    }
  }
  for (const [group, { models: allowed }] of Object.entries(groups)) {
    if (!isAll || allowed === '*') continue
    const stray = allowed.find((name) => ![...names].some((known) => meet(name, known)))
    if (stray !== undefined) throw mistake(`groups["${group}"].models`, noneOf([stray], [...names]))
  }
}
