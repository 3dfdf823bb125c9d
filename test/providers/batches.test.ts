/** What vendors answer to questions about batches. */
import { anthropic, openai, type BatchJobs } from 'modelhatch/providers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { scriptedVendor, type VendorReply } from '../../src/testing/vendor.ts'

const since = Date.now()
const sought = { token: 'sought', size: 1, since, until: since }
const context = { signal: new AbortController().signal }

const batch = {
  id: 'batch_1',
  created_at: Math.floor(since / 1_000),
  status: 'completed',
}
const messageBatch = {
  id: 'msgbatch_1',
  created_at: new Date(since).toISOString(),
  processing_status: 'ended',
  request_counts: { succeeded: 1 },
}

async function jobsWith(name: string, reply: VendorReply) {
  const vendor = await scriptedVendor(reply)
  onTestFinished(() => vendor.close())
  const { baseURL } = vendor
  const { batches, fileBatches } = name === 'openai' ? openai({ preset: 'openai', baseURL }) : anthropic({ baseURL })
  return { vendor, jobs: (batches ?? fileBatches) as BatchJobs & typeof batches }
}

describe.each([
  { name: 'openai', listed: batch },
  { name: 'anthropic', listed: messageBatch },
])('a batch at a vendor like $name', ({ name, listed }) => {
  test('is looked for no further once the vendor repeats a page, and counts as not known', async () => {
    const page = { data: [{ ...listed, request_counts: { succeeded: 9 } }], has_more: true, last_id: listed.id }
    const { vendor, jobs } = await jobsWith(name, (_, response) => void response.end(JSON.stringify(page)))
    await expect(jobs.lookup?.(sought, context)).rejects.toMatchObject({ code: 'service_unavailable' })
    expect(vendor.requests).toHaveLength(2)
  })

  test('whose list cannot be read is not known', async () => {
    const { jobs } = await jobsWith(name, (_, response) => void response.end('{"object":"list"}'))
    await expect(jobs.lookup?.(sought, context)).rejects.toMatchObject({ code: 'service_unavailable' })
  })
})

test('results that are not JSON are no result of the batch that is looked for, and no text of an error', async () => {
  const { jobs } = await jobsWith('anthropic', ({ url }, response) => {
    response.end(url.endsWith('/results') ? 'canary' : JSON.stringify({ data: [messageBatch], has_more: false }))
  })
  const error = await jobs.lookup?.(sought, context).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'service_unavailable' })
  expect(`${String(error)} ${String((error as Error).cause)}`).not.toContain('canary')
})

test('a vendor without batches of messages refuses one as an unknown address, not as an unknown batch', async () => {
  const { jobs } = await jobsWith('anthropic', (_, response) => void response.writeHead(404).end('{}'))
  const made = jobs?.create({ requests: [], signal: context.signal })
  await expect(made).rejects.toMatchObject({ code: 'service_unavailable', begun: false })
})
