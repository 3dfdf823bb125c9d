import * as z from 'zod'
import type { VideoListQuestion, VideoView } from '../../videos.ts'
import { byteStream } from '../../../http/byte-stream.ts'
import { header, type Reply } from '../../../http/exchange.ts'
import { given, route, type AdminCall, type Route } from '../route.ts'
import type { Identity } from '../identity.ts'
import { id, page, videoFilter } from '../../questions.ts'
import { video } from '../schemas/video.ts'
import { pageOf } from '../schemas/values.ts'

/** The routes of video tasks. */
export const videoRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/videos',
    name: 'listVideos',
    summary: 'Lists video tasks, newest first.',
    description:
      'With `state` or `model`, a page can have fewer tasks than `limit`, or none, although there is a next one.',
    role: 'account',
    produces: 'json',
    query: z.strictObject({ account: id.optional(), ...videoFilter, ...page }),
    response: pageOf(video),
    async answer({ gateway, query, scope, identity }) {
      const found = await gateway.admin.videos.list({ ...given(query), ...scope } as VideoListQuestion)
      return { ...found, items: found.items.map((each) => shown(each, identity)) }
    },
  }),
  route({
    method: 'GET',
    path: '/accounts/{account}/videos/{video}',
    name: 'getVideo',
    summary: 'Returns a video task, updated from the vendor if a check is due.',
    role: 'account',
    produces: 'json',
    response: video,
    answer: async ({ gateway, account, id: wanted, identity }) =>
      shown(await gateway.admin.videos.find(account, wanted), identity),
  }),
  route({
    method: 'GET',
    path: '/accounts/{account}/videos/{video}/content',
    name: 'getVideoContent',
    summary: 'Returns the bytes of a finished video, or a redirect to where it can be downloaded.',
    role: 'account',
    produces: 'bytes',
    answer: content,
  }),
  route({
    method: 'DELETE',
    path: '/accounts/{account}/videos/{video}',
    name: 'deleteVideo',
    summary: 'Cancels a video task if it has not ended, and deletes it.',
    role: 'account',
    produces: 'json',
    response: video,
    answer: async ({ gateway, account, id: wanted, identity }) =>
      shown(await gateway.admin.videos.remove(account, wanted), identity),
  }),
]

/** Which vendor makes a video is the operator's business. */
function shown(view: VideoView, { role }: Identity): VideoView {
  if (role === 'admin') return view
  const { provider: _, providerModel: __, ...rest } = view
  return rest
}

const forwarded = ['content-length', 'content-range', 'accept-ranges']

/** Milliseconds after which a client that does not read is disconnected. */
const stallMs = 60_000

async function content({ gateway, account, id: wanted, exchange }: AdminCall): Promise<Reply> {
  const range = header(exchange, 'range')
  const { signal } = exchange
  const found = await gateway.admin.videos.content(account, wanted, { signal, ...(range !== undefined && { range }) })
  if ('url' in found) return { status: 302, headers: { location: found.url }, body: '' }
  const kept = Object.entries(found.headers).filter(([name]) => forwarded.includes(name))
  const headers = { ...Object.fromEntries(kept), 'content-type': typeOf(found.headers['content-type']) }
  return { status: found.status, headers, body: byteStream(found.body, stallMs) }
}

/** The vendor's type if it is a video or audio. Any other could be run by a browser in the origin of the host. */
function typeOf(given: string | undefined): string {
  return given !== undefined && /^(?:video|audio)\/[\w.+-]+$/i.test(given) ? given : 'application/octet-stream'
}
