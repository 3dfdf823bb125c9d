/** One gateway, one vendor, and stores that tests can inspect. */
import { openai, type Provider } from '../../src/providers/index.ts'
import type { GatewayOptions, Ledger, LimitStore, ModelOptions, UsageStore } from '../../src/index.ts'
import { memoryLedger, memoryLimitStore, memoryUsageStore } from '../../src/index.ts'
import type { ScriptedVendor, VendorReply } from '../../src/testing/vendor.ts'
import { hostedWith, vendorFor, type Hosted } from '../hosted.ts'

export interface Scene extends Hosted {
  readonly vendor: ScriptedVendor
  readonly ledger: Ledger
  readonly limits: LimitStore
  readonly usage: UsageStore
}

/** 10 prompt tokens, 20 completion tokens. */
export const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 }

export const whole: VendorReply = (_, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(completion))
}

const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi', refusal: null }, finish_reason: 'stop' }],
  usage,
}

/** Five words, the finish reason, the usage, and `[DONE]`. */
export const streamEvents: readonly string[] = [
  ...['one', 'two', 'three', 'four', 'five'].map((content) => chunk([{ index: 0, delta: { content } }])),
  chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
  chunk([], { usage }),
  'data: [DONE]\n\n',
]

function chunk(choices: object[], rest: object = {}): string {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' }
  return `data: ${JSON.stringify({ ...head, choices, ...rest })}\n\n`
}

/** `model` changes options of the model `m`; `models` replaces it. */
export interface SceneOptions extends Partial<Omit<GatewayOptions, 'models'>> {
  readonly model?: Partial<ModelOptions>
  readonly models?: (provider: Provider) => GatewayOptions['models']
}

/** The model `m` costs one micro-unit a token; the key `sk-test` belongs to the account `acme`. */
export async function scene(reply: VendorReply, options: SceneOptions = {}): Promise<Scene> {
  const { model, models, storage, ...rest } = options
  const vendor = await vendorFor(reply)
  const provider = openai({ baseURL: vendor.baseURL })
  const stores = {
    ledger: storage?.ledger ?? memoryLedger(),
    limits: storage?.limits ?? memoryLimitStore(),
    usage: storage?.usage ?? memoryUsageStore(),
  }
  const gateway = await hostedWith({
    keys: { 'sk-test': { account: 'acme' } },
    models: models?.(provider) ?? { m: { provider, price: { input: '1', output: '1' }, ...model } },
    retry: { maxAttempts: 1 },
    ...rest,
    storage: { ...storage, ...stores },
  })
  return { ...gateway, vendor, ...stores }
}
