/** What environment variables say about vendors and keys. */
import { randomBytes } from 'node:crypto'
import { landscapeVideo, portraitVideo, type ModelEntry } from '../../src/index.ts'
import { demoNames } from '../../src/providers/demo/demo.ts'
import { anthropic, demo, gemini, openai } from '../../src/providers/index.ts'
import { presets } from '../../src/providers/openai/presets.ts'
import type { PresetName } from '../../src/providers/openai/options.ts'

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The vendors by the start of their variables: `OPENAI_API_KEY`, and `OPENAI_BASE_URL` for another server with the same API. */
const vendors: Readonly<Record<string, (access: Access) => ModelEntry>> = {
  OPENAI: openai,
  ANTHROPIC: anthropic,
  GEMINI: gemini,
  ...Object.fromEntries(
    Object.entries(presets)
      .filter(([name, { baseURL }]) => name !== 'openai' && baseURL?.startsWith('https:'))
      .map(([name]) => [name.toUpperCase(), (access: Access) => openai({ preset: name as PresetName, ...access })]),
  ),
}

interface Access {
  readonly apiKey: string
  readonly baseURL?: string
}

/** The names of the variables with the key of a vendor. */
export const keyVariables: readonly string[] = Object.keys(vendors).map((name) => `${name}_API_KEY`)

/** The models of each vendor whose key is set, as `openai/…`, `anthropic/…` and so on; without any, the demo models. */
export function modelsOf(environment: Environment): Record<string, ModelEntry> {
  const found = Object.entries(vendors).flatMap(([name, provider]): [string, ModelEntry][] => {
    const apiKey = environment[`${name}_API_KEY`]
    if (apiKey === undefined || apiKey === '') return []
    const baseURL = environment[`${name}_BASE_URL`]
    return [[`${name.toLowerCase()}/*`, provider({ apiKey, ...(baseURL && { baseURL }) })]]
  })
  return found.length > 0 ? Object.fromEntries(found) : demoModels()
}

function demoModels(): Record<string, ModelEntry> {
  const provider = demo()
  return {
    ...Object.fromEntries(demoNames.map((name) => [name, provider])),
    'demo-video-portrait': { provider, video: portraitVideo },
    'demo-video-landscape': { provider, video: landscapeVideo },
  }
}

/** The API key of clients: `MODELHATCH_KEY`, else a new one. */
export function keyOf({ MODELHATCH_KEY }: Environment): string {
  return MODELHATCH_KEY || `sk-${randomBytes(18).toString('base64url')}`
}
