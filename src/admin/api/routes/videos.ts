import * as z from 'zod'
import type { VideoListQuestion } from '../../videos.ts'
import { byteStream } from '../../../http/byte-stream.ts'
import { header, type Reply } from '../../../http/exchange.ts'
import { mapPage } from '../../../records/page.ts'
import { stallMs } from '../replies.ts'
import { forAccount, type AdminCall, type Route } from '../route.ts'
import { id, page, time, videoFilter } from '../../questions.ts'
import { ofRequest } from '../schemas/usage.ts'
import { component } from '../schemas/values.ts'
import { seenBy } from '../scope.ts'

/** A video task. */
const video = component(
  'Video',
  z.object({
    id,
    account: id,
    ...ofRequest('group', 'key', 'user', 'session', 'model', 'provider', 'providerModel'),
    state: z.enum(['pending', 'processing', 'completed', 'failed']),
    progress: z.number().optional().describe('Percent.'),
    prompt: z.string(),
    seconds: z.number(),
    size: z.string().optional(),
    createdAt: time,
    finishedAt: time.optional(),
    expiresAt: time,
    error: z.object({ code: z.string(), message: z.string() }).optional(),
  }),
)

/** The routes of video tasks. */
export const videoRoutes: readonly Route[] = [
  forAccount('listVideos', 'GET /videos', {
    summary: 'Lists video tasks, newest first.',
    description:
      'With `state` or `model`, a page can have fewer tasks than `limit`, or none, although there is a next one.',
    query: { account: id.optional(), ...videoFilter, ...page },
    page: video,
    async answer({ admin, query, scope, identity }) {
      const found = await admin.videos.list({ ...query, ...scope } as VideoListQuestion)
      return mapPage(found, (each) => seenBy(identity, each))
    },
  }),
  forAccount('getVideo', 'GET /accounts/{account}/videos/{video}', {
    summary: 'Returns a video task, updated from the vendor if a check is due.',
    response: video,
    answer: async ({ admin, account, id: wanted, identity }) =>
      seenBy(identity, await admin.videos.find(account, wanted)),
  }),
  forAccount('getVideoContent', 'GET /accounts/{account}/videos/{video}/content', {
    summary: 'Returns the bytes of a finished video, or a redirect to where it can be downloaded.',
    bytes: content,
  }),
  forAccount('deleteVideo', 'DELETE /accounts/{account}/videos/{video}', {
    summary: 'Cancels a video task if it has not ended, and deletes it.',
    response: video,
    answer: async ({ admin, account, id: wanted, identity }) =>
      seenBy(identity, await admin.videos.remove(account, wanted)),
  }),
]

const forwarded = ['content-length', 'content-range', 'accept-ranges']

async function content({ admin, account, id: wanted, exchange }: AdminCall): Promise<Reply> {
  const range = header(exchange, 'range')
  const { signal } = exchange
  const found = await admin.videos.content(account, wanted, { signal, ...(range !== undefined && { range }) })
  if ('url' in found) return { status: 302, headers: { location: found.url }, body: '' }
  const kept = Object.entries(found.headers).filter(([name]) => forwarded.includes(name))
  const headers = { ...Object.fromEntries(kept), 'content-type': typeOf(found.headers['content-type']) }
  return { status: found.status, headers, body: byteStream(found.body, stallMs) }
}

/** The vendor's type if it is a video or audio. Any other could be run by a browser in the origin of the host. */
function typeOf(given: string | undefined): string {
  return given !== undefined && /^(?:video|audio)\/[\w.+-]+$/i.test(given) ? given : 'application/octet-stream'
}
