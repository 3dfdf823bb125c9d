/** A gateway on a real socket, and the official client connected to it. */
import type { GatewayOptions } from 'modelhatch'
import { OpenAI } from 'openai'
import { hostedWith, type Hosted } from '../hosted.ts'

export interface Served extends Hosted {
  readonly client: OpenAI
}

export async function served(models: GatewayOptions['models']): Promise<Served> {
  const hosted = await hostedWith({ models, retry: { maxAttempts: 1 } })
  return { ...hosted, client: new OpenAI({ apiKey: 'sk-test', baseURL: `${hosted.url}/v1`, maxRetries: 0 }) }
}
