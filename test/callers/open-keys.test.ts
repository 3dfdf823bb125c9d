/** Requests in progress whose key expires or is revoked. */
import { expect, test } from 'vitest'
import { memoryKeyStore, memoryLedger, type GatewayOptions } from '../../src/index.ts'
import { defineProvider, finish, text } from '../../src/providers/index.ts'
import { askChat, hostedWith } from '../hosted.ts'

/** A model that streams one word and then waits for the test. */
async function stage(options: Partial<GatewayOptions>) {
  const goOn = Promise.withResolvers<void>()
  const provider = defineProvider({
    name: 'slow',
    async *generate() {
      yield text('word')
      await goOn.promise
      yield text(' end')
      yield finish('stop')
    },
  })
  const ledger = memoryLedger()
  await ledger.open({ id: 'acme', unlimited: true })
  const hosted = await hostedWith({
    models: { m: { provider, price: { output: '1' } } },
    billing: { currency: 'CNY' },
    keys: {},
    storage: { ledger, keys: memoryKeyStore() },
    ...options,
  })
  return { ...hosted, goOn: goOn.resolve }
}

async function startStream(url: string, key: string) {
  const answer = await askChat(
    url,
    { stream: true },
    { headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' } },
  )
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  let seen = ''
  const until = async (part?: string) => {
    for (;;) {
      if (part !== undefined && seen.includes(part)) return seen
      const { done, value } = await reader.read()
      if (done) return seen
      seen += Buffer.from(value).toString()
    }
  }
  await until('word')
  return until
}

test.each([
  ['revoked', 'end'],
  ['revoked', 'finish'],
  ['expired', 'end'],
] as const)('a stream whose key is %s, with whenKeyEnds: %s', async (how, whenKeyEnds) => {
  let now = Date.now()
  const { url, gateway, goOn, receipt } = await stage({ whenKeyEnds, keyCache: { ageMs: 50 }, clock: () => now })
  const expiresAt = how === 'expired' ? { expiresAt: now + 1_500 } : {}
  const { key, record } = await gateway.admin.keys.create({ account: 'acme', group: 'default', ...expiresAt })
  const rest = await startStream(url, key)
  if (how === 'revoked') await gateway.admin.keys.revoke('acme', record.id)
  else now += 1_500
  if (whenKeyEnds === 'finish') goOn()
  const text = await rest()
  const { outcome, charge } = await receipt()
  if (whenKeyEnds === 'finish') {
    expect(text).toContain('[DONE]')
    expect(outcome).toBe('completed')
  } else {
    expect(text).toContain('invalid_api_key')
    expect(text).not.toContain('[DONE]')
    expect([outcome, charge?.basis, charge?.cost]).toEqual(['cancelled', 'delivered', '0.000001'])
    goOn()
  }
})
