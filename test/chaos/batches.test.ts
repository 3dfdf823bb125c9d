/**
 * kill -9: two gateway processes that share a storage are killed while batches are submitted, polled and settled.
 * `npm run test:long` runs the long form.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { answered, fileBatchVendor } from '../endpoints/batches/file-vendor.ts'
import { batchVendor, succeeded } from '../endpoints/batches/vendor.ts'
import { everyBundle } from '../every-bundle.ts'
import { long } from '../long.ts'
import { Instance } from './world.ts'

const size = long ? { batches: 150, kills: 60 } : { batches: 20, kills: 5 }
// On a busy machine, a process that was killed takes half a minute to be there again.
const timeout = long ? 600_000 : 240_000
// Batches are given up after an hour of the gateways' clock, which a busy machine with so many kills must not reach.
const speed = long ? 10 : 30
const lines = ['a', 'b', 'c', 'failed']
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

const contentOf = (params: Record<string, unknown>) => (params['messages'] as { content: string }[])[0]?.content ?? ''
const paramsOf = (model: string, content: string) => ({ model, max_tokens: 100, messages: [{ role: 'user', content }] })

/** How a client asks for batches of one kind. `ask`: repeats the request until it succeeds. */
interface Kind {
  readonly vendor: () => Promise<Vendor>
  readonly create: (ask: Ask, turn: number, names: readonly string[]) => Promise<string>
  /** The names of the results, once the batch has ended; undefined before. */
  readonly results: (ask: Ask, turn: number, id: string) => Promise<readonly string[] | undefined>
}

interface Vendor {
  readonly baseURL: string
  readonly close: () => Promise<void>
  /** The names of all requests, of all batches. */
  readonly sent: () => string[]
}

type Ask = (turn: number, path: string, sent?: { body: object | FormData; key?: string }) => Promise<string>

/** Takes time over each response, and ends each batch some time after it was made. */
async function openVendor(): Promise<Vendor> {
  const vendor = await batchVendor(() => Date.now() * speed)
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

/** The same for batches of files. */
async function openFileVendor(): Promise<Vendor> {
  const vendor = await fileBatchVendor(() => Date.now() * speed)
  vendor.resultOf = (line) => answered(line, contentOf(line.body).endsWith('failed') ? 500 : 200)
  vendor.before = async (_, made) => {
    if (made !== undefined) setTimeout(() => (made.status = 'completed'), 200 + Math.random() * 1_000)
    await pause(Math.random() * 120)
  }
  return {
    ...vendor,
    sent: () => vendor.batches.flatMap(({ requests }) => requests.map(({ body }) => contentOf(body))),
  }
}

const messages: Kind = {
  vendor: openVendor,
  async create(ask, turn, names) {
    const requests = names.map((name) => ({ custom_id: name, params: paramsOf('m', name) }))
    const made = await ask(turn, '/messages/batches', { body: { requests }, key: `messages-${turn}` })
    return (JSON.parse(made) as { id: string }).id
  },
  async results(ask, turn, id) {
    const batch = JSON.parse(await ask(turn, `/messages/batches/${id}`)) as {
      processing_status: string
      request_counts: object
    }
    if (batch.processing_status !== 'ended') return undefined
    expect(batch.request_counts).toMatchObject({ succeeded: lines.length - 1, errored: 1 })
    return idsIn(await ask(turn, `/messages/batches/${id}/results`))
  },
}

const files: Kind = {
  vendor: openFileVendor,
  async create(ask, turn, names) {
    const url = '/v1/chat/completions'
    const requests = names.map((name) => ({ custom_id: name, method: 'POST', url, body: paramsOf('g', name) }))
    const body = new FormData()
    body.append('file', new File([requests.map((each) => JSON.stringify(each)).join('\n')], 'requests.jsonl'))
    body.append('purpose', 'batch')
    const { id } = JSON.parse(await ask(turn, '/files', { body })) as { id: string }
    const batch = { input_file_id: id, endpoint: url, completion_window: '24h' }
    const made = await ask(turn, '/batches', { body: batch, key: `files-${turn}` })
    return (JSON.parse(made) as { id: string }).id
  },
  async results(ask, turn, id) {
    const batch = JSON.parse(await ask(turn, `/batches/${id}`)) as Record<string, string>
    if (!['completed', 'failed', 'expired'].includes(batch['status'] ?? '')) return undefined
    expect(batch).toMatchObject({ status: 'completed' })
    expect(batch['request_counts']).toMatchObject({ completed: lines.length - 1, failed: 1 })
    const [output, errors] = [batch['output_file_id'], batch['error_file_id']].map((file) =>
      ask(turn, `/files/${file}/content`),
    )
    return [...idsIn(await (output as Promise<string>)), ...idsIn(await (errors as Promise<string>))]
  },
}

function idsIn(text: string): string[] {
  const results = text.trimEnd().split('\n')
  return results.map((each) => (JSON.parse(each) as { custom_id: string }).custom_id)
}

const kinds = { messages, files }

describe.each(everyBundle())('over %s', (_, there, open, place) => {
  test.skipIf(!there).each(['messages', 'files'] as const)(
    'every batch of %s ends, is sent to the vendor once, and each of its requests is charged once',
    { timeout },
    async (name) => {
      const kind = kinds[name]
      const folder = mkdtempSync(join(tmpdir(), 'modelhatch-files-'))
      const storage = await open()
      const account = `${name}-${place.name.replaceAll(/\W/g, '')}`
      await storage.ledger.credit({ account, amount: 1_000_000_000n, reference: account })
      const { settlements: before } = await storage.ledger.audit()
      const vendor = await kind.vendor()
      const settings = { vendor: vendor.baseURL, place, account, speed, folder }
      const instances = [0, 1].map(() => new Instance(settings, () => undefined, 'batch-gateway.ts'))
      onTestFinished(async () => {
        await Promise.all(instances.map((each) => each.end()))
        await vendor.close()
        rmSync(folder, { recursive: true })
      })
      const ask: Ask = async (turn, path, sent) => {
        let last: unknown
        const until = Date.now() + timeout / 2
        for (let at = turn; Date.now() < until; at++) {
          try {
            // A process may die before it listens.
            const port = await Promise.race([(instances[at % 2] as Instance).port, pause(5_000)])
            const isForm = sent?.body instanceof FormData
            const response = await fetch(`http://127.0.0.1:${String(port)}/v1${path}`, {
              ...(sent && { method: 'POST', body: isForm ? (sent.body as FormData) : JSON.stringify(sent.body) }),
              headers: {
                'x-api-key': 'sk-chaos',
                ...(!isForm && { 'content-type': 'application/json' }),
                ...(sent?.key !== undefined && { 'idempotency-key': sent.key }),
              },
              signal: AbortSignal.timeout(20_000),
            })
            if (response.status === 200) return await response.text()
            last = `${String(response.status)} ${await response.text()}`
          } catch (error) {
            // Killed.
            last = error
          }
          await pause(50)
        }
        throw new Error(`${path} does not succeed`, { cause: last })
      }
      const ids: string[] = []
      let next = 0
      const client = async () => {
        for (let index = next++; index < size.batches; index = next++) {
          const names = lines.map((line) => `${index}-${line}`)
          ids[index] = await kind.create(ask, index, names)
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
        let names = await kind.results(ask, turn, id)
        for (; names === undefined; names = await kind.results(ask, turn, id)) await pause(100)
        expect([...names].sort()).toEqual(lines.map((line) => `${turn}-${line}`).sort())
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
          settled.push(reference)
        }
        after = page?.next
      } while (after !== undefined)
      const charged = all.filter((id) => !id.endsWith('failed'))
      expect(settled, 'charges').toHaveLength(charged.length)
      expect(new Set(settled).size, 'charges').toBe(charged.length)
      const { faults, settlements } = await storage.ledger.audit()
      expect(faults).toEqual([])
      expect(settlements - before).toBe(30n * BigInt(charged.length))
      if (storage.usage === undefined) return
      const recorded: string[] = []
      do {
        const page = await storage.usage.list({ account, limit: 100, ...(after !== undefined && { after }) })
        recorded.push(...page.items.filter(({ endpoint }) => endpoint.endsWith('.batches')).map(({ id }) => id))
        after = page.next
      } while (after !== undefined)
      expect(recorded, 'usage records').toHaveLength(all.length)
      expect(new Set(recorded).size, 'usage records').toBe(all.length)
    },
  )
})
