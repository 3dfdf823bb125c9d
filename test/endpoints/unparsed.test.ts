/** Long conversations that a vendor reads in the client's format are passed on without being parsed. */
import { anthropic, openai, type Provider } from 'modelhatch/providers'
import { expect, onTestFinished, test } from 'vitest'
import { hostedWith, vendorFor } from '../hosted.ts'
import { post } from './ask.ts'

const words = 'Sunlight is scattered by the air. '.repeat(20)
const turns = Array.from({ length: 300 }, (_, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content: words }))

/** Collects the lengths of long texts that the gateway parses. */
function longTexts(): number[] {
  const lengths: number[] = []
  const parse = JSON.parse
  JSON.parse = (text: string, ...rest: []) => {
    const isVendors = text.length > 50_000 && /src.testing/.test(new Error('trace').stack ?? '')
    if (text.length > 50_000 && !isVendors) lengths.push(text.length)
    return parse(text, ...rest) as unknown
  }
  onTestFinished(() => void (JSON.parse = parse))
  return lengths
}

const vendors: [path: string, provider: (baseURL: string) => Provider][] = [
  ['/chat/completions', (baseURL) => openai({ baseURL })],
  ['/messages', (baseURL) => anthropic({ baseURL, apiKey: 'sk' })],
]

test.each(vendors)('%s', async (path, provider) => {
  const vendor = await vendorFor((_, response) => void response.writeHead(400).end('{"error":{"message":"no"}}'))
  const { url } = await hostedWith({ models: { m: provider(vendor.baseURL) }, retry: { maxAttempts: 1 } })
  const lengths = longTexts()
  await post(url, path, { model: 'm', messages: turns, max_tokens: 100 })
  expect(vendor.requests).toHaveLength(1)
  expect(lengths).toEqual([])
})
