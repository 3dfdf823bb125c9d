import * as z from 'zod'
import type { Deployment, Model } from '../../../models/contract.ts'
import { onlyPrice } from '../../../models/only-price.ts'
import type { DeploymentHealth, GatewayHealth } from '../../../observe/health.ts'
import { usageUnits } from '../../../observe/usage/units.ts'
import { version } from '../../../http/version.ts'
import { requireGroup } from '../groups.ts'
import { route, type Route } from '../route.ts'
import { health, warning } from '../schemas/health.ts'
import { me, model, prices } from '../schemas/model.ts'
import { text } from '../../questions.ts'
import { listOf } from '../schemas/values.ts'

/** The routes of models, and of the session. */
export const modelRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/me',
    name: 'getMe',
    summary: 'Returns who sent the request, and what can be done here.',
    role: 'account',
    produces: 'json',
    response: me,
    async answer({ gateway, identity, readOnly, groups }) {
      const { currency, ...features } = gateway.admin.offers()
      return {
        role: identity.role,
        ...(identity.role === 'account' && { account: identity.account }),
        readOnly,
        groups: await groups(),
        ...(currency !== undefined && { currency }),
        version,
        units: usageUnits,
        features: { ...features, costs: features.costs && identity.role === 'admin' },
      }
    },
  }),
  route({
    method: 'GET',
    path: '/health',
    name: 'getHealth',
    summary: 'Returns the state of this process: its stores, the breakers of deployments, and what is open and queued.',
    role: 'admin',
    produces: 'json',
    response: health,
    answer: ({ gateway }) => gateway.health(),
  }),
  route({
    method: 'GET',
    path: '/warnings',
    name: 'listWarnings',
    summary: 'Lists what is probably a mistake in the options of the gateway, each with what to change.',
    role: 'admin',
    produces: 'json',
    response: listOf(warning),
    answer: ({ gateway }) => ({ items: gateway.warnings() }),
  }),
  route({
    method: 'GET',
    path: '/groups',
    name: 'listGroups',
    summary: 'Lists the model groups in which keys can be created.',
    role: 'account',
    produces: 'json',
    response: listOf(z.string()),
    answer: async ({ groups }) => ({ items: await groups() }),
  }),
  route({
    method: 'GET',
    path: '/models',
    name: 'listModels',
    summary: 'Lists the models of a group, or of all groups, with the prices that apply now.',
    role: 'account',
    produces: 'json',
    query: z.strictObject({ group: text.optional() }),
    response: listOf(model),
    async answer({ gateway, groups, query: { group }, identity }) {
      await requireGroup({ groups }, group)
      const found = new Map<string, { readonly model: Model; readonly groups: string[] }>()
      for (const name of group === undefined ? await groups() : [group]) {
        for (const each of await gateway.admin.models(name)) {
          const known = found.get(each.id)
          if (known === undefined) found.set(each.id, { model: each, groups: [name] })
          else known.groups.push(name)
        }
      }
      const state = identity.role === 'admin' ? await gateway.health() : undefined
      return { items: [...found.values()].map((each) => view(each.model, each.groups, state)) }
    },
  }),
  route({
    method: 'GET',
    path: '/prices',
    name: 'getPrices',
    summary: 'Returns which price table the prices are from, and of which day.',
    role: 'account',
    produces: 'json',
    response: prices,
    answer: ({ gateway }) => gateway.admin.prices() ?? {},
  }),
]

/** A registry may add fields of its own to a model, which are not shown. */
function view(found: Model, groups: readonly string[], state: GatewayHealth | undefined) {
  const { id, created, displayName, ownedBy, contextWindow, maxOutputTokens, deployments } = found
  return {
    id,
    created,
    displayName,
    ownedBy,
    contextWindow,
    maxOutputTokens,
    groups,
    price: onlyPrice(found)?.options,
    ...(state !== undefined && {
      deployments: deployments.map((each) => ({
        provider: each.provider.name,
        model: each.model,
        state: breakerStateOf(each, state),
        order: each.order,
        weight: each.weight,
        price: each.price?.options,
      })),
    }),
  }
}

/** Deployments of wildcards and registries are listed only while their breaker is not closed. */
function breakerStateOf({ provider, model }: Deployment, { deployments }: GatewayHealth): DeploymentHealth['state'] {
  const isIt = (each: DeploymentHealth) => each.provider === provider.name && each.providerModel === model
  return deployments.find(isIt)?.state ?? 'closed'
}
