/** Deployments that were not called in their turn are reported with the reason. */
import { memoryUsageStore } from 'modelhatch'
import { defineProvider, type Provider } from 'modelhatch/providers'
import { finish, text } from 'modelhatch/providers/custom'
import { ProviderError } from 'modelhatch/providers/custom'
import type { AttemptEvent } from 'modelhatch'
import { expect, test } from 'vitest'
import { askChat, hostedWith } from '../hosted.ts'

const working = (name: string): Provider =>
  defineProvider({
    name,
    async *generate() {
      yield text('pong')
      yield finish('stop')
    },
  })

const broken = (name: string): Provider =>
  defineProvider({
    name,
    generate() {
      throw new ProviderError('service_unavailable', { retry: 'next', begun: false })
    },
  })

async function hosted(first: object) {
  const attempts: AttemptEvent[] = []
  const { url, receipt } = await hostedWith({
    models: { m: { route: [first as { provider: Provider }, { provider: working('second') }] } },
    breaker: { failures: 1, coolDownMs: 600_000 },
    storage: { usage: memoryUsageStore() },
    hooks: { attempt: (each) => void attempts.push(each) },
  })
  return { url, receipt, attempts }
}

const told = ({ provider, outcome, error }: AttemptEvent) => ({
  provider,
  outcome,
  code: (error as { code?: string } | undefined)?.code,
})

test('one whose breaker is open', async () => {
  const { url, receipt, attempts } = await hosted({ provider: broken('first') })
  await (await askChat(url)).arrayBuffer()
  await receipt()
  attempts.length = 0
  expect((await askChat(url)).status).toBe(200)
  const { attemptLog, attempts: count } = await receipt()
  expect(count).toBe(1)
  expect(attemptLog).toMatchObject([
    { provider: 'first', outcome: 'skipped', code: 'service_unavailable' },
    { provider: 'second', outcome: 'succeeded' },
  ])
  expect(attempts.map(told)).toEqual([
    { provider: 'first', outcome: 'skipped', code: 'service_unavailable' },
    { provider: 'second', outcome: 'succeeded', code: undefined },
  ])
})

test('one whose window seems too small for the request', async () => {
  const { url, receipt, attempts } = await hosted({ provider: working('first'), contextWindow: 100 })
  await (await askChat(url)).arrayBuffer()
  expect((await receipt()).attemptLog).toMatchObject([{ provider: 'first', outcome: 'succeeded' }])
  attempts.length = 0
  await (await askChat(url, { messages: [{ role: 'user', content: 'word '.repeat(400) }] })).arrayBuffer()
  expect((await receipt()).attemptLog).toMatchObject([
    { provider: 'first', outcome: 'skipped', code: 'context_length_exceeded' },
    { provider: 'second', outcome: 'succeeded' },
  ])
  expect(attempts.map(told)).toMatchObject([{ provider: 'first', outcome: 'skipped' }, { provider: 'second' }])
})
