import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { runExample } from './example.ts'

test('the pages create a key, the gateway accepts it, and the balance is charged', async () => {
  const example = await runExample('keys-and-quotas')
  const pages = example.baseURL.replace(/,.*$/, '').replace(/\/my$/, '')
  const page = async (method: string, path: string, body: Record<string, string> = {}, account = 'acme') => {
    const form = method === 'POST' ? { body: new URLSearchParams(body) } : {}
    const response = await fetch(`${pages}/my${path}`, { method, headers: { 'x-account': account }, ...form })
    return (await response.json()) as { [name: string]: string }
  }
  try {
    expect(await page('POST', '/top-ups', { amount: '0.5', order: '1' })).toMatchObject({ error: { param: 'amount' } })
    expect(await page('POST', '/top-ups', { amount: '10', order: '1' })).toEqual({ balance: '10', repeated: false })
    const { key = '', record } = await page('POST', '/keys', { name: 'laptop' })
    const client = new OpenAI({ apiKey: key, baseURL: `${pages}/ai/v1`, maxRetries: 0 })
    const { usage } = await client.chat.completions.create({
      model: 'demo',
      messages: [{ role: 'user', content: 'Hello' }],
    })
    const cost = ((usage?.prompt_tokens ?? 0) * 2 + (usage?.completion_tokens ?? 0) * 8) / 1e6
    await expect.poll(async () => Number((await page('GET', '/balance'))['balance'])).toBeCloseTo(10 - cost, 6)
    expect(await page('GET', '/usage')).toMatchObject([{ model: 'demo', requests: 1 }])
    await page('DELETE', `/keys/${(record as unknown as { id: string }).id}`)
    await expect(client.models.list()).rejects.toMatchObject({ status: 401 })
  } finally {
    expect(await example.stop()).toBe(0)
  }
})
