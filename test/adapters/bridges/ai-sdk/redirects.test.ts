/** The SDK's own packages do not follow a vendor's redirect with the client's content or the host's API key. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { createXai } from '@ai-sdk/xai'
import { fromAiSdk, type AiSdkAnyModel } from 'modelhatch/ai-sdk'
import { expect, test } from 'vitest'
import { withoutRedirects } from '../../../../adapters/bridges/ai-sdk/redirects.ts'
import { post } from '../../../endpoints/ask.ts'
import { formOf, send } from '../../../endpoints/forms.ts'
import { hostedWith, vendorFor } from '../../../hosted.ts'

const prompt = 'A hatch'
const chat = { messages: [{ role: 'user', content: prompt }] }
const film = { prompt, duration: 5 }

test.each<[string, (baseURL: string) => AiSdkAnyModel, string, object | 'form']>([
  ['Claude', (baseURL) => createAnthropic({ baseURL, apiKey: 'k' })('claude-sonnet-5'), '/chat/completions', chat],
  ['Gemini', (baseURL) => createGoogleGenerativeAI({ baseURL, apiKey: 'k' })('gemini-3'), '/chat/completions', chat],
  ['responses', (baseURL) => createOpenAI({ baseURL, apiKey: 'k' })('gpt-5'), '/chat/completions', chat],
  ['chats', (baseURL) => createOpenAI({ baseURL, apiKey: 'k' }).chat('gpt-5'), '/chat/completions', chat],
  [
    'an OpenAI-compatible vendor',
    (baseURL) => createOpenAICompatible({ baseURL, apiKey: 'k', name: 'other' })('m'),
    '/chat/completions',
    chat,
  ],
  ['embeddings', (baseURL) => createOpenAI({ baseURL, apiKey: 'k' }).embedding('e'), '/embeddings', { input: prompt }],
  ['images', (baseURL) => createOpenAI({ baseURL, apiKey: 'k' }).image('i'), '/images/generations', { prompt }],
  [
    'transcripts',
    (baseURL) => createOpenAI({ baseURL, apiKey: 'k' }).transcription('t'),
    '/audio/transcriptions',
    'form',
  ],
  ['videos', (baseURL) => createXai({ baseURL, apiKey: 'k' }).video('v'), '/videos/generations', film],
])('%s: a redirect is not followed', async (_, make, path, body) => {
  const elsewhere = await vendorFor((_, response) => void response.writeHead(200).end('{}'))
  const vendor = await vendorFor((request, response) => {
    response.writeHead(307, { location: `${elsewhere.baseURL}${request.url}` }).end()
  })
  const { url } = await hostedWith({ models: { m: fromAiSdk(make(vendor.baseURL)) }, retry: { maxAttempts: 1 } })
  const file = new Blob(['sound'], { type: 'audio/wav' })
  const answer =
    body === 'form'
      ? await send(url, path, formOf(['model', 'm'], ['file', file, 'a.wav']))
      : await post(url, path, { model: 'm', ...body })
  expect(answer.status).toBeGreaterThanOrEqual(500)
  expect(vendor.requests.length).toBeGreaterThan(0)
  expect(elsewhere.requests).toEqual([])
})

test('a redirect of an anonymous download is followed, but not of a request with a key', async () => {
  const elsewhere = await vendorFor((_, response) => void response.writeHead(200).end('file'))
  const vendor = await vendorFor((_, response) => void response.writeHead(302, { location: elsewhere.baseURL }).end())
  const model = withoutRedirects({ config: { baseURL: vendor.baseURL, fetch } })
  expect(await (await model.config.fetch(vendor.baseURL)).text()).toBe('file')
  const keyed = await model.config.fetch(vendor.baseURL, { headers: { 'x-api-key': 'k' } })
  expect([keyed.ok, elsewhere.requests.length]).toEqual([false, 1])
})
