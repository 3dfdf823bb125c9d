/**
 * kill -9: two gateway processes that share a storage are killed while they make responses in the background, which extend one
 * conversation. `npm run test:long` runs the long form.
 */
import { describe, expect, onTestFinished, test } from 'vitest'
import { scriptedVendor } from '../../src/testing/vendor.ts'
import { streamEvents } from '../admission/scene.ts'
import { everyBundle } from '../every-bundle.ts'
import { long } from '../long.ts'
import { Instance } from './world.ts'

const size = long ? { responses: 400, kills: 60 } : { responses: 40, kills: 5 }
const timeout = long ? 600_000 : 90_000
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

interface Found {
  readonly id: string
  readonly status: string
  readonly output: readonly { readonly id: string }[]
}

/** Sends the events with pauses. Counts the calls for each input. */
async function openVendor() {
  const calls = new Map<string, number>()
  const vendor = await scriptedVendor(async (request, response) => {
    const { messages } = request.json as { messages: { content: string }[] }
    const said = messages.at(-1)?.content ?? ''
    calls.set(said, (calls.get(said) ?? 0) + 1)
    response.on('error', () => undefined)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of streamEvents) {
      await pause(Math.random() * 120)
      response.write(event)
    }
    response.end()
  })
  return { ...vendor, calls }
}

describe.each(everyBundle())('over %s', (_, there, open, place) => {
  test.skipIf(!there)(
    'every response ends, is charged once if it is complete, and extends its conversation once',
    { timeout },
    async () => {
      const storage = await open()
      const account = `chaos-${place.name.replaceAll(/\W/g, '')}`
      await storage.ledger.credit({ account, amount: 10_000_000n, reference: account })
      const vendor = await openVendor()
      const settings = { vendor: vendor.baseURL, place, account }
      const instances = [0, 1].map(() => new Instance(settings, () => undefined, 'background-gateway.ts')) as [
        Instance,
        Instance,
      ]
      onTestFinished(async () => {
        await Promise.all(instances.map((each) => each.end()))
        await vendor.close()
      })
      const ask = async <T>(turn: number, path: string, init: { body?: object; key?: string } = {}): Promise<T> => {
        for (let at = turn; ; at++) {
          try {
            // A process may die before it listens.
            const port = await Promise.race([(instances[at % 2] as Instance).port, pause(5_000)])
            const headers = {
              authorization: 'Bearer sk-chaos',
              'content-type': 'application/json',
              ...(init.key !== undefined && { 'idempotency-key': init.key }),
            }
            const sent = init.body === undefined ? {} : { method: 'POST', body: JSON.stringify(init.body) }
            const response = await fetch(`http://127.0.0.1:${String(port)}/v1${path}`, {
              headers,
              ...sent,
              signal: AbortSignal.timeout(10_000),
            })
            if (response.status === 200) return (await response.json()) as T
            await response.body?.cancel()
          } catch {
            // Killed.
          }
          await pause(50)
        }
      }
      const { id: conversation } = await ask<{ id: string }>(0, '/conversations', { body: {}, key: 'conversation' })
      const ids: string[] = []
      let next = 0
      const client = async () => {
        for (let index = next++; index < size.responses; index = next++) {
          const body = { model: 'm', background: true, input: `call ${index}`, conversation }
          ids[index] = (await ask<Found>(index, '/responses', { body, key: `call-${index}` })).id
        }
      }
      const submitted = Promise.all(Array.from({ length: 8 }, client))
      for (let killed = 0; killed < size.kills; killed++) {
        const victim = instances[killed % 2] as Instance
        await victim.port
        await pause(200 + Math.random() * 1_200)
        victim.kill()
      }
      await submitted
      const found: Found[] = []
      for (const [turn, id] of ids.entries()) {
        let response = await ask<Found>(turn, `/responses/${id}`)
        while (response.status === 'queued' || response.status === 'in_progress') {
          await pause(50)
          response = await ask<Found>(turn, `/responses/${id}`)
        }
        found.push(response)
      }
      const done = found.filter(({ status }) => status === 'completed')
      for (const { status } of found) expect(['completed', 'failed']).toContain(status)
      expect(done.length).toBeGreaterThan(0)
      expect(
        [...vendor.calls.values()].filter((count) => count > 1),
        'calls that were made twice',
      ).toEqual([])

      // What is complete is settled, at the latest when the lease of its process has expired.
      const booked = async () => {
        const entries = new Map<string, string>()
        let after: string | undefined
        do {
          const page = await storage.ledger.entries?.(account, { limit: 100, ...(after !== undefined && { after }) })
          for (const { kind, reference, amount } of page?.items ?? []) entries.set(reference, `${kind} ${amount}`)
          after = page?.next
        } while (after !== undefined)
        return found.map(({ id }) => entries.get(id.replace('resp_', 'req_'))?.split(' ')[0] ?? 'none')
      }
      const due = found.map(({ status }) => (status === 'completed' ? 'settle' : 'release'))
      await expect.poll(booked, { timeout: 20_000 }).toEqual(due)
      const { faults, settlements } = await storage.ledger.audit()
      expect(faults).toEqual([])
      expect(settlements).toBe(30n * BigInt(done.length))

      const items = (await storage.responses.get(account, conversation))?.body ?? ''
      const { turns } = JSON.parse(items) as { turns: { items: { id: string; content: { text: string }[] }[] }[] }
      const added = turns.flatMap((turn) => turn.items)
      const places = done.map(({ output }) => added.filter(({ id }) => id === output[0]?.id).length)
      expect(places, 'places of each answer').toEqual(done.map(() => 1))
      expect(added).toHaveLength(2 * done.length)
    },
  )
})
