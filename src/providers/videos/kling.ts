/**
 * Kling. Source: its API reference (text2video, image2video), and its client in the AI SDK. Its modes are resolutions, and images
 * are base64 without the head of a data URL.
 */
import { createHmac } from 'node:crypto'
import { fieldsOf, itemsOf, type Json } from '../../wire/json.ts'
import type { Client } from '../client.ts'
import type { Credentials } from '../credentials/contract.ts'
import { readDataUrl } from '../data-url.ts'
import type { VideoProvider, VideoShapes } from '../video.ts'
import { shapeOf } from './aspect-ratio.ts'
import type { VideoDialect } from './dialect.ts'
import { httpVideo } from './http-video.ts'
import { pictureUrl } from './picture.ts'
import { endedStatus, nonEmptyText, stateOf } from './states.ts'
import { abilitiesOf, readVideoOptions, withShape } from './video-options.ts'

const kinds = {
  aspectRatio: 'string',
  resolution: 'string',
  mode: 'string',
  negativePrompt: 'string',
  cfgScale: 'number',
  sound: 'string',
} as const

const shapes: VideoShapes = {
  ratios: ['16:9', '9:16', '1:1'],
  resolutions: new Map([
    [720, '720p'],
    [1080, '1080p'],
  ]),
}

const dialect: VideoDialect = {
  submit: 'none',
  sized: true,
  start({ request, model }) {
    const { settings, picture } = readVideoOptions(request, kinds)
    const shape = shapeOf(request, shapes)
    const mode = shape && { mode: shape.resolution === '1080p' ? 'pro' : 'std' }
    const {
      aspectRatio,
      resolution: _,
      negativePrompt,
      cfgScale,
      ...rest
    } = withShape(request, settings, {
      ...shape,
      ...mode,
    })
    const body = {
      ...rest,
      model_name: model,
      prompt: request.prompt,
      negative_prompt: negativePrompt,
      cfg_scale: cfgScale,
      duration: String(request.duration),
    }
    if (picture === undefined) return { path: '/videos/text2video', body: { ...body, aspect_ratio: aspectRatio } }
    const url = pictureUrl(request, picture, true)
    return { path: '/videos/image2video', body: { ...body, image: readDataUrl(url)?.base64 ?? url } }
  },
  idOf: ({ data }) => nonEmptyText(fieldsOf(data)['task_id']),
  pathOf: (id) => id.split('/').map(encodeURIComponent).join('/'),
  check: (id) => ({ method: 'GET', path: `/videos/${id}` }),
  statusOf({ data }) {
    const { task_status: status, task_status_msg: reason, task_result: result } = fieldsOf(data)
    const { url, duration } = fieldsOf(itemsOf(fieldsOf(result)['videos'])[0])
    const ended = endedStatus(stateOf(status, url !== undefined), url, reason || status, undefined)
    const seconds = Number(duration)
    return ended.state === 'completed' && seconds > 0 ? { ...ended, seconds } : ended
  },
  limits: () => ({
    durations: [5, 10],
    sizes: ['1280x720', '720x1280', '720x720', '1920x1080', '1080x1920'],
    ...abilitiesOf(kinds, shapes),
  }),
}

/** A job is found by its kind and its id. */
export function klingProvider(client: Client, submit: VideoDialect['submit'] | undefined): VideoProvider {
  const video = httpVideo(client, { ...dialect, submit: submit ?? dialect.submit })
  return {
    ...video,
    async start(call) {
      const kind = dialect.start(call).path.endsWith('image2video') ? 'image2video' : 'text2video'
      const { id } = fieldsOf(await video.start(call))
      return { id: `${kind}/${String(id)}` } satisfies Json
    },
  }
}

/** Seconds for which a signed token is valid. */
const tokenSeconds = 1_800

/** Signs a token for each request (RFC 7519, HS256). */
export function klingCredentials(accessKey: string, secretKey: string): Credentials {
  return {
    headers() {
      const now = Math.floor(Date.now() / 1000)
      const claims = { iss: accessKey, exp: now + tokenSeconds, nbf: now - 5 }
      const text = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded(claims)}`
      return { authorization: `Bearer ${text}.${createHmac('sha256', secretKey).update(text).digest('base64url')}` }
    },
  }
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
