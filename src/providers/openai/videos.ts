/** Videos of vendors with OpenAI's video API. OpenAI itself shut it down on 2026-09-24. */
import { type GatewayError, refusedValue } from '../../errors.ts'
import type { VideoProvider } from '../video.ts'
import { openaiVideos } from '../videos/dialects.ts'
import { httpVideo } from '../videos/http-video.ts'
import type { OpenAIOptions } from './options.ts'
import type { Vendor } from './vendor.ts'

/** Undefined for presets other than `openai`: none of those vendors has this API. */
export function videosOf(vendor: Vendor, { preset, baseURL }: OpenAIOptions): VideoProvider | undefined {
  if (preset !== undefined && preset !== 'openai') return undefined
  const video = httpVideo(vendor.client, {
    ...openaiVideos,
    start: (call) => openaiVideos.start({ ...call, model: vendor.modelOf(call) }),
    // Most of these servers' models make no videos.
    limits: () => undefined,
  })
  if (baseURL !== undefined && URL.parse(baseURL)?.hostname !== 'api.openai.com') return video
  return { ...video, start: async () => Promise.reject(ended()) }
}

function ended(): GatewayError {
  return refusedValue('OpenAI shut down its video API on 2026-09-24. Choose a video model of another vendor.', 'model')
}
