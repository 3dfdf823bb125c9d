/**
 * What the quick starts serve: the `demo` models, which need no key and no network, and OpenAI's models where
 * `OPENAI_API_KEY` is set, as `openai/gpt-5` and so on. `OPENAI_BASE_URL` leads to any other vendor that speaks the same
 * format.
 */
import { landscapeVideo, portraitVideo, type ModelEntry } from 'modelhatch'
import { demo, openai } from 'modelhatch/providers'

const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseUrl, MODELHATCH_KEY } = process.env

/** The key that clients call with. */
export const key: string = MODELHATCH_KEY ?? 'sk-demo'

const local = demo()

export const models: Record<string, ModelEntry> = {
  demo: local,
  'demo-embedding': local,
  'demo-image': local,
  'demo-transcription': local,
  'demo-video-portrait': { provider: local, video: portraitVideo },
  'demo-video-landscape': { provider: local, video: landscapeVideo },
  ...(apiKey !== undefined && { 'openai/*': openai({ apiKey, baseUrl }) }),
}
