/** Vendors whose model edits a file with the tools of an agent: one for each wire. */
import { onTestFinished } from 'vitest'
import { anthropic, gemini, openai, type Provider } from 'modelhatch/providers'
import { scriptedVendor } from 'modelhatch/testing'
import { anthropicDialect } from '../../src/testing/dialects/anthropic.ts'
import type { Dialect, DialectRequest, Script, ScriptedCall } from '../../src/testing/dialects/dialect.ts'
import { geminiDialect } from '../../src/testing/dialects/gemini.ts'
import { openaiDialect } from '../../src/testing/dialects/openai.ts'
import { scriptedDialect } from '../../src/testing/scripted-dialect.ts'
import { responsesDialect } from './responses-dialect.ts'

interface Wire {
  readonly name: string
  readonly dialect: Dialect
  /** The path before the endpoints. */
  readonly path: string
  readonly provider: (baseURL: string) => Provider
}

const apiKey = 'sk-vendor'

export const wires: readonly Wire[] = [
  {
    name: 'anthropic',
    dialect: anthropicDialect,
    path: '/v1',
    provider: (baseURL) => anthropic({ apiKey, baseURL }),
  },
  {
    name: 'openai chat',
    dialect: openaiDialect,
    path: '/v1',
    provider: (baseURL) => openai({ apiKey, baseURL, responses: false }),
  },
  {
    name: 'openai responses',
    dialect: responsesDialect,
    path: '/v1',
    provider: (baseURL) => openai({ apiKey, baseURL, responses: true }),
  },
  {
    name: 'gemini',
    dialect: geminiDialect,
    path: '/v1beta',
    provider: (baseURL) => gemini({ apiKey, baseURL }),
  },
]

/** The calls of the model, one after the other. */
export type Steps = readonly Omit<ScriptedCall, 'id'>[]

const usage = { input: 100, cached: 0, output: 10, reasoning: 0 }

/** The text with which the model ends. */
export const lastText = 'The word is replaced.'

/**
 * The model of one wire, which makes the calls of `steps` with a word before each, and then says that it is done. `requests`: what
 * the vendor has understood.
 */
export function editingModel(wire: Wire, steps: Steps) {
  return scriptedModel(wire, (request) => scriptFor(request, steps))
}

/** A model that says what the plan says. */
export async function scriptedModel({ dialect, path, provider }: Wire, plan: (request: DialectRequest) => Script) {
  const refused: string[] = []
  const { reply, requests } = scriptedDialect(dialect, plan)
  const vendor = await scriptedVendor(async (request, response) => {
    await reply(request, response)
    if (response.statusCode >= 400) refused.push(request.body.toString('utf8'))
  })
  onTestFinished(() => vendor.close())
  const made = provider(vendor.baseURL.replace(/\/v1$/, path))
  return { provider: made, providerModel: dialect.model, requests, refused }
}

function scriptFor({ turns, tools }: DialectRequest, steps: Steps): Script {
  const results = turns.flatMap((turn) => turn.results).length
  const step = tools.length === 0 ? undefined : steps[results]
  if (step === undefined) return { text: lastText, usage }
  return { text: `Step ${results + 1}.`, calls: [{ ...step, id: `call_${results + 1}` }], usage }
}

/** The results of the calls, as the vendor got them with the last request. */
export function resultsIn(requests: readonly DialectRequest[]): readonly string[] {
  const most = requests.map(({ turns }) => turns.flatMap(({ results }) => results.map(({ text }) => text)))
  return most.reduce((longest, each) => (each.length > longest.length ? each : longest), [])
}
