/** Luma. Source: the reference of its Dream Machine API (generations), which fetches images by their URL. */
import { fieldsOf } from '../../wire/json.ts'
import type { VideoShapes } from '../video.ts'
import { shapeOf } from './aspect-ratio.ts'
import type { VideoDialect } from './dialect.ts'
import { pictureUrl } from './picture.ts'
import { endedStatus, nonEmptyText, stateOf } from './states.ts'
import { abilitiesOf, readVideoOptions, withShape } from './video-options.ts'

const kinds = { aspectRatio: 'string', resolution: 'string', loop: 'boolean' } as const

const shapes: VideoShapes = {
  ratios: ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9', '9:21'],
  resolutions: new Map([
    [540, '540p'],
    [720, '720p'],
    [1080, '1080p'],
    [2160, '4k'],
  ]),
}

export const lumaVideos: VideoDialect = {
  submit: 'none',
  sized: true,
  start({ request, model }) {
    const { settings, picture } = readVideoOptions(request, kinds)
    const { aspectRatio, ...rest } = withShape(request, settings, { ...shapeOf(request, shapes) })
    const frame = picture && { type: 'image', url: pictureUrl(request, picture, false) }
    return {
      path: '/generations',
      body: {
        ...rest,
        model,
        prompt: request.prompt,
        duration: `${request.duration}s`,
        aspect_ratio: aspectRatio,
        ...(frame && { keyframes: { frame0: frame } }),
      },
    }
  },
  idOf: ({ id }) => nonEmptyText(id),
  check: (id) => ({ method: 'GET', path: `/generations/${id}` }),
  statusOf({ state, assets, failure_reason: reason }) {
    const { video: url } = fieldsOf(assets)
    return endedStatus(stateOf(state, url !== undefined && url !== null), url, reason ?? state, undefined)
  },
  cancel: (id) => ({ method: 'DELETE', path: `/generations/${id}` }),
  limits: () => ({
    durations: [5, 9],
    sizes: ['1280x720', '720x1280', '1920x1080', '1080x1920'],
    ...abilitiesOf(kinds, shapes),
  }),
}
