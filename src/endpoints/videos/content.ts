/** Download of finished videos. */
import { refusedValue } from '../../errors.ts'
import { byteStream } from '../../http/byte-stream.ts'
import { header } from '../../http/exchange.ts'
import { queryOf } from '../../http/target.ts'
import { noSuchTask } from '../../tasks/video-tasks.ts'
import { defineEndpoint } from '../define.ts'
import type { QueryEndpoint } from '../endpoint.ts'
import { idIn, notReady } from './videos.ts'

const forwardedHeaders = new Set(['content-type', 'content-length', 'content-range', 'accept-ranges'])

/**
 * `GET /v1/videos/{id}/content`: redirects to the vendor's URL, or streams the video if only the gateway may download
 * it.
 */
export const videoContent: QueryEndpoint = defineEndpoint({
  method: 'GET',
  path: '/v1/videos/*/content',
  name: 'videos.content',
  async answer(query) {
    const { caller, exchange } = query
    const { videos, stallMs } = query.services
    const task = await videos.find(caller.account, idIn(query), { concerns: query.concerns })
    if (task.data.state === 'failed') throw noSuchTask()
    if (task.data.state !== 'completed') throw notReady()
    if ((queryOf(exchange.target).get('variant') ?? 'video') !== 'video') {
      throw refusedValue('"variant" must be "video".', 'variant')
    }
    const range = header(exchange, 'range')
    const content = await videos.content(task, exchange.signal, range)
    if (content === undefined) {
      // The client can download it from the vendor directly.
      const { url } = task.data
      if (url === undefined) throw noSuchTask()
      return { status: 302, headers: { location: url, 'cache-control': 'private, no-store' }, body: '' }
    }
    const headers = Object.entries(content.headers).filter(([name]) => forwardedHeaders.has(name))
    return { status: content.status, headers: Object.fromEntries(headers), body: byteStream(content.body, stallMs) }
  },
})
