/** What models and groups have of their own in administration. */
import * as z from 'zod'
import { invalid } from '../../errors.ts'
import { meet } from '../../models/names.ts'
import { optionsOf } from '../../models/model-options.ts'
import type { RegistryEntry } from '../../models/stored/contract.ts'
import {
  storedGroupFields,
  storedModelFields,
  type StoredGroup,
  type StoredModel,
} from '../../models/stored/documents.ts'
import type { Own } from '../../models/stored/snapshot.ts'
import { optionalOf, strict } from '../../records/rules.ts'
import { id } from '../questions.ts'
import { conflict, type DocumentKind } from './documents.ts'
import { ownGroup, ownModel, type RegistryGroupView, type RegistryModelView } from './views.ts'

export const version: z.ZodType<number | undefined> = z
  .int()
  .min(1)
  .optional()
  .describe('The version that was read: a 409 if it was changed since.')

/** The fields of a change, of which null removes one that need not be there. */
function changeOf(fields: Readonly<Record<string, z.ZodType>>, required: string): z.ZodObject {
  const nullish = Object.entries(fields).map(([name, rule]) => [name, rule.nullish()])
  return strict({ ...Object.fromEntries(nullish), [required]: fields[required]?.optional(), version } as z.ZodRawShape)
}

/** The rules of a new model, and of a change. */
export const modelRules: { readonly create: z.ZodType; readonly update: z.ZodType } = {
  create: strict({ id, ...optionalOf(storedModelFields), deployments: storedModelFields.deployments }),
  update: changeOf(storedModelFields, 'deployments'),
}

/** The rules of a new group, and of a change. */
export const groupRules: { readonly create: z.ZodType; readonly update: z.ZodType } = {
  create: strict({ id, ...optionalOf(storedGroupFields), models: storedGroupFields.models }),
  update: changeOf(storedGroupFields, 'models'),
}

/** Models. */
export const modelKind: DocumentKind<RegistryModelView> = {
  kind: 'model',
  rules: modelRules,
  own: ({ models }) => Object.entries(models).map(([name, entry]) => ownModel(name, entry)),
  check(name, { aliases = [], groups = [] }: StoredModel, others, own) {
    const taken = modelNames(others, own)
    if (taken.has(name)) throw conflict(`"${name}" is another name of a model already.`)
    const alias = aliases.find((each) => taken.has(each) || each === name)
    if (alias !== undefined) throw invalid(`"${alias}" is the name of a model already.`, 'aliases')
    const known = new Set([...Object.keys(own.groups), ...groupsIn(others), 'default'])
    const stray = groups.find((each) => !known.has(each))
    if (stray !== undefined) throw invalid(`"${stray}" is not a group. Groups: ${[...known].join(', ')}.`, 'groups')
  },
}

/** Groups. */
export const groupKind: DocumentKind<RegistryGroupView> = {
  kind: 'group',
  rules: groupRules,
  own: ({ groups }) => Object.entries(groups).map(([name, group]) => ownGroup(name, group)),
  check(_name, { models }: StoredGroup, others, own) {
    if (models === '*') return
    const known = [...modelNames(others, own)]
    const stray = models.find((each) => !known.some((name) => meet(each, name)))
    if (stray !== undefined) throw invalid(`"${stray}" is not a model. Create it first.`, 'models')
  },
}

/** The ids and other names of all models. */
function modelNames(entries: readonly RegistryEntry[], { models }: Own): Set<string> {
  const own = Object.entries(models).flatMap(([name, entry]) => [name, ...(optionsOf(entry).aliases ?? [])])
  const stored = entries.flatMap(({ kind, id: name, value }) => {
    if (kind !== 'model' || value === undefined) return []
    return [name, ...((value as unknown as StoredModel).aliases ?? [])]
  })
  return new Set([...own, ...stored])
}

function groupsIn(entries: readonly RegistryEntry[]): string[] {
  return entries.flatMap(({ kind, id: name, value }) => (kind === 'group' && value !== undefined ? [name] : []))
}
