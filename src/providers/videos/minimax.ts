/**
 * MiniMax (Hailuo). Source: its API reference (video_generation, query, files/retrieve). A finished job names a file, whose URL is
 * asked for when the video is downloaded.
 */
import { entryIn, fieldsOf } from '../../wire/json.ts'
import { readJsonObject, requireSuccess } from '../answer.ts'
import type { Client } from '../client.ts'
import { minimaxStatus } from '../minimax-status.ts'
import type { VideoProvider, VideoShapes } from '../video.ts'
import { shapeOf } from './aspect-ratio.ts'
import type { VideoDialect } from './dialect.ts'
import { anonymousClient, download } from './download.ts'
import { httpVideo, usualBytes } from './http-video.ts'
import { pictureUrl } from './picture.ts'
import { failedStatus, nonEmptyText, refusedStatus, stateOf } from './states.ts'
import { abilitiesOf, readVideoOptions, withShape } from './video-options.ts'

const kinds = { resolution: 'string', aspectRatio: 'string', promptOptimizer: 'boolean' } as const

const shapes: VideoShapes = {
  ratios: ['16:9'],
  resolutions: new Map([
    [512, '512P'],
    [720, '720P'],
    [768, '768P'],
    [1080, '1080P'],
  ]),
}

/** The input, and what was made of it, is not allowed. */
const sensitive = new Set<unknown>([1026, 1027])

const dialect: VideoDialect = {
  submit: 'none',
  sized: true,
  start({ request, model }) {
    const { settings, picture } = readVideoOptions(request, kinds)
    const resolution = typeof settings.resolution === 'string' ? { resolution: settings.resolution.toUpperCase() } : {}
    const shape = withShape(request, { ...settings, ...resolution }, { ...shapeOf(request, shapes) })
    const { aspectRatio: _, promptOptimizer, ...rest } = shape
    const frame = picture && { first_frame_image: pictureUrl(request, picture, true) }
    const { prompt, duration } = request
    return {
      path: '/video_generation',
      body: { ...rest, model, prompt, duration, prompt_optimizer: promptOptimizer, ...frame },
    }
  },
  idOf: ({ task_id: id }) => nonEmptyText(id),
  check: (id) => ({ method: 'GET', path: `/query/video_generation?task_id=${id}` }),
  errorIn: (answer) => (fieldsOf(answer)['status'] === 'Fail' ? undefined : minimaxStatus(answer)),
  statusOf({ status, file_id: file, base_resp: result }) {
    const state = stateOf(entryIn(states, status) ?? status, false)
    if (state === 'failed') {
      const { status_code: code, status_msg: reason } = fieldsOf(result)
      return sensitive.has(code) ? refusedStatus : failedStatus(reason ?? status)
    }
    if (state !== 'completed') return { state }
    const found = nonEmptyText(file)
    return found === undefined ? failedStatus('no video') : { state, operation: { file: found } }
  },
  limits: () => ({ durations: [6, 10], sizes: ['1366x768', '1920x1080'], ...abilitiesOf(kinds, shapes) }),
}

const states: Readonly<Record<string, string>> = { Preparing: 'pending', Queueing: 'pending' }

export function minimaxProvider(client: Client, submit: VideoDialect['submit'] | undefined): VideoProvider {
  return {
    ...httpVideo(client, { ...dialect, submit: submit ?? dialect.submit }),
    async content(operation, { signal, headers, range }) {
      const path = `/files/retrieve?file_id=${encodeURIComponent(String(fieldsOf(operation)['file']))}`
      const transfer = await client.send({ method: 'GET', path, added: headers, signal })
      await requireSuccess(transfer)
      const { value } = await readJsonObject(transfer, usualBytes)
      const url = nonEmptyText(fieldsOf(fieldsOf(value)['file'])['download_url'])
      const inside = client.origin.startsWith('http:')
      return download(URL.parse(url ?? ''), { signal, range }, (each) => anonymousClient(each, inside))
    },
  }
}
