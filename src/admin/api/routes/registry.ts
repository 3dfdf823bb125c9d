import * as z from 'zod'
import { storedGroupFields, storedModelFields, storedPriceFields } from '../../../models/stored/documents.ts'
import { optionalOf } from '../../../records/rules.ts'
import { id, text, time } from '../../questions.ts'
import { groupRules, modelRules, version } from '../../registry/kinds.ts'
import { priceRule } from '../../registry/prices.ts'
import type { RegistryAdmin } from '../../registry/registry-admin.ts'
import { forOperator, type Route } from '../route.ts'
import { present } from '../scope.ts'
import { component } from '../schemas/values.ts'

const nothingLeft = z.object({ removed: z.boolean() })

const origin = {
  source: z.enum(['options', 'registry']).describe('`options`: set in the code of the host, and changed there only.'),
  version: z.int().optional().describe('For the next change.'),
  createdAt: time.optional(),
  fault: z.string().optional().describe('Why this process does not serve it.'),
}

const registryPrice = component(
  'RegistryPrice',
  z.object({
    ...optionalOf(storedPriceFields),
    isPlanned: z.boolean().describe('Whether it does not apply yet, and so can be removed.'),
  }),
)

/** The routes of models, groups and prices that administration sets. */
export const registryRoutes: readonly Route[] = [
  forOperator('listProviders', 'GET /registry/providers', {
    summary: 'Lists the names of the providers that deployments may use.',
    list: z.string(),
    answer: ({ admin }) => admin.registry.providers(),
  }),
  ...documents('Model', storedModelFields, modelRules, ({ models }) => models),
  ...documents('Group', storedGroupFields, groupRules, ({ groups }) => groups),
  forOperator('listRegistryPrices', 'GET /registry/prices', {
    summary: 'Lists the prices of a model, or of all, by model, latest first.',
    query: { model: text.optional() },
    list: registryPrice,
    answer: ({ admin, query }) => admin.registry.prices.list(query),
  }),
  forOperator('createRegistryPrice', 'POST /registry/prices', {
    summary: 'Sets the price of a model from a moment on. Calls that started before keep theirs.',
    status: 201,
    body: component('NewRegistryPrice', priceRule),
    response: registryPrice,
    answer: ({ admin, body }) => admin.registry.prices.create(body as never),
  }),
  forOperator('removeRegistryPrice', 'DELETE /registry/prices', {
    summary: 'Removes a price that does not apply yet.',
    query: { model: id, from: time },
    response: nothingLeft,
    async answer({ admin, query }) {
      await admin.registry.prices.remove(query)
      return { removed: true }
    },
  }),
]

/** What models and groups have in common. */
interface Documents {
  list(): Promise<readonly { readonly id: string }[]>
  find(id: string): Promise<object | undefined>
  create(request: never): Promise<object>
  update(id: string, change: never): Promise<object>
  remove(id: string, choice: { readonly version?: number }): Promise<void>
}

/** The routes of models, or of groups. */
function documents(
  kind: 'Model' | 'Group',
  fields: Readonly<Record<string, z.ZodType>>,
  rules: typeof modelRules,
  of: (admin: RegistryAdmin) => Documents,
): readonly Route[] {
  const name = kind.toLowerCase()
  const path = `/registry/${name}s` as const
  const response = component(`Registry${kind}`, z.object({ id, ...origin, ...optionalOf(fields) }))
  return [
    forOperator(`listRegistry${kind}s`, `GET ${path}`, {
      summary: `Lists the ${name}s as they are set, in the options and by administration.`,
      list: response,
      answer: ({ admin }) => of(admin.registry).list(),
    }),
    forOperator(`createRegistry${kind}`, `POST ${path}`, {
      summary: `Creates a ${name}.`,
      status: 201,
      body: component(`NewRegistry${kind}`, rules.create),
      response,
      answer: ({ admin, body }) => of(admin.registry).create(body as never),
    }),
    forOperator(`getRegistry${kind}`, `GET ${path}/{id}`, {
      summary: `Returns a ${name} as it is set.`,
      response,
      answer: async ({ admin, id: wanted }) => present(await of(admin.registry).find(wanted), name, 'id'),
    }),
    forOperator(`updateRegistry${kind}`, `PATCH ${path}/{id}`, {
      summary: `Changes a ${name}. Null removes a field. A 409 for one that is set in code.`,
      body: component(`Registry${kind}Change`, rules.update),
      response,
      answer: ({ admin, id: wanted, body }) => of(admin.registry).update(wanted, body as never),
    }),
    forOperator(`removeRegistry${kind}`, `DELETE ${path}/{id}`, {
      summary: `Removes a ${name}.`,
      query: { version },
      response: nothingLeft,
      async answer({ admin, id: wanted, query }) {
        await of(admin.registry).remove(wanted, query)
        return { removed: true }
      },
    }),
  ]
}
