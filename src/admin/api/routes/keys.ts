import * as z from 'zod'
import { GatewayError } from '../../../errors.ts'
import { given, route, type AdminCall, type Route } from '../route.ts'
import { requireGroup } from '../groups.ts'
import { accountOf } from '../scope.ts'
import { createdKey, key, keyChange, newKey, rotatedKey } from '../schemas/key.ts'
import { keySearch, overlapMs, page, text } from '../../questions.ts'
import { pageOf } from '../schemas/values.ts'

const minuteMs = 60_000

/** What an account that manages its own keys may have of them. The operator is not limited. */
const most = { valid: 500, lastHour: 60 }

/** The routes of keys. */
export const keyRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/keys',
    name: 'listKeys',
    summary: 'Lists keys, newest first, including revoked and expired ones.',
    role: 'account',
    produces: 'json',
    query: z.strictObject({ ...keySearch, ...page }),
    response: pageOf(key),
    answer: ({ gateway, query, scope }) => gateway.admin.keys.search({ ...given(query), ...accountOf(scope) }),
  }),
  route({
    method: 'GET',
    path: '/keys.csv',
    name: 'exportKeys',
    summary: 'Lists keys as CSV.',
    role: 'account',
    produces: 'csv',
    query: z.strictObject(keySearch),
    answer: ({ gateway, query, scope }) => gateway.admin.csv.keys({ ...given(query), ...accountOf(scope) }),
  }),
  route({
    method: 'POST',
    path: '/accounts/{account}/keys',
    name: 'createKey',
    summary: 'Creates a key. The response is the only one that contains it.',
    role: 'account',
    produces: 'json',
    status: 201,
    body: newKey,
    response: createdKey,
    async answer(call) {
      await requireGroup(call, call.body.group)
      await requireRoom(call)
      return call.gateway.admin.keys.create({ open: isOwn(call), ...given(call.body), account: call.account })
    },
  }),
  route({
    method: 'POST',
    path: '/accounts/{account}/playground-key',
    name: 'createPlaygroundKey',
    summary: 'Creates a key that expires in a few minutes, for trying models in a page.',
    role: 'account',
    produces: 'json',
    status: 201,
    body: z.strictObject({
      group: text.describe('One of those of `GET /groups`.'),
      minutes: z.int().min(1).max(60).optional().describe('Minutes until it expires. Default 15.'),
    }),
    response: createdKey,
    async answer(call) {
      const { group, minutes = 15 } = call.body
      await requireGroup(call, group)
      await requireRoom(call)
      const { keys } = call.gateway.admin
      return keys.create({
        account: call.account,
        open: isOwn(call),
        group,
        name: 'Playground',
        tags: ['playground'],
        lifeMs: minutes * minuteMs,
      })
    },
  }),
  route({
    method: 'GET',
    path: '/accounts/{account}/keys/{key}',
    name: 'getKey',
    summary: 'Returns a key, without the key itself.',
    role: 'account',
    produces: 'json',
    response: key,
    async answer({ gateway, account, id: wanted }) {
      const found = (await gateway.admin.keys.list(account)).find((each) => each.id === wanted)
      if (found === undefined) throw new GatewayError('not_found', { param: 'key', message: 'No such key.' })
      return found
    },
  }),
  route({
    method: 'PATCH',
    path: '/accounts/{account}/keys/{key}',
    name: 'updateKey',
    summary: 'Changes a key. Null removes a field.',
    role: 'account',
    produces: 'json',
    body: keyChange,
    response: key,
    async answer(call) {
      await requireGroup(call, call.body.group)
      return call.gateway.admin.keys.update(call.account, call.id, given(call.body) as never)
    },
  }),
  route({
    method: 'POST',
    path: '/accounts/{account}/keys/{key}/rotate',
    name: 'rotateKey',
    summary: 'Replaces a key by a new one with the same properties. The old one stays valid for a while.',
    role: 'account',
    produces: 'json',
    status: 201,
    body: z.strictObject({ overlapMs }),
    response: rotatedKey,
    async answer(call) {
      await requireRoom(call)
      return call.gateway.admin.keys.rotate(call.account, call.id, given(call.body))
    },
  }),
  route({
    method: 'POST',
    path: '/accounts/{account}/keys/{key}/revoke',
    name: 'revokeKey',
    summary: 'Revokes a key permanently.',
    role: 'account',
    produces: 'json',
    body: z.strictObject({}),
    response: key,
    answer: ({ gateway, account, id: wanted }) => gateway.admin.keys.revoke(account, wanted),
  }),
]

/** Whether the host has said which account it is, so that its id has no typing error. */
function isOwn({ identity }: Pick<AdminCall, 'identity'>): boolean {
  return identity.role === 'account'
}

/** Keeps a customer's script from filling the key store. */
async function requireRoom({ gateway, identity }: Pick<AdminCall, 'gateway' | 'identity'>): Promise<void> {
  if (identity.role === 'admin') return
  const { valid, lastHour } = await gateway.admin.keys.inUse(identity.account)
  if (valid < most.valid && lastHour < most.lastHour) return
  const message = `An account can have ${most.valid} valid keys, and create ${most.lastHour} of them in an hour.`
  throw new GatewayError('rate_limit_exceeded', { message, shouldRetry: false })
}
