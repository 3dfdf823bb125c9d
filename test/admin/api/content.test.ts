/** Who may read what was asked and answered, and that each reading is noted. */
import { expect, test } from 'vitest'
import { gatewayWith, served, withContent } from './served.ts'

const [own, foreign] = ['/requests/req_own/content', '/requests/req_foreign/content']

async function api() {
  const content = await withContent(
    { id: 'req_own', session: 's', at: Date.UTC(2030, 0, 1) },
    { id: 'req_later', session: 's', at: Date.UTC(2030, 0, 2) },
    { id: 'req_foreign', account: 'other', session: 's' },
  )
  const made = await served(gatewayWith(content))
  const notes = async () =>
    (await made.gateway.admin.auditLog.list()).items.map(({ action, account, target, actor }) => ({
      action,
      account,
      target,
      actor,
    }))
  return { ...made, notes }
}

test('identities that may read it get it, and each reading is noted', async () => {
  const { ask, notes } = await api()
  const read = await ask('admin', own)
  expect(read.json).toMatchObject({ id: 'req_own', account: 'acme', provider: 'demo', isWhole: true })
  expect(read.text).toContain('Who?')
  expect(read.text).toContain('Me.')
  const shown = await ask('acme', own)
  expect(shown.status).toBe(200)
  expect(shown.text).not.toContain('provider')
  expect(await notes()).toEqual([
    { action: 'content.read', account: 'acme', target: 'req_own', actor: 'acme' },
    { action: 'content.read', account: 'acme', target: 'req_own', actor: 'operator' },
  ])
})

test('a session is a thread, oldest first and in pages', async () => {
  const { ask, notes } = await api()
  const first = await ask('acme', '/accounts/acme/content?session=s&limit=1')
  expect(first.json.items.map(({ id }: { id: string }) => id)).toEqual(['req_own'])
  const after = encodeURIComponent(first.json.next)
  const { json } = await ask('acme', `/accounts/acme/content?session=s&limit=1&after=${after}`)
  expect(json.items.map(({ id }: { id: string }) => id)).toEqual(['req_later'])
  expect(json.next).toBeUndefined()
  expect((await ask('acme', '/accounts/acme/content?session=another')).json.items).toEqual([])
  expect((await notes())[0]).toEqual({ action: 'content.read', account: 'acme', target: 'another', actor: 'acme' })
})

test('a page has few contents, because each may be large', async () => {
  const many = Array.from({ length: 60 }, (_, at) => ({ id: `req_${at + 10}`, session: 's', at }))
  const { ask } = await served(gatewayWith(await withContent(...many)))
  const { json } = await ask('acme', '/accounts/acme/content?session=s&limit=1000')
  expect(json.items).toHaveLength(50)
  const rest = await ask('acme', `/accounts/acme/content?session=s&after=${encodeURIComponent(json.next)}`)
  expect(rest.json.items.map(({ id }: { id: string }) => id)).toEqual(many.slice(50).map(({ id }) => id))
})

test('for all others it is not there, and nothing is noted', async () => {
  const { ask, notes } = await api()
  const nothing = (await ask('blind', '/no/such/path')).text
  for (const as of ['blind', 'blind-acme'])
    for (const path of [own, foreign, '/accounts/blind-acme/content?session=s'])
      expect(await ask(as, path), `${as} ${path}`).toMatchObject({ status: 404, text: nothing })
  expect(await ask('acme', foreign)).toMatchObject({ status: 404, text: nothing })
  expect(await ask('acme', '/accounts/other/content?session=s')).toMatchObject({ status: 404, text: nothing })
  expect((await ask('blind', '/me')).json.features.content).toBe(false)
  expect((await ask('admin', '/me')).json.features.content).toBe(true)
  expect(await notes()).toEqual([])
})

test('an export has it for those who may read it, and is noted then', async () => {
  const { ask, notes } = await api()
  expect((await ask('blind', '/accounts/acme/export')).text).not.toContain('Who?')
  expect(await notes()).toEqual([])
  expect((await ask('admin', '/accounts/acme/export')).text).toContain('Who?')
  expect(await notes()).toEqual([{ action: 'content.read', account: 'acme', target: undefined, actor: 'operator' }])
})

test('without the option there is none, and it says so', async () => {
  const { ask } = await served(gatewayWith())
  expect((await ask('admin', '/me')).json.features.content).toBe(false)
  expect((await ask('admin', own)).json.error.message).toBe('Content needs the option "content".')
})

test('nothing is shown if the reading cannot be noted', async () => {
  const { gateway, ask } = await api()
  expect(gateway.admin.offers().content).toBe(true)
  const audit = {
    append: () => Promise.reject(new Error('down')),
    last: () => undefined,
    list: () => ({ items: [] }),
    read: () => [],
    erase: () => false,
  }
  const silent = await served(gatewayWith({ ...(await withContent({ id: 'req_own' })), storage: { audit } }))
  const answer = await silent.ask('admin', own)
  expect(answer.status).toBe(503)
  expect(answer.text).not.toContain('Who?')
  expect((await ask('admin', own)).status).toBe(200)
})
