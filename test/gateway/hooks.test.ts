/** Hooks get what the channels get, and no hook can make a request fail. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect, onTestFinished, test } from 'vitest'
import { createGateway, type AttemptEvent, type Channels, type Failure, type Hooks } from '../../src/index.ts'
import { defineProvider, demo, finish, retrySame, text, type Provider } from '../../src/providers/index.ts'
import { askChat, hosted } from '../hosted.ts'

const good = defineProvider({
  name: 'good',
  async *generate() {
    yield text('Hello')
    yield finish('stop')
  },
})

const bad = defineProvider({
  name: 'bad',
  chat: () => {
    throw retrySame(new Error('it is down'))
  },
})

async function gatewayWith(hooks: Hooks, ...providers: Provider[]) {
  const route = providers.map((provider, order) => ({ provider, order }))
  const models = { m: { route }, 'demo-video': demo({ videoSeconds: 0 }) }
  const gateway = createGateway({ keys: { 'sk-test': {} }, models, hooks, retry: { backoffMs: 1 } })
  return { url: await hosted(gateway), gateway }
}

function messagesOf<Name extends keyof Channels>(name: Name): Channels[Name][] {
  const messages: Channels[Name][] = []
  const listen = (message: unknown) => void messages.push(message as Channels[Name])
  subscribe(name, listen)
  onTestFinished(() => void unsubscribe(name, listen))
  return messages
}

test('attempt is called for each attempt with the message of the channel', async () => {
  const attempts: AttemptEvent[] = []
  const published = messagesOf('modelhatch:attempt')
  const { url } = await gatewayWith({ attempt: (attempt) => void attempts.push(attempt) }, bad, good)
  const response = await askChat(url)
  expect(response.status).toBe(200)
  const id = response.headers.get('x-request-id')
  expect(attempts).toMatchObject([
    {
      id,
      model: 'm',
      provider: 'bad',
      providerModel: 'm',
      outcome: 'failed',
      error: { cause: { message: 'it is down' } },
    },
    { id, provider: 'bad', outcome: 'failed' },
    { id, provider: 'good', outcome: 'succeeded' },
  ])
  for (const { ms } of attempts) expect(ms).toBeGreaterThanOrEqual(0)
  expect(published).toEqual(attempts)
})

test('an attempt whose client disconnects is aborted', async () => {
  const ended = Promise.withResolvers<AttemptEvent>()
  const started = Promise.withResolvers<void>()
  const slow = defineProvider({
    name: 'slow',
    chat: ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        started.resolve()
      }),
  })
  const { url } = await gatewayWith({ attempt: ended.resolve }, slow)
  const client = new AbortController()
  const pending = askChat(url, {}, { signal: client.signal }).catch(() => undefined)
  await started.promise
  client.abort()
  expect(await ended.promise).toMatchObject({ provider: 'slow', outcome: 'aborted' })
  await pending
})

test('failure is called with the cause that the client does not see', async () => {
  const failures: Failure[] = []
  const { url } = await gatewayWith({ failure: (failure) => void failures.push(failure) }, bad)
  const response = await askChat(url)
  expect([response.status, await response.text()]).toEqual([503, expect.not.stringContaining('it is down')])
  expect(failures).toMatchObject([
    { id: response.headers.get('x-request-id'), error: { cause: { message: 'it is down' } } },
  ])
})

const throwing = () => {
  throw new Error('a hook failed')
}
const rejecting = async () => throwing()

test.each(['receipt', 'attempt', 'failure', 'task'] as const)(
  'an exception or rejection in the hook %s does not fail the request',
  async (name) => {
    for (const hook of [throwing, rejecting]) {
      const published = messagesOf('modelhatch:failure')
      const failures: Failure[] = []
      const hooks = { failure: (failure: Failure) => void failures.push(failure), [name]: hook }
      const { url } = await gatewayWith(hooks, good)
      expect(await (await askChat(url)).text()).toContain('Hello')
      const failing = await gatewayWith(hooks, bad)
      expect((await askChat(failing.url)).status).toBe(503)
      const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' }
      const body = JSON.stringify({ model: 'demo-video', prompt: 'a cat' })
      expect((await fetch(`${url}/v1/videos/generations`, { method: 'POST', headers, body })).ok).toBe(true)
      await expect.poll(() => published.map(({ error }) => String(error))).toContain('Error: a hook failed')
      if (name !== 'failure') expect(failures.map(({ error }) => String(error))).toContain('Error: a hook failed')
    }
  },
)
