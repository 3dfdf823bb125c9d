/**
 * kill -9: two gateway processes that share a storage are killed while batches are submitted, polled and settled.
 * `npm run test:long` runs the long form.
 */
import { describe, expect, onTestFinished, test } from 'vitest'
import { batchVendor, succeeded } from '../endpoints/batches/vendor.ts'
import { everyBundle } from '../every-bundle.ts'
import { long } from '../long.ts'
import { Instance } from './world.ts'

const size = long ? { batches: 150, kills: 60 } : { batches: 20, kills: 5 }
const timeout = long ? 600_000 : 90_000
const speed = 30
const lines = ['a', 'b', 'c', 'failed']
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Takes time over each response, and ends each batch some time after it was made. */
async function openVendor() {
  const vendor = await batchVendor(() => Date.now() * speed)
  const contentOf = (params: Record<string, unknown>) => (params['messages'] as { content: string }[])[0]?.content ?? ''
  vendor.resultOf = (params) => {
    if (!contentOf(params).endsWith('failed')) return succeeded(params)
    return { type: 'errored', error: { type: 'error', error: { type: 'api_error', message: 'no' } } }
  }
  vendor.before = async (_, made) => {
    if (made !== undefined) setTimeout(() => (made.status = 'ended'), 200 + Math.random() * 1_000)
    await pause(Math.random() * 120)
  }
  return {
    ...vendor,
    sent: () => vendor.batches.flatMap(({ requests }) => requests.map(({ params }) => contentOf(params))),
  }
}

describe.each(everyBundle())('over %s', (_, there, open, place) => {
  test.skipIf(!there)(
    'every batch ends, is sent to the vendor once, and each of its requests is charged once',
    { timeout },
    async () => {
      const storage = await open()
      const account = `chaos-${place.name.replaceAll(/\W/g, '')}`
      await storage.ledger.credit({ account, amount: 1_000_000_000n, reference: account })
      const vendor = await openVendor()
      const settings = { vendor: vendor.baseURL, place, account, speed }
      const instances = [0, 1].map(() => new Instance(settings, () => undefined, 'batch-gateway.ts'))
      onTestFinished(async () => {
        await Promise.all(instances.map((each) => each.end()))
        await vendor.close()
      })
      const ask = async (turn: number, path: string, sent?: { body: object; key: string }) => {
        for (let at = turn; ; at++) {
          try {
            // A process may die before it listens.
            const port = await Promise.race([(instances[at % 2] as Instance).port, pause(5_000)])
            const headers = { 'x-api-key': 'sk-chaos', 'content-type': 'application/json' }
            const response = await fetch(`http://127.0.0.1:${String(port)}/v1/messages/batches${path}`, {
              ...(sent && { method: 'POST', body: JSON.stringify(sent.body) }),
              headers: { ...headers, ...(sent && { 'idempotency-key': sent.key }) },
              signal: AbortSignal.timeout(20_000),
            })
            if (response.status === 200) return await response.text()
            await response.body?.cancel()
          } catch {
            // Killed.
          }
          await pause(50)
        }
      }
      const ids: string[] = []
      let next = 0
      const client = async () => {
        for (let index = next++; index < size.batches; index = next++) {
          const requests = lines.map((line) => ({
            custom_id: `${index}-${line}`,
            params: { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: `${index}-${line}` }] },
          }))
          const { id } = JSON.parse(await ask(index, '', { body: { requests }, key: `batch-${index}` })) as {
            id: string
          }
          ids[index] = id
        }
      }
      const submitted = Promise.all(Array.from({ length: 4 }, client))
      for (let killed = 0; killed < size.kills; killed++) {
        const victim = instances[killed % 2] as Instance
        await victim.port
        await pause(200 + Math.random() * 1_200)
        victim.kill()
      }
      await submitted
      for (const [turn, id] of ids.entries()) {
        for (;;) {
          const batch = JSON.parse(await ask(turn, `/${id}`)) as { processing_status: string; request_counts: object }
          if (batch.processing_status !== 'ended') await pause(100)
          else {
            expect(batch.request_counts).toMatchObject({ succeeded: lines.length - 1, errored: 1 })
            break
          }
        }
        const results = (await ask(turn, `/${id}/results`)).trimEnd().split('\n')
        const names = results.map((each) => (JSON.parse(each) as { custom_id: string }).custom_id)
        expect(names.sort()).toEqual(lines.map((line) => `${turn}-${line}`).sort())
      }
      const all = ids.flatMap((_, index) => lines.map((line) => `${index}-${line}`)).sort()
      expect(vendor.sent().sort(), 'requests at the vendor').toEqual(all)

      const settled: string[] = []
      let after: string | undefined
      do {
        const page = await storage.ledger.entries?.(account, { limit: 100, ...(after !== undefined && { after }) })
        for (const { kind, reference, amount } of page?.items ?? []) {
          if (kind !== 'settle') continue
          expect(amount).toBe(-30n)
          settled.push(reference.slice(reference.indexOf('.') + 1))
        }
        after = page?.next
      } while (after !== undefined)
      const charged = all.filter((id) => !id.endsWith('failed'))
      expect(settled.sort(), 'charges').toEqual(charged)
      const { faults, settlements } = await storage.ledger.audit()
      expect(faults).toEqual([])
      expect(settlements).toBe(30n * BigInt(charged.length))
      if (storage.usage === undefined) return
      const recorded: string[] = []
      do {
        const page = await storage.usage.list({ account, limit: 100, ...(after !== undefined && { after }) })
        recorded.push(...page.items.map(({ id }) => id.slice(id.indexOf('.') + 1)))
        after = page.next
      } while (after !== undefined)
      expect(recorded.sort(), 'usage records').toEqual(all)
    },
  )
})
