/**
 * The models of the quick starts: the `demo` models, which need no key and no network, and those of each vendor whose key
 * is set. `OPENAI_API_KEY` adds `openai/gpt-5` and others, `ANTHROPIC_API_KEY` adds `anthropic/…`, `GEMINI_API_KEY` adds
 * `gemini/…`, video models included. `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL` and `GEMINI_BASE_URL` select other servers
 * with the same APIs.
 */
import { landscapeVideo, portraitVideo, type ModelEntry } from 'modelhatch'
import { anthropic, demo, gemini, openai } from 'modelhatch/providers'

const { OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, MODELHATCH_KEY } = process.env
const { OPENAI_BASE_URL, ANTHROPIC_BASE_URL, GEMINI_BASE_URL } = process.env

/** The API key of clients. */
export const key: string = MODELHATCH_KEY ?? 'sk-demo'

const local = demo()

export const models: Record<string, ModelEntry> = {
  demo: local,
  'demo-embedding': local,
  'demo-moderation': local,
  'demo-image': local,
  'demo-rerank': local,
  'demo-decision': local,
  'demo-speech': local,
  'demo-transcription': local,
  'demo-video-portrait': { provider: local, video: portraitVideo },
  'demo-video-landscape': { provider: local, video: landscapeVideo },
  ...(OPENAI_API_KEY && { 'openai/*': openai({ apiKey: OPENAI_API_KEY, baseURL: OPENAI_BASE_URL }) }),
  ...(ANTHROPIC_API_KEY && {
    'anthropic/*': anthropic({ apiKey: ANTHROPIC_API_KEY, baseURL: ANTHROPIC_BASE_URL }),
  }),
  ...(GEMINI_API_KEY && { 'gemini/*': gemini({ apiKey: GEMINI_API_KEY, baseURL: GEMINI_BASE_URL }) }),
}
