/**
 * Rebuilds the guide's table of vendors and features: each cell is the result of real requests, one to each kind of
 * model that differs. With `MODELHATCH_UPDATE=1` it writes the guide instead of comparing it.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { anthropic, gemini, openai, type PresetName, type Provider } from 'modelhatch/providers'
import type { APIError } from 'openai'
import { expect, test } from 'vitest'
import { presets } from '../../src/providers/openai/presets.ts'
import { vendorFor } from '../hosted.ts'
import { vendorRequests, type VendorRequests, type Sent } from './vendor-requests.ts'
import { features, type Feature, type Vendor } from './features.ts'
import { mediaFeatures, type MediaRequest, type MediaFeature } from './media-features.ts'
import { sdkRequests, sdkMedia } from './sdk-requests.ts'
import { served } from './served.ts'

const readme = new URL('../../src/providers/README.md', import.meta.url)

const vendors: readonly Vendor[] = ['openai', 'anthropic', 'gemini', 'sdk']
const titles = ['`openai`', '`anthropic`', '`gemini`', '`fromAiSdk`']

type Outcome = 'native' | 'emulated' | 'left out' | 'refused'
type Model = readonly [name: string, asking: Pick<VendorRequests, 'sent'>]

/** The table is about vendors, so the gateway lets all cost-changing fields pass. */
const allow = ['service_tier', 'web_search_options']

/** One model of each kind that differs in its features, the usual one first. */
async function modelsOf(vendor: Vendor): Promise<Model[]> {
  const named = (make: (baseURL: string) => Provider, names: readonly string[]) =>
    Promise.all(names.map(async (name): Promise<Model> => [name, await vendorRequests(make, name, { allow })]))
  switch (vendor) {
    case 'openai':
      return Promise.all(
        Object.keys(presets).map(async (name): Promise<Model> => {
          return [
            name,
            await vendorRequests((baseURL) => openai({ preset: name as PresetName, baseURL }), 'theirs', { allow }),
          ]
        }),
      )
    case 'anthropic':
      return named(
        (baseURL) => anthropic({ baseURL }),
        [
          'claude-opus-5',
          'claude-sonnet-5-5',
          'claude-opus-4-6',
          'claude-haiku-4-5',
          'claude-opus-4',
          'claude-3-5-haiku',
        ],
      )
    case 'gemini':
      return named(
        (baseURL) => gemini({ baseURL }),
        ['gemini-3-flash', 'gemini-2.5-flash', 'gemini-2.0-flash', 'gemma-3'],
      )
    case 'sdk':
      return [
        ['version 4', await sdkRequests('v4', true)],
        ['version 4 without URLs', await sdkRequests('v4', false)],
        ['version 3', await sdkRequests('v3', true)],
        ['version 2', await sdkRequests('v2', true)],
      ]
  }
}

/** The result of a feature at a vendor: for its usual model, and for the others if they differ. */
async function cellOf(feature: Feature, vendor: Vendor, models: readonly Model[]): Promise<string> {
  const outcomes = new Set<Outcome>()
  for (const probe of feature.probes) {
    for (const [name, { sent }] of models) {
      let body: Sent
      try {
        body = await sent(probe.request)
      } catch (error) {
        expect((error as { status?: number }).status, `${feature.name} at ${name}`).toBe(400)
      }
      if (body === undefined) outcomes.add('refused')
      else if (probe.native[vendor]?.(body)) outcomes.add('native')
      else if (probe.emulated?.[vendor]?.(body)) outcomes.add('emulated')
      else if (probe.leftOut?.[vendor]?.(body)) outcomes.add('left out')
      else throw new Error(`${feature.name} was lost on the way to ${name}: ${JSON.stringify(body)}`)
    }
  }
  return [...outcomes].join(', some ')
}

/** The same for endpoints other than chat. A vendor without the feature must not receive a request. */
async function mediaCellOf({ name, ask, models, native }: MediaFeature, vendor: Vendor): Promise<string> {
  const requests: MediaRequest[] = []
  const { baseURL } = await vendorFor(({ url, body }, response) => {
    requests.push({ url, text: body.toString('latin1') })
    response.writeHead(500).end()
  })
  const makers = {
    openai: () => openai({ preset: 'openai', baseURL }),
    anthropic: () => anthropic({ baseURL }),
    gemini: () => gemini({ baseURL }),
    sdk: () => sdkMedia(requests),
  }
  const model = { provider: makers[vendor](), providerModel: models[vendor], video: { durations: [4] } }
  const { client } = await served({ model })
  const error = (await ask(client, 'model').catch((thrown: unknown) => thrown)) as APIError
  if (requests[0] !== undefined && native[vendor]?.(requests[0])) return 'native'
  expect([error.status, error.param], `${name} at ${vendor}: ${JSON.stringify(requests)}`).toEqual([400, 'model'])
  return '—'
}

test('the table in the guide matches the results of real requests', async () => {
  const models = await Promise.all(vendors.map(async (vendor) => [vendor, await modelsOf(vendor)] as const))
  const rows: (readonly [string, string[], string | undefined])[] = []
  for (const feature of features) {
    const cells = await Promise.all(models.map(([vendor, known]) => cellOf(feature, vendor, known)))
    rows.push([feature.name, cells, feature.how])
  }
  for (const feature of mediaFeatures) {
    rows.push([feature.name, await Promise.all(vendors.map((vendor) => mediaCellOf(feature, vendor))), feature.how])
  }
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const head = [line(['', ...titles, '']), line(['---', ...titles.map(() => '---'), '---'])]
  const table = [...head, ...rows.map(([name, cells, how = '']) => line([name, ...cells, how]))].join('\n')

  const text = readFileSync(readme, 'utf8')
  const [before = '', rest = ''] = text.split('<!-- features -->\n')
  const behind = rest.slice(rest.indexOf('<!-- /features -->'))
  const whole = `${before}<!-- features -->\n${table}\n${behind}`
  if (process.env['MODELHATCH_UPDATE']) writeFileSync(readme, whole)
  else expect(text).toBe(whole)
})
