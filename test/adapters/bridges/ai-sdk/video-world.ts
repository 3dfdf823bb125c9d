/** Video models of the AI SDK behind gateways on real sockets, with a clock that the test advances. */
import { createGateway, memoryLedger, memoryTaskStore, type Gateway, type TaskEvent, type TaskStore } from 'modelhatch'
import { fromAiSdk, type AiSdkAnyModel, type AiSdkOptions } from 'modelhatch/ai-sdk'
import OpenAI from 'openai'
import { hosted } from '../../../hosted.ts'

export interface Process {
  readonly gateway: Gateway
  readonly client: OpenAI
  /** Submits a video and returns its id. */
  readonly submit: (fields?: object) => Promise<string>
  /** Advances the clock to the next poll and returns the task. */
  readonly next: (id: string) => Promise<OpenAI.Video>
  readonly ask: (path: string, body?: object) => Promise<Response>
}

export interface World {
  readonly events: TaskEvent[]
  readonly store: TaskStore
  readonly pass: (ms: number) => void
  /** Money spent or held, in micro-units. A second of video costs one. */
  readonly spent: () => Promise<bigint>
  /** Starts a gateway as another process would. All share one task store and one ledger. */
  readonly process: (model: AiSdkAnyModel, options?: AiSdkOptions) => Promise<Process>
}

export function world(): World {
  // It outlives the gateways.
  const store: TaskStore = { ...memoryTaskStore(), close: async () => undefined }
  const events: TaskEvent[] = []
  let passed = 0
  const clock = () => Date.now() + passed
  const ledger = memoryLedger({ clock })
  const pass = (ms: number) => void (passed += ms)
  return {
    events,
    store,
    pass,
    spent: async () => 1_000n - ((await ledger.account('a'))?.balance ?? 0n),
    async process(model, options) {
      const provider = fromAiSdk(model, options)
      await ledger.credit({ account: 'a', amount: 1_000n, reference: 'order' })
      const gateway = createGateway({
        keys: { 'sk-test': { account: 'a' } },
        models: {
          film: {
            provider,
            providerModel: 'maker',
            video: { durations: [4, 8] },
            price: { second: '0.000001' },
            allow: ['fps', 'generate_audio'],
          },
          'sdk/*': { provider, video: { durations: [4, 8] }, price: { second: '0.000001' } },
        },
        clock,
        billing: { currency: 'CNY' },
        storage: { ledger, tasks: store },
        // Tasks are polled only when a test requests them.
        tasks: { sweepMs: 3_600_000 },
        hooks: { task: (event) => events.push(event) },
      })
      const url = await hosted(gateway)
      const client = new OpenAI({ apiKey: 'sk-test', baseURL: `${url}/v1`, maxRetries: 0 })
      const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' }
      const ask = (path: string, body?: object) =>
        fetch(`${url}${path}`, {
          headers,
          redirect: 'manual',
          ...(body && { method: 'POST', body: JSON.stringify(body) }),
        })
      return {
        gateway,
        client,
        ask,
        submit: async (fields = {}) =>
          (await client.videos.create({ model: 'film', prompt: 'A hatch opens', seconds: '4', ...fields })).id,
        next(id) {
          pass(60_000)
          return client.videos.retrieve(id)
        },
      }
    },
  }
}

/** Submits a video that will be rejected and returns the error. */
export async function rejection(
  { ask }: Process,
  fields: object,
): Promise<{ status: number; code: string; param: string | null; message: string }> {
  const response = await ask('/v1/videos/generations', { model: 'film', prompt: 'x', duration: 4, ...fields })
  const { error } = (await response.json()) as { error: { code: string; param: string | null; message: string } }
  return { status: response.status, ...error }
}
