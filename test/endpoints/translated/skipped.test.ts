/** Deployments whose wire format cannot say a request. */
import { defineProvider } from 'modelhatch/providers'
import { finish, text } from 'modelhatch/providers/custom'
import { expect, test } from 'vitest'
import { hostedWith } from '../../hosted.ts'

const called: string[] = []

const messages = defineProvider({
  name: 'messages',
  message() {
    called.push('messages')
    throw new TypeError('must not be called')
  },
})

const chats = defineProvider({
  name: 'chats',
  async *generate() {
    called.push('chats')
    yield text('pong')
    yield finish('stop')
  },
})

async function ask(models: Parameters<typeof hostedWith>[0]['models']): Promise<Response> {
  const { url } = await hostedWith({ models })
  called.length = 0
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', seed: 7, messages: [{ role: 'user', content: 'ping' }] }),
  })
}

test('are passed over for one that can', async () => {
  const response = await ask({ m: { route: [{ provider: messages }, { provider: chats }] } })
  expect(response.status).toBe(200)
  expect(called).toEqual(['chats'])
})

test('are a 400 with the name of the field if there is no other', async () => {
  const response = await ask({ m: messages })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: { code: 'unsupported_parameter', param: 'seed' } })
  expect(called).toEqual([])
})
