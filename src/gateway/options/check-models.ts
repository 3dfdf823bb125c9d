import * as z from 'zod'
import { longestTimerMs } from '../../http/deadline.ts'
import { noneOf } from '../../records/known-options.ts'
import { onDisconnect, mistake, strict, verify } from '../../records/rules.ts'
import { scopedRate } from '../../records/rate-rules.ts'
import type { Group } from '../../models/catalogue.ts'
import type { ModelEntry } from '../../models/registry.ts'

const provider = z.custom<object>(
  (value) => typeof value === 'object' && value !== null && typeof (value as { name?: unknown }).name === 'string',
  'must be a provider: an object with a name, such as openai({ apiKey }) or defineProvider({ name, chat })',
)

const whenTried = {
  order: z.number().optional(),
  weight: z.number().min(0).optional(),
  contextWindow: z.int().positive().optional(),
  when: z
    .array(z.enum(['unavailable', 'context', 'policy']))
    .min(1)
    .optional(),
  firstContentMs: z.union([z.int().positive().max(longestTimerMs), z.literal('usual')]).optional(),
  timeoutMs: z.int().positive().max(longestTimerMs).optional(),
}

const step = z.union(
  [
    z.string(),
    strict({ model: z.string(), ...whenTried }),
    strict({ provider, providerModel: z.string().optional(), cost: z.looseObject({}).optional(), ...whenTried }),
  ],
  'must be a model name, { model } or { provider, providerModel?, cost? }, with order?, weight?, contextWindow?, when?, firstContentMs? and timeoutMs?',
)

const model = strict({
  provider: provider.optional(),
  providerModel: z.string().min(1).optional(),
  route: z.array(step).min(1).optional(),
  prefer: z.enum(['price', 'latency']).optional(),
  continue: z.boolean().optional(),
  aliases: z.array(z.string()).optional(),
  groups: z.array(z.string()).optional(),
  displayName: z.string().min(1).max(200).optional(),
  ownedBy: z.string().optional(),
  created: z.int().optional(),
  contextWindow: z.int().positive().optional(),
  maxOutputTokens: z.int().positive().optional(),
  image: strict({
    sizes: z.array(z.string()).min(1),
    qualities: z.array(z.string()).min(1),
    maxN: z.int().min(1),
    edits: z.boolean(),
    responseFormat: z.boolean(),
  })
    .partial()
    .optional(),
  price: z.looseObject({}).optional(),
  cost: z.looseObject({}).optional(),
  onDisconnect: onDisconnect.optional(),
  rate: scopedRate.optional(),
  allow: z.array(z.string().min(1)).optional(),
  set: z
    .record(z.string(), z.unknown())
    .refine((fields) => !['model', 'stream'].some((name) => name in fields), 'cannot fix "model" or "stream"')
    .optional(),
  video: strict({ durations: z.array(z.int().positive()).min(1), sizes: z.array(z.string()).min(1) })
    .partial()
    .optional(),
})

type Models = Readonly<Record<string, ModelEntry>>

/** Validates the models, and the groups that refer to them. Throws a `TypeError` that names the invalid option. */
export function checkModels(models: Models, groups: Readonly<Record<string, Group>>): void {
  const form = "must map names to models, such as { 'gpt-5': openai({ apiKey }) }"
  if (typeof models !== 'object' || models === null || Array.isArray(models)) throw mistake('models', form)
  for (const [id, entry] of Object.entries(models)) checkModel(id, entry)
  checkNames(models, groups)
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
function checkNames(models: Models, groups: Readonly<Record<string, Group>>): void {
  const names = new Set(Object.keys(models))
  for (const [id, entry] of Object.entries(models)) {
    if ('name' in entry) continue
    for (const alias of entry.aliases ?? []) {
      if (names.has(alias)) throw mistake(`models["${id}"].aliases`, `"${alias}" is already the name of another model`)
      names.add(alias)
    }
    for (const group of entry.groups ?? []) {
      if (!Object.hasOwn(groups, group)) throw mistake(`models["${id}"].groups`, noneOf([group], Object.keys(groups)))
    }
  }
  for (const [group, { models: allowed }] of Object.entries(groups)) {
    if (allowed === '*') continue
    const stray = allowed.find((name) => ![...names].some((known) => meet(name, known)))
    if (stray !== undefined) throw mistake(`groups["${group}"].models`, noneOf([stray], [...names]))
  }
}

/** Whether two names, each of which may end in `*`, can match the same model. */
function meet(left: string, right: string): boolean {
  const [a, b] = [left.replace(/\*$/, ''), right.replace(/\*$/, '')]
  return a === b || (a !== left && b.startsWith(a)) || (b !== right && a.startsWith(b))
}
