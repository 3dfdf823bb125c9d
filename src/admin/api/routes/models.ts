import * as z from 'zod'
import type { Deployment, Model } from '../../../models/contract.ts'
import { onlyPrice } from '../../../models/only-price.ts'
import type { DeploymentHealth, GatewayHealth } from '../../../observe/health.ts'
import { usageUnits } from '../../../observe/usage/units.ts'
import { version } from '../../../http/version.ts'
import { requireGroup } from '../groups.ts'
import { forAccount, forOperator, type Route } from '../route.ts'
import { health, warning } from '../schemas/health.ts'
import { me, model, prices } from '../schemas/model.ts'
import { text } from '../../questions.ts'

/** The routes of models, and of the session. */
export const modelRoutes: readonly Route[] = [
  forAccount('getMe', 'GET /me', {
    summary: 'Returns who sent the request, and what can be done here.',
    response: me,
    async answer({ admin, identity, readOnly, groups }) {
      const { currency, ...features } = admin.offers()
      const isOperator = identity.role === 'admin'
      return {
        role: identity.role,
        ...(identity.role === 'account' && { account: identity.account }),
        readOnly,
        groups: await groups(),
        ...(currency !== undefined && { currency }),
        version,
        units: usageUnits,
        features: {
          ...features,
          reconcile: features.reconcile && isOperator,
          costs: features.costs && isOperator,
          content: features.content && identity.content === true,
        },
      }
    },
  }),
  forOperator('getHealth', 'GET /health', {
    summary: 'Returns the state of this process: its stores, the breakers of deployments, and what is open and queued.',
    response: health,
    answer: ({ gateway }) => gateway.health(),
  }),
  forOperator('listWarnings', 'GET /warnings', {
    summary: 'Lists what is probably a mistake in the options of the gateway, each with what to change.',
    list: warning,
    answer: ({ gateway }) => gateway.warnings(),
  }),
  forAccount('listGroups', 'GET /groups', {
    summary: 'Lists the model groups in which keys can be created.',
    list: z.string(),
    answer: ({ groups }) => groups(),
  }),
  forAccount('listModels', 'GET /models', {
    summary: 'Lists the models of a group, or of all groups, with the prices that apply now.',
    query: { group: text.optional() },
    list: model,
    async answer({ admin, gateway, groups, query: { group }, identity }) {
      await requireGroup({ groups }, group)
      const found = new Map<string, { readonly model: Model; readonly groups: string[] }>()
      for (const name of group === undefined ? await groups() : [group]) {
        for (const each of await admin.models(name)) {
          const known = found.get(each.id)
          if (known === undefined) found.set(each.id, { model: each, groups: [name] })
          else known.groups.push(name)
        }
      }
      const state = identity.role === 'admin' ? await gateway.health() : undefined
      return [...found.values()].map((each) => view(each.model, each.groups, state))
    },
  }),
  forAccount('getPrices', 'GET /prices', {
    summary: 'Returns which price table the prices are from, and of which day.',
    response: prices,
    answer: ({ admin }) => admin.prices() ?? {},
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
