/** The result of an AI SDK video model: the bytes, or a URL. */
import { GatewayError } from '../../../src/errors.ts'
import { readDataUrl } from '../../../src/providers/data-url.ts'
import type { VideoContent, VideoContext } from '../../../src/providers/video.ts'
import { ranged } from '../../../src/providers/videos/content.ts'
import { download, anonymousClient } from '../../../src/providers/videos/download.ts'
import type { AiSdkVideo } from './models.ts'

export type MadeVideo = { readonly bytes: Buffer; readonly type: string } | { readonly url: string }

/** The first video that has bytes or a URL: a task has one video. */
export function firstVideo(videos: readonly AiSdkVideo[] | undefined): MadeVideo | undefined {
  return videos?.map(madeOf).find((made) => made !== undefined)
}

function madeOf({ type, url, data, mediaType }: AiSdkVideo): MadeVideo | undefined {
  if (type === 'url' && url !== undefined) {
    const inline = readDataUrl(url)
    if (inline === undefined) return { url }
    return { bytes: Buffer.from(inline.base64, 'base64'), type: typeOf(inline.mediaType) }
  }
  if (data === undefined) return undefined
  const bytes = typeof data === 'string' ? Buffer.from(data, 'base64') : Buffer.from(data)
  return { bytes, type: typeOf(mediaType) }
}

function typeOf(mediaType: string): string {
  return /^video\/[\w.+-]+$/.test(mediaType) ? mediaType : 'video/mp4'
}

/** Downloads the video if necessary. Its URL is never passed to clients, because some SDK packages put the key into it. */
export async function contentOf(
  made: MadeVideo | undefined,
  context: VideoContext & { readonly range?: string | undefined },
  allowPrivateNetwork: boolean,
): Promise<VideoContent> {
  if (made === undefined) throw new GatewayError('not_found')
  if ('bytes' in made) return ranged(made.bytes, context.range, made.type)
  return download(URL.parse(made.url), context, (url) => anonymousClient(url, allowPrivateNetwork))
}
