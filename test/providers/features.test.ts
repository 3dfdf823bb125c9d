/**
 * The table of vendors and features in the readme, made anew: each cell is what became of a real request. With
 * `MODELHATCH_UPDATE=1` the readme is written instead of judged.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { simulateReadableStream } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { fromAiSdk } from 'modelhatch/ai-sdk'
import { anthropic, gemini, openai, type Provider } from 'modelhatch/providers'
import { expect, test } from 'vitest'
import { asking, type Asking, type Sent } from './asking.ts'
import { features, type Feature, type Vendor } from './features.ts'
import { served } from './served.ts'
import { toldByClient } from './told.ts'

const readme = new URL('../../README.md', import.meta.url)

const columns: readonly (readonly [Vendor, string])[] = [
  ['openai', '`openai`'],
  ['anthropic', '`anthropic`'],
  ['gemini', '`gemini`'],
  ['sdk', '`fromAiSdk`'],
]

/** The options that a model of the AI SDK gets, or how it was refused. */
async function askingSdk(): Promise<Pick<Asking, 'sent' | 'refused'>> {
  const model = new MockLanguageModelV4({
    supportedUrls: { 'image/*': [/^https:/] },
    doStream: async () => ({ stream: simulateReadableStream({ chunks: [] }) }),
  })
  const { client } = await served({ model: fromAiSdk(model) })
  const ask = async (request: object) => {
    const before = model.doStreamCalls.length
    const { error } = await toldByClient(
      client,
      { model: 'model', messages: [{ role: 'user', content: 'Hi' }], ...request },
      false,
    )
    return { options: model.doStreamCalls[before] as Sent, status: error?.status }
  }
  return {
    async sent(request) {
      const { options, status } = await ask(request)
      if (options === undefined) throw Object.assign(new Error('refused'), { status })
      return options
    },
    async refused() {
      throw new Error('ask for what was sent')
    },
  }
}

/** What became of a feature at a vendor. Throws where it was lost without a word. */
async function become(feature: Feature, vendor: Vendor, { sent }: Pick<Asking, 'sent'>): Promise<string> {
  let body: Sent
  try {
    body = await sent(feature.request)
  } catch (error) {
    expect((error as { status?: number }).status, `${feature.name} at ${vendor}`).toBe(400)
    return 'refused'
  }
  if (feature.native[vendor]?.(body)) return 'native'
  if (feature.emulated?.[vendor]?.(body)) return 'emulated'
  throw new Error(`${feature.name} was lost on the way to ${vendor}: ${JSON.stringify(body)}`)
}

test('the table in the readme is what becomes of requests', async () => {
  const askings: Readonly<Record<Vendor, Pick<Asking, 'sent'>>> = {
    openai: await asking((baseUrl) => openai({ preset: 'openai', baseUrl }), 'gpt-5'),
    anthropic: await asking((baseUrl) => anthropic({ baseUrl }), 'claude-opus-5'),
    gemini: await asking((baseUrl) => gemini({ baseUrl }), 'gemini-3-flash'),
    sdk: await askingSdk(),
  }
  const lines = [
    `| | ${columns.map(([, title]) => title).join(' | ')} | |`,
    `| --- | ${columns.map(() => '---').join(' | ')} | --- |`,
  ]
  for (const feature of features) {
    const cells = await Promise.all(columns.map(([vendor]) => become(feature, vendor, askings[vendor])))
    lines.push(`| ${feature.name} | ${cells.join(' | ')} | ${feature.how ?? ''} |`)
  }
  const methods: readonly (readonly [string, keyof Provider])[] = [
    ['embeddings', 'embed'],
    ['images', 'generateImages'],
    ['edits of images', 'editImages'],
    ['transcriptions', 'transcribe'],
  ]
  const providers = [openai(), anthropic(), gemini()]
  for (const [name, method] of methods) {
    const cells = providers.map((provider) => (provider[method] === undefined ? '—' : 'native'))
    lines.push(`| ${name} | ${cells.join(' | ')} | native | |`)
  }
  const table = lines.join('\n')

  const text = readFileSync(readme, 'utf8')
  const [before = '', rest = ''] = text.split('<!-- features -->\n')
  const behind = rest.slice(rest.indexOf('<!-- /features -->'))
  const whole = `${before}<!-- features -->\n${table}\n${behind}`
  if (process.env['MODELHATCH_UPDATE']) writeFileSync(readme, whole)
  else expect(text).toBe(whole)
})
