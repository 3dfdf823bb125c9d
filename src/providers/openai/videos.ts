/** Videos of those who speak OpenAI's format. OpenAI's own API for them ended on 2026-09-24. */
import { GatewayError } from '../../errors.ts'
import type { VideoProvider } from '../video.ts'
import { openaiVideos } from '../videos/dialects.ts'
import { httpVideo } from '../videos/http-video.ts'
import type { OpenAIOptions } from './options.ts'
import type { Vendor } from './vendor.ts'

/** Undefined for the vendors of other presets, none of which makes videos so. */
export function videosOf(vendor: Vendor, { preset, baseURL }: OpenAIOptions): VideoProvider | undefined {
  if (preset !== undefined && preset !== 'openai') return undefined
  const video = httpVideo(vendor.client, {
    ...openaiVideos,
    start: (call) => openaiVideos.start({ ...call, model: vendor.modelOf(call) }),
  })
  if (baseURL !== undefined && URL.parse(baseURL)?.hostname !== 'api.openai.com') return video
  return { ...video, start: async () => Promise.reject(ended()) }
}

function ended(): GatewayError {
  return new GatewayError('unsupported_value', {
    param: 'model',
    message:
      'This model makes no videos: OpenAI ended its video API on 2026-09-24. Choose a video model of another vendor.',
  })
}
