import * as z from 'zod'
import { GatewayError } from '../../../errors.ts'
import { keyChangeShape, newKeyShape } from '../../../callers/key-fields.ts'
import { strict } from '../../../records/rules.ts'
import type { KeyChange, KeyRequest } from '../../keys.ts'
import { forAccount, type AdminCall, type Route } from '../route.ts'
import { requireGroup } from '../groups.ts'
import { accountOf, present } from '../scope.ts'
import { id, keySearch, overlapMs, page, text, time } from '../../questions.ts'
import { component } from '../schemas/values.ts'

const minuteMs = 60_000

/** What an account that manages its own keys may have of them. The operator is not limited. */
const most = { valid: 500, lastHour: 60 }

const group = text.describe('One of those of `GET /groups`.')

const newKey = component(
  'NewKey',
  strict({
    open: z
      .boolean()
      .optional()
      .describe(
        'Opens the account if there is none. Default: that of the role "account" is opened, any other is a 404.',
      ),
    group,
    ...newKeyShape,
  }),
)

const keyChange = component('KeyChange', strict({ group: group.optional(), ...keyChangeShape }))

/** A key as it is listed. */
const key = component(
  'Key',
  z.object({
    id,
    prefix: z.string().describe('The first characters of the key.'),
    account: id,
    group: text,
    ...newKeyShape,
    createdAt: time,
    continues: id.optional().describe('The key that this one replaces.'),
    revokedAt: time.optional(),
    source: z
      .literal('options')
      .optional()
      .describe('`options`: the key is part of the options of the gateway, and can only be changed and removed there.'),
  }),
)

/** A key that was just created: the only response with the key itself. */
const createdKey = component(
  'CreatedKey',
  z.object({
    key: z.string().describe('The key. Shown once: it cannot be read again.'),
    record: key,
  }),
)

const rotatedKey = component(
  'RotatedKey',
  createdKey.extend({
    replaced: key.describe('The old key, with the time at which it expires.'),
  }),
)

/** The routes of keys. */
export const keyRoutes: readonly Route[] = [
  forAccount('listKeys', 'GET /keys', {
    summary: 'Lists keys, newest first, including revoked and expired ones.',
    query: { ...keySearch, ...page },
    page: key,
    answer: ({ admin, query, scope }) => admin.keys.search({ ...query, ...accountOf(scope) }),
  }),
  forAccount('exportKeys', 'GET /keys.csv', {
    summary: 'Lists keys as CSV.',
    query: keySearch,
    csv: ({ admin, query, scope }) => admin.csv.keys({ ...query, ...accountOf(scope) }),
  }),
  forAccount('createKey', 'POST /accounts/{account}/keys', {
    summary: 'Creates a key. The response is the only one that contains it.',
    status: 201,
    body: newKey,
    response: createdKey,
    async answer(call) {
      await requireGroup(call, call.body.group)
      await requireRoom(call)
      return call.admin.keys.create({ open: isOwn(call), ...call.body, account: call.account } as KeyRequest)
    },
  }),
  forAccount('createPlaygroundKey', 'POST /accounts/{account}/playground-key', {
    summary: 'Creates a key that expires in a few minutes, for trying models in a page.',
    status: 201,
    body: {
      group,
      minutes: z.int().min(1).max(60).optional().describe('Minutes until it expires. Default 15.'),
    },
    response: createdKey,
    async answer(call) {
      const { group, minutes = 15 } = call.body
      await requireGroup(call, group)
      await requireRoom(call)
      const trial = { name: 'Playground', tags: ['playground'], lifeMs: minutes * minuteMs }
      return call.admin.keys.create({ account: call.account, open: isOwn(call), group, ...trial })
    },
  }),
  forAccount('getKey', 'GET /accounts/{account}/keys/{key}', {
    summary: 'Returns a key, without the key itself.',
    response: key,
    answer: async ({ admin, account, id: wanted }) =>
      present(
        (await admin.keys.list(account)).find((each) => each.id === wanted),
        'key',
        'key',
      ),
  }),
  forAccount('updateKey', 'PATCH /accounts/{account}/keys/{key}', {
    summary: 'Changes a key. Null removes a field.',
    body: keyChange,
    response: key,
    async answer(call) {
      await requireGroup(call, call.body.group)
      return call.admin.keys.update(call.account, call.id, call.body as KeyChange)
    },
  }),
  forAccount('rotateKey', 'POST /accounts/{account}/keys/{key}/rotate', {
    summary: 'Replaces a key by a new one with the same properties. The old one stays valid for a while.',
    status: 201,
    body: { overlapMs },
    response: rotatedKey,
    async answer(call) {
      await requireRoom(call)
      return call.admin.keys.rotate(call.account, call.id, call.body)
    },
  }),
  forAccount('revokeKey', 'POST /accounts/{account}/keys/{key}/revoke', {
    summary: 'Revokes a key permanently.',
    body: {},
    response: key,
    answer: ({ admin, account, id: wanted }) => admin.keys.revoke(account, wanted),
  }),
]

/** Whether the host has said which account it is, so that its id has no typing error. */
function isOwn({ identity }: Pick<AdminCall, 'identity'>): boolean {
  return identity.role === 'account'
}

/** Keeps a customer's script from filling the key store. */
async function requireRoom({ admin, identity }: Pick<AdminCall, 'admin' | 'identity'>): Promise<void> {
  if (identity.role === 'admin') return
  const { valid, lastHour } = await admin.keys.inUse(identity.account)
  if (valid < most.valid && lastHour < most.lastHour) return
  const message = `An account can have ${most.valid} valid keys, and create ${most.lastHour} of them in an hour.`
  throw new GatewayError('rate_limit_exceeded', { message, shouldRetry: false })
}
