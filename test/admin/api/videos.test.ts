/** Video tasks over the admin API. */
import { expect, test } from 'vitest'
import type { Gateway } from '../../../src/index.ts'
import { demo } from '../../../src/providers/index.ts'
import { gatewayWith, served } from './served.ts'

async function submit(gateway: Gateway, account: string, prompt: string): Promise<string> {
  const { key } = await gateway.admin.keys.create({ account, group: 'default' })
  const { status, body } = await gateway.handle({
    method: 'POST',
    target: '/v1/videos/generations',
    headers: { authorization: `Bearer ${key}` },
    body: { state: 'parsed', value: { model: 'demo-video', prompt, duration: 5 } },
    signal: new AbortController().signal,
  })
  expect(status).toBe(200)
  return (JSON.parse(body as string) as { id: string }).id
}

/** The gateway's clock, which the test moves. */
function clocked() {
  let now = Date.UTC(2031, 0, 1)
  const clock = () => now
  const gateway = gatewayWith({
    clock,
    models: { 'demo-video': demo({ videoSeconds: 0.001 }), demo: demo() },
    groups: { default: { models: '*' }, vip: { models: ['demo'] } },
    billing: undefined as never,
  })
  return { gateway, pass: (ms: number) => (now += ms) }
}

test('tasks of all accounts are listed in pages, filtered, and shown to their own account', async () => {
  const { gateway, pass } = clocked()
  const ids: string[] = []
  for (let index = 0; index < 5; index++) {
    ids.unshift(await submit(gateway, index % 2 === 0 ? 'acme' : 'beta', `video ${index}`))
    pass(1_000)
  }
  const { ask } = await served(gateway)
  const list = async (as: string, query: string) => {
    const { json } = await ask(as, `/videos?${query}`)
    return { ids: json.items.map(({ id }: { id: string }) => id), next: json.next as string | undefined }
  }
  expect((await list('admin', '')).ids).toEqual(ids)
  const first = await list('admin', 'limit=2')
  expect(first.ids).toEqual(ids.slice(0, 2))
  const second = await list('admin', `limit=3&after=${encodeURIComponent(first.next ?? '')}`)
  expect(second).toEqual({ ids: ids.slice(2), next: undefined })
  const own = await list('acme', 'limit=2')
  expect(own.ids).toEqual([ids[0], ids[2]])
  expect((await list('acme', `after=${encodeURIComponent(own.next ?? '')}`)).ids).toEqual([ids[4]])
  // The cursor of a list of all accounts shows no task of another one.
  expect((await list('acme', `after=${encodeURIComponent(first.next ?? '')}`)).ids).not.toContain(ids[1])
  expect((await list('admin', 'account=beta')).ids).toEqual([ids[1], ids[3]])
  expect((await list('admin', 'state=completed')).ids).toEqual([])
  expect((await list('admin', 'model=demo-video&state=pending')).ids).toHaveLength(5)
  expect((await ask('admin', '/videos?after=x')).json.error.param).toBe('after')
  expect((await ask('admin', `/videos?after=${encodeURIComponent('[1,"x"]')}`)).json.error.param).toBe('after')
  const shown = await ask('acme', `/accounts/acme/videos/${ids[0]}`)
  expect(shown.json).toMatchObject({ prompt: 'video 4', seconds: 5, state: 'pending' })
  expect(shown.text).not.toContain('provider')
  expect((await ask('admin', `/accounts/acme/videos/${ids[0]}`)).json).toMatchObject({ provider: 'demo' })
})

test('the content of a finished video is sent, whole or in part, to its account and the operator', async () => {
  const { gateway, pass } = clocked()
  const id = await submit(gateway, 'acme', 'a cat')
  const { ask } = await served(gateway)
  const path = `/accounts/acme/videos/${id}/content`
  const early = await ask('acme', path)
  expect([early.status, early.json.error.code]).toEqual([409, 'conflict'])
  pass(600_000)
  expect((await ask('acme', `/accounts/acme/videos/${id}`)).json.state).toBe('completed')
  const whole = await ask('acme', path)
  expect([whole.status, whole.headers['content-type']]).toEqual([200, 'video/mp4'])
  const length = Number(whole.headers['content-length'])
  expect(length).toBeGreaterThan(1_000)
  const part = await ask('admin', path, { headers: { range: 'bytes=0-9' } })
  expect([part.status, part.headers['content-range']]).toEqual([206, `bytes 0-9/${length}`])
  expect((await ask('acme', path, { method: 'HEAD' })).status).toBe(200)
  expect((await ask('beta', path)).status).toBe(404)
  expect((await ask('beta', `/accounts/beta/videos/${id}/content`)).status).toBe(404)
  const removed = await ask('acme', `/accounts/acme/videos/${id}`, { method: 'DELETE' })
  expect([removed.status, removed.json.id]).toEqual([200, id])
  expect((await ask('acme', path)).status).toBe(404)
})
