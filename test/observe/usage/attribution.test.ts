/** Whom requests are attributed to: users, sessions and tags, from the request to the pages of the host. */
import { expect, test } from 'vitest'
import {
  createGateway,
  memoryUsageStore,
  type GatewayOptions,
  type Receipt,
  type UsageStore,
} from '../../../src/index.ts'
import { defineProvider, finish, text } from '../../../src/providers/index.ts'
import { hosted, hostedWith } from '../../hosted.ts'
import { methodsOf } from '../../testing/faults.ts'

const parrot = defineProvider({
  name: 'parrot',
  async *generate() {
    yield text('hello')
    yield finish('stop', { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 })
  },
})

async function service(options: Partial<GatewayOptions> = {}) {
  const receipts: Receipt[] = []
  const { usage, ...rest } = options
  const gateway = createGateway({
    models: { m: parrot },
    keys: {
      'sk-plain': { account: 'acme' },
      'sk-tagged': { account: 'acme', tags: ['team:search', 'beta'] },
      'sk-ada': { account: 'acme', user: 'ada' },
    },
    hooks: { receipt: (receipt) => receipts.push(receipt) },
    usage: { record: true, ...usage },
    ...rest,
  })
  const url = await hosted(gateway)
  const chat = async (key: string, fields: object = {}, headers: Record<string, string> = {}) => {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...fields })
    const json = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...json, ...headers },
      body,
    })
    expect(response.status).toBe(200)
    await response.text()
    return response.headers.get('x-request-id') ?? ''
  }
  const recorded = async (id: string) => {
    await expect.poll(() => gateway.admin.usage.find(id)).toBeDefined()
    return gateway.admin.usage.find(id)
  }
  return { admin: gateway.admin, chat, recorded, receipts }
}

test('the request names user and session, the key its tags; receipt and record say so', async () => {
  const { chat, recorded, receipts } = await service()
  const id = await chat('sk-tagged', { user: 'bob' }, { 'x-claude-code-session-id': 's-1' })
  const expected = { user: 'bob', session: 's-1', tags: ['team:search', 'beta'], attempts: 1 }
  expect(await recorded(id)).toMatchObject(expected)
  expect(receipts.find((receipt) => receipt.id === id)).toMatchObject(expected)
  expect(
    await recorded(await chat('sk-plain', { safety_identifier: 'hash-1' }, { 'session-id': 'codex' })),
  ).toMatchObject({
    user: 'hash-1',
    session: 'codex',
  })
  const bare = await recorded(await chat('sk-plain'))
  for (const field of ['user', 'session', 'tags']) expect(bare).not.toHaveProperty(field)
})

test('the user of a key or of authenticate takes precedence over the one in the request', async () => {
  const { chat, recorded } = await service({
    authenticate: ({ headers }) =>
      headers['x-person'] === 'carol' ? { account: 'acme', group: 'default', user: 'carol', tags: ['web'] } : undefined,
  })
  expect(await recorded(await chat('sk-ada', { user: 'mallory' }))).toMatchObject({ user: 'ada' })
  const id = await chat('sk-plain', { user: 'mallory' }, { 'x-person': 'carol' })
  expect(await recorded(id)).toMatchObject({ user: 'carol', tags: ['web'] })
})

test.each([{ user: '' }, { safety_identifier: 7 }, { user: 'x'.repeat(257) }, { user: 'nul\0' }, { user: null }])(
  'a user that cannot be recorded is ignored: %j',
  async (fields) => {
    const { chat, recorded } = await service()
    expect(await recorded(await chat('sk-plain', fields))).not.toHaveProperty('user')
  },
)

test('options choose the headers of user and session, or record no user', async () => {
  const named = await service({ usage: { user: { header: 'x-user' }, sessionHeaders: ['x-thread'] } })
  const id = await named.chat('sk-plain', { user: 'bob' }, { 'x-user': 'eve', 'x-thread': 't', 'session-id': 's' })
  expect(await named.recorded(id)).toMatchObject({ user: 'eve', session: 't' })
  const none = await service({ usage: { user: 'none', sessionHeaders: [] } })
  const plain = await none.recorded(await none.chat('sk-plain', { user: 'bob' }, { 'session-id': 's' }))
  expect(plain).not.toHaveProperty('user')
  expect(plain).not.toHaveProperty('session')
})

test.each([{ admitUsers: true }, { admitUsers: false }])(
  'users beyond the maximum of an account are recorded as one; those of the host are not counted: %j',
  async ({ admitUsers }) => {
    const store = memoryUsageStore()
    const { admitUsers: counts, ...others } = methodsOf(store) as unknown as Record<string, unknown>
    expect(counts).toBeDefined()
    const usage = admitUsers ? store : (others as unknown as UsageStore)
    const { chat, recorded, admin } = await service({ usage: { maxUsers: 2 }, storage: { usage } })
    for (const user of ['u1', 'u2', 'u3', 'u1', 'u4', '(other)']) await recorded(await chat('sk-plain', { user }))
    await recorded(await chat('sk-ada'))
    const rows = await admin.usage.statistics({ account: 'acme', by: ['user'] })
    expect(rows.map(({ user, requests }) => [user, requests])).toEqual([
      ['(other)', 3],
      ['ada', 1],
      ['u1', 2],
      ['u2', 1],
    ])
    expect((await admin.usage.list({ account: 'acme', user: '(other)' })).items).toHaveLength(3)
  },
)

test('an invalid user or tag of authenticate is a 503, and of a key a TypeError', async () => {
  const authenticate = () => ({ account: 'a', group: 'default', user: '' })
  const gateway = createGateway({ models: { m: parrot }, authenticate })
  const url = await hosted(gateway)
  expect((await fetch(`${url}/v1/models`)).status).toBe(503)
  for (const wrong of [{ user: '' }, { tags: 'a' }, { tags: ['a', 'a'] }, { tags: [''] }]) {
    const options = { models: { m: parrot }, keys: { 'sk-1': wrong as never } }
    expect(() => createGateway(options), JSON.stringify(wrong)).toThrow(TypeError)
  }
})

test('a message names user and session in its metadata, and its sub-agent in a header', async () => {
  const { url, receipt, gateway } = await messaging()
  const ids = (fields: object) => ({ metadata: { user_id: JSON.stringify(fields) } })
  const send = async (body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}/v1/messages?beta=true`, {
      method: 'POST',
      headers: { 'x-api-key': 'sk-test', 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...body }),
    })
    expect(response.status).toBe(200)
    await response.text()
    const { user, session, agent } = await receipt()
    return { user, session, agent }
  }
  const claudeCode = ids({ device_id: 'd-1', account_uuid: 'a-1', session_id: 's-1' })
  expect(await send(claudeCode)).toEqual({ user: 'a-1', session: 's-1', agent: undefined })
  const headers = { 'x-claude-code-session-id': 's-2', 'x-claude-code-agent-id': 'explorer' }
  expect(await send(claudeCode, headers)).toEqual({ user: 'a-1', session: 's-2', agent: 'explorer' })
  expect(await send(ids({ device_id: 'd-1', account_uuid: '' }))).toMatchObject({ user: 'd-1', session: undefined })
  const joined = { metadata: { user_id: 'user_0f9a_account_5b-6c_session_7d-8e' } }
  expect(await send(joined)).toMatchObject({ user: '5b-6c', session: '7d-8e' })
  expect(await send({ metadata: { user_id: 'ada' } })).toMatchObject({ user: 'ada', session: undefined })
  for (const user_id of ['', '{', 'x'.repeat(3_000), '{"account_uuid":{},"session_id":[]}', null]) {
    const { session, agent } = await send({ metadata: { user_id } })
    expect([session, agent]).toEqual([undefined, undefined])
  }
  await expect
    .poll(async () => (await gateway.admin.usage.list({ account: 'acme', session: 's-2' })).items)
    .toMatchObject([{ user: 'a-1', session: 's-2', endpoint: 'messages' }])
})

function messaging() {
  return hostedWith({ models: { m: parrot }, keys: { 'sk-test': { account: 'acme' } }, usage: { record: true } })
}
