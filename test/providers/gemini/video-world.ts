/** Google's videos through a gateway on a real socket, with a clock that the test advances. */
import { createGateway, type TaskEvent } from 'modelhatch'
import { gemini } from 'modelhatch/providers'
import { type ScriptedVendor } from 'modelhatch/testing'
import OpenAI from 'openai'
import { expect } from 'vitest'
import { googleVideos, type GoogleVideos, type VideoScript } from '../../../src/testing/dialects/google-videos.ts'
import { hosted, vendorFor } from '../../hosted.ts'

export const key = 'key-of-google'
export const veo = 'google/veo-3.1-generate-001'
export const omni = 'google/gemini-omni-1.1-flash'

export interface World extends GoogleVideos {
  readonly vendor: ScriptedVendor
  readonly client: OpenAI
  readonly events: TaskEvent[]
  readonly pass: (ms: number) => void
  /** Sends a request, and fails if the response contains the key. */
  readonly ask: (path: string, body?: object) => Promise<Response>
  /** Submits a task and returns it once it has completed or failed. */
  readonly ended: (model: string) => Promise<{ id: string; status: string; video_url?: string; error?: string }>
}

export async function world(script: VideoScript = {}, on: 'gemini' | 'vertex' = 'gemini'): Promise<World> {
  const google = googleVideos(key, () => script)
  const vendor = await vendorFor(google.reply)
  const origin = vendor.baseURL.slice(0, -3)
  const provider =
    on === 'gemini'
      ? gemini({ baseURL: origin, apiKey: key })
      : gemini({
          baseURL: `${origin}/v1/projects/p/locations/l/publishers/google`,
          headers: { authorization: `Bearer ${key}` },
        })
  const events: TaskEvent[] = []
  let passed = 0
  const gateway = createGateway({
    keys: { 'sk-test': {} },
    models: { 'google/*': provider },
    clock: () => Date.now() + passed,
    hooks: { task: (event) => events.push(event) },
  })
  const url = await hosted(gateway)
  const ask = async (path: string, body?: object) => {
    const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' }
    const init = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(`${url}${path}`, { ...init, redirect: 'manual' })
    const seen = JSON.stringify([...response.headers]) + (await response.clone().text())
    expect(seen).not.toContain(key)
    expect(seen).not.toContain('googleapis')
    return response
  }
  const ended = async (model: string) => {
    const submitted = await ask('/v1/videos/generations', { model, prompt: 'A hatch opens', duration: 4 })
    const { id } = (await submitted.json()) as { id: string }
    for (;;) {
      passed += 6_000
      const task = (await (await ask(`/v1/videos/generations/${id}`)).json()) as { id: string; status: string }
      if (task.status === 'completed' || task.status === 'failed') return task
    }
  }
  const client = new OpenAI({ apiKey: 'sk-test', baseURL: `${url}/v1`, maxRetries: 0 })
  return { ...google, vendor, client, events, pass: (ms) => void (passed += ms), ask, ended }
}
