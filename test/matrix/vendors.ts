/** The vendors of the matrix: each kind of provider that answers with text, and a model of each kind that differs. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { Tree } from './tree.ts'
import type { Provider } from '../../src/providers/index.ts'
import { presets } from '../../src/providers/openai/presets.ts'
import { chat } from './wires/chat.ts'
import { gemini } from './wires/gemini.ts'
import { interactions } from './wires/interactions.ts'
import { messages } from './wires/messages.ts'
import { responses } from './wires/responses.ts'
import type { Wire } from './wires/wire.ts'

export const wires: readonly Wire[] = [chat, responses, messages, gemini, interactions]

export interface Vendor {
  readonly make: (tree: Tree, url: string) => Provider
  /** The vendor's name of the model. */
  readonly model: string
  /** The features of answers of which it is not documented how the vendor reports them. */
  readonly undocumented?: readonly string[]
  /** False: the model does not reason unless it is asked to. */
  readonly reasons?: false
  /** The vendor that it is compared with: only cells that differ are recorded. */
  readonly like?: string
}

const apiKey = 'sk-vendor'

const compatible = (options: object): Vendor => ({
  make: ({ openai }, url) => openai({ baseURL: `${url}/v1`, apiKey, ...options }),
  model: 'compatible-1',
  like: 'compatible',
})

const claude = (model: string): Vendor => ({
  make: ({ anthropic }, baseURL) => anthropic({ baseURL, apiKey }),
  model,
  like: 'anthropic',
})

const google = (model: string): Vendor => ({
  make: ({ gemini: make }, baseURL) => make({ baseURL, apiKey }),
  model,
  like: 'gemini',
})

const others = Object.keys(presets).filter((preset) => preset !== 'openai')

export const vendors: Readonly<Record<string, Vendor>> = {
  openai: { ...compatible({ preset: 'openai', responses: true }), model: 'gpt-5' },
  compatible: compatible({}),
  ...Object.fromEntries(others.map((preset) => [preset, compatible({ preset })])),
  'vllm-messages': compatible({ preset: 'vllm', messages: true }),
  anthropic: claude('claude-opus-5'),
  'claude-opus-4': claude('claude-opus-4-20250514'),
  'claude-3-5-haiku': { ...claude('claude-3-5-haiku-20241022'), reasons: false },
  'kimi-messages': { ...claude('kimi-k2'), reasons: false },
  gemini: google('gemini-3-flash'),
  interactions: { make: google('').make, model: 'gemini-omni-flash', undocumented: ['filter', 'refusal'] },
  'gemini-2.0': { ...google('gemini-2.0-flash'), reasons: false },
  'ai-sdk': {
    make: ({ fromAiSdk }, url) => {
      const provider = createOpenAICompatible({ name: 'sdk', baseURL: `${url}/v1`, apiKey, includeUsage: true })
      return fromAiSdk(provider('compatible-1'))
    },
    model: 'compatible-1',
  },
  demo: { make: ({ demo }) => demo({ paceMs: 0 }), model: 'demo-text' },
}
