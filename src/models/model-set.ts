import type { Model, ModelRegistry } from './contract.ts'
import { optionsOf, type ModelEntry } from './model-options.ts'
import { isOf, offeredBy, openModel, wildcardOf, type Wildcard } from './wildcards.ts'

/** Models from one source. */
export interface ModelSet {
  readonly models: ReadonlyMap<string, Model>
  /** The names of models by their other names. */
  readonly aliases: ReadonlyMap<string, string>
  readonly wildcards: readonly Wildcard[]
}

/** A set that is being made. */
export class ModelSetMaker implements ModelSet {
  readonly models: Map<string, Model> = new Map()
  readonly aliases: Map<string, string> = new Map()
  readonly wildcards: Wildcard[] = []

  add(id: string, model: Model, entry: ModelEntry): void {
    if (id.endsWith('*')) this.wildcards.push(wildcardOf(model))
    else this.models.set(id, model)
    for (const alias of optionsOf(entry).aliases ?? []) this.aliases.set(alias, id)
  }
}

/** The model of a set with a name, wildcards excepted. */
export function namedIn({ models, aliases }: ModelSet, id: string): Model | undefined {
  return models.get(id) ?? models.get(aliases.get(id) ?? '')
}

/** The model with a name. The first set that names it has it; otherwise the wildcard with the longest prefix, of the first such set. */
export function modelIn(sets: readonly ModelSet[], id: string): Model | undefined {
  for (const set of sets) {
    const model = namedIn(set, id)
    if (model !== undefined) return model
  }
  let found: Wildcard | undefined
  for (const { wildcards } of sets) {
    for (const each of wildcards) {
      // The longest prefix is the most specific.
      if (isOf(each, id) && each.prefix.length > (found?.prefix.length ?? -1)) found = each
    }
  }
  return found && openModel(found, id)
}

/** The models to list, those that vendors list for wildcards last. */
export async function listOf(sets: readonly ModelSet[], now: () => number): Promise<Model[]> {
  const listed = new Map<string, Model>()
  const add = (model: Model) => {
    if (!listed.has(model.id)) listed.set(model.id, model)
  }
  for (const { models } of sets) for (const model of models.values()) add(model)
  const wildcards = sets.flatMap((set) => set.wildcards).sort((left, right) => right.prefix.length - left.prefix.length)
  const offered = await Promise.all(wildcards.map((wildcard) => offeredBy(wildcard, now)))
  for (const model of offered.flat()) add(model)
  return [...listed.values()]
}

/** A registry of sets, in the order of their precedence. */
export function registryOf(sets: readonly ModelSet[], now: () => number): ModelRegistry {
  return { find: (id) => modelIn(sets, id), list: () => listOf(sets, now) }
}
