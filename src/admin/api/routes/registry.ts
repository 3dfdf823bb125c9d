import * as z from 'zod'
import { GatewayError } from '../../../errors.ts'
import { id, text, time } from '../../questions.ts'
import { given, route, type Route } from '../route.ts'
import {
  groupChange,
  modelChange,
  newGroup,
  newModel,
  newPrice,
  registryGroup,
  registryModel,
  registryPrice,
} from '../schemas/registry.ts'
import { listOf } from '../schemas/values.ts'

const nothingLeft = z.object({ removed: z.boolean() })
const ofVersion = z.strictObject({
  version: z.int().min(1).optional().describe('The version that was read: a 409 if it was changed since.'),
})

/** The routes of models, groups and prices that administration sets. */
export const registryRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/registry/providers',
    name: 'listProviders',
    summary: 'Lists the names of the providers that deployments may use.',
    role: 'admin',
    produces: 'json',
    response: listOf(z.string()),
    answer: ({ gateway }) => ({ items: gateway.admin.registry.providers() }),
  }),
  ...documents('model', {
    of: ({ admin }) => admin.registry.models,
    view: registryModel,
    create: newModel,
    update: modelChange,
  }),
  ...documents('group', {
    of: ({ admin }) => admin.registry.groups,
    view: registryGroup,
    create: newGroup,
    update: groupChange,
  }),
  route({
    method: 'GET',
    path: '/registry/prices',
    name: 'listRegistryPrices',
    summary: 'Lists the prices of a model, or of all, by model, latest first.',
    role: 'admin',
    produces: 'json',
    query: z.strictObject({ model: text.optional() }),
    response: listOf(registryPrice),
    answer: async ({ gateway, query }) => ({ items: await gateway.admin.registry.prices.list(given(query)) }),
  }),
  route({
    method: 'POST',
    path: '/registry/prices',
    name: 'createRegistryPrice',
    summary: 'Sets the price of a model from a moment on. Calls that started before keep theirs.',
    role: 'admin',
    produces: 'json',
    status: 201,
    body: newPrice,
    response: registryPrice,
    answer: ({ gateway, body }) => gateway.admin.registry.prices.create(given(body) as never),
  }),
  route({
    method: 'DELETE',
    path: '/registry/prices',
    name: 'removeRegistryPrice',
    summary: 'Removes a price that does not apply yet.',
    role: 'admin',
    produces: 'json',
    query: z.strictObject({ model: id, from: z.number().describe(time.description ?? '') }),
    response: nothingLeft,
    async answer({ gateway, query }) {
      await gateway.admin.registry.prices.remove(query)
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

interface Kind {
  readonly of: (gateway: Parameters<Route['answer']>[0]['gateway']) => Documents
  readonly view: z.ZodType
  readonly create: z.ZodType
  readonly update: z.ZodType
}

function documents(kind: 'model' | 'group', { of, view, create, update }: Kind): readonly Route[] {
  const named = kind === 'model' ? 'Model' : 'Group'
  const [path, one] = [`/registry/${kind}s`, `/registry/${kind}s/{id}`]
  const common = { role: 'admin', produces: 'json' } as const
  return [
    route({
      ...common,
      method: 'GET',
      path,
      name: `listRegistry${named}s`,
      summary: `Lists the ${kind}s as they are set, in the options and by administration.`,
      response: listOf(view),
      answer: async ({ gateway }) => ({ items: await of(gateway).list() }),
    }),
    route({
      ...common,
      method: 'POST',
      path,
      name: `createRegistry${named}`,
      summary: `Creates a ${kind}.`,
      status: 201,
      body: create,
      response: view,
      answer: ({ gateway, body }) => of(gateway).create(given(body as object) as never),
    }),
    route({
      ...common,
      method: 'GET',
      path: one,
      name: `getRegistry${named}`,
      summary: `Returns a ${kind} as it is set.`,
      response: view,
      async answer({ gateway, id: wanted }) {
        const found = await of(gateway).find(wanted)
        if (found === undefined) throw new GatewayError('not_found', { param: 'id', message: `No such ${kind}.` })
        return found
      },
    }),
    route({
      ...common,
      method: 'PATCH',
      path: one,
      name: `updateRegistry${named}`,
      summary: `Changes a ${kind}. Null removes a field. A 409 for one that is set in code.`,
      body: update,
      response: view,
      answer: ({ gateway, id: wanted, body }) => of(gateway).update(wanted, given(body as object) as never),
    }),
    route({
      ...common,
      method: 'DELETE',
      path: one,
      name: `removeRegistry${named}`,
      summary: `Removes a ${kind}.`,
      query: ofVersion,
      response: nothingLeft,
      async answer({ gateway, id: wanted, query }) {
        await of(gateway).remove(wanted, given(query))
        return { removed: true }
      },
    }),
  ]
}
