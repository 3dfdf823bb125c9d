/** The gateway of these tests, with one scripted vendor. */
import { createGateway, type Gateway, type GatewayOptions, type ModelOptions } from 'modelhatch'
import { openai } from 'modelhatch/providers'
import { scriptedVendor, type ScriptedVendor, type VendorReply } from 'modelhatch/testing'

export const key = 'sk-hosted'
export const authorization = `Bearer ${key}`
export const jsonHeaders = { authorization, 'content-type': 'application/json' }

export const question = { model: 'small', messages: [{ role: 'user', content: 'Hello, 世界!' }] }

export const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'small',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'Hello “you” 👋', refusal: null }, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
}

/** So many vectors that they arrive in several pieces. */
const embeddings = {
  object: 'list',
  data: Array.from({ length: 12 }, (_, index) => ({
    object: 'embedding',
    index,
    embedding: Array.from({ length: 1_000 }, (_, at) => Math.sin(index + at)),
  })),
  model: 'small',
  usage: { prompt_tokens: 3, total_tokens: 3 },
}

/** A frame of a chat stream with a piece of text. */
export function frame(content: string): string {
  return event({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })
}

export const firstFrame: string = event({
  choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: null }],
})

export const lastFrames: string = `${event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`

function event(chunk: object): string {
  const { id, created, model } = completion
  return `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model, ...chunk })}\n\n`
}

/** The vendor's default responses. */
export const defaultVendor: VendorReply = ({ json, url }, response) => {
  if (url.endsWith('/transcriptions')) {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end('{"text":"heard"}')
  } else if (url.endsWith('/embeddings')) {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(embeddings, undefined, 2))
  } else if ((json as { stream?: boolean }).stream === true) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(firstFrame + frame(' you') + lastFrames)
  } else {
    response.writeHead(200, { 'content-type': 'application/json', 'x-vendor': 'secret' })
    response.end(JSON.stringify(completion))
  }
}

/** `model`: options of the model `small`. */
export async function hostedGateway(
  options: Partial<GatewayOptions> = {},
  model: Partial<ModelOptions> = {},
): Promise<{ vendor: ScriptedVendor; gateway: Gateway; close: () => Promise<void> }> {
  const vendor = await scriptedVendor(defaultVendor)
  const provider = openai({ baseURL: vendor.baseURL, apiKey: 'sk-vendor' })
  const gateway = createGateway({
    keys: { [key]: {} },
    models: { small: { provider, ...model }, 'org/model': { provider, providerModel: 'small' } },
    sizes: { jsonBytes: 1024 * 1024 },
    retry: { maxAttempts: 1 },
    clock: () => 1_700_000_000_000,
    ...options,
  })
  return {
    vendor,
    gateway,
    async close() {
      await gateway.close({ graceMs: 0 })
      await vendor.close()
    },
  }
}
