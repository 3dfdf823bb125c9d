/**
 * The video endpoints: `/v1/videos/generations` of the specification, and `/v1/videos` with the same tasks for OpenAI's
 * clients.
 */
import { GatewayError } from '../../errors.ts'
import { jsonReply } from '../../http/answers.ts'
import { cancellationOf } from '../../http/cancellation.ts'
import { queryOf } from '../../http/target.ts'
import { openaiVideo } from '../../tasks/openai-video.ts'
import { noSuchTask } from '../../tasks/video-tasks.ts'
import type { StoredTask } from '../../tasks/task.ts'
import { defineEndpoint } from '../define.ts'
import type { Query, QueryEndpoint } from '../endpoint.ts'
import { pageOf, placeIn, taskIdIn } from '../paging.ts'
import { readVideo, videoRequest } from './request.ts'
import { specificationShape, taskReply, xaiShape } from './task-shapes.ts'

/** Milliseconds after which a request with `async: false` gets the unfinished task. */
const waitMs = 240_000

/** The names of the endpoints that create videos, by the shape of their requests. */
const names = { specification: 'videos.generations.create', openai: 'videos.create' } as const

/** `POST /v1/videos/generations`. */
export const submitVideo: QueryEndpoint = defineEndpoint({
  method: 'POST',
  path: ['/v1/videos/generations', '/v1/video/generations'],
  name: names.specification,
  limited: true,
  async answer(query) {
    const { task, async } = await create(query, 'specification')
    const done = async ? task : await query.services.videos.wait(task, waitMs, query.exchange.signal)
    return taskReply(done, specificationShape(done, contentUrl(query, done.id)))
  },
})

/** `GET /v1/videos/generations/{id}`. */
export const retrieveVideoTask: QueryEndpoint = defineEndpoint({
  method: 'GET',
  path: ['/v1/videos/generations/*', '/v1/video/generations/*'],
  name: 'videos.generations.retrieve',
  async answer(query) {
    const task = await query.services.videos.find(query.caller.account, idIn(query), query)
    return taskReply(task, specificationShape(task, contentUrl(query, task.id)))
  },
})

/** `POST /v1/videos`. */
export const createVideo: QueryEndpoint = defineEndpoint({
  method: 'POST',
  path: '/v1/videos',
  name: names.openai,
  limited: true,
  async answer(query) {
    const { task } = await create(query, 'openai')
    return taskReply(task, openaiVideo(task))
  },
})

/** `GET /v1/videos/{id}`. */
export const retrieveVideo: QueryEndpoint = defineEndpoint({
  method: 'GET',
  path: '/v1/videos/*',
  name: 'videos.retrieve',
  async answer(query) {
    const task = await query.services.videos.find(query.caller.account, idIn(query), query)
    // Clients of xAI create a task at the path of the specification, and look at it here.
    const isXai = task.data.path === 'generations'
    return taskReply(task, isXai ? xaiShape(task, contentUrl(query, task.id)) : openaiVideo(task))
  },
})

/** `GET /v1/videos`. */
export const listVideos: QueryEndpoint = defineEndpoint({
  method: 'GET',
  path: '/v1/videos',
  name: 'videos.list',
  async answer({ services: { videos }, caller, exchange }) {
    const search = queryOf(exchange.target)
    const limit = Math.min(Math.max(Math.trunc(Number(search.get('limit') ?? 20)) || 20, 1), 100)
    const order = search.get('order') === 'asc' ? 'asc' : 'desc'
    const asked = { limit, order, after: placeIn(search, 'after', 'video') } as const
    const { page, hasMore } = await pageOf((options) => videos.list(caller.account, options), asked)
    return jsonReply({
      object: 'list',
      data: page.map(openaiVideo),
      first_id: page[0]?.id ?? null,
      last_id: page.at(-1)?.id ?? null,
      has_more: hasMore,
    })
  },
})

/** `DELETE /v1/videos/{id}`. */
export const deleteVideo: QueryEndpoint = defineEndpoint({
  method: 'DELETE',
  path: '/v1/videos/*',
  name: 'videos.delete',
  async answer(query) {
    const { id } = await query.services.videos.remove(query.caller.account, idIn(query), query)
    return jsonReply({ id, object: 'video.deleted', deleted: true })
  },
})

async function create(query: Query, shape: keyof typeof names): Promise<{ task: StoredTask; async: boolean }> {
  const { id, exchange, caller, catalogue, sizes, services, concerns, watch } = query
  const order = await readVideo(exchange, sizes, shape)
  const { fields } = order
  const field = (name: string) => fields[name]
  if (watch !== undefined) watch.request = { model: order.model, stream: false, field }
  const model = await catalogue.findForTask(order.model, caller)
  const asked = videoRequest(order, model)
  await query.admit(model)
  const inspection = services.inspect?.(id, names[shape], model, caller)
  const { prompt } = asked
  const request = inspection === undefined ? asked : { ...asked, ...(await inspection.askedTexts({ prompt })) }
  const { digest, idempotencyKey, async } = order
  const attribution = services.attribute(exchange, caller, field)
  const path = shape === 'specification' ? ('generations' as const) : undefined
  const client = cancellationOf(exchange)
  const submission = { id, caller, attribution, request, path, digest, idempotencyKey, client, concerns, watch }
  return { task: await services.videos.create(submission), async }
}

/** The task id in the path. Throws 404 for anything that cannot be one. */
export function idIn(query: Query): string {
  return taskIdIn(query, noSuchTask)
}

function contentUrl({ services, exchange }: Query, id: string): string {
  return `${services.publicUrl || (exchange.base ?? '')}/v1/videos/${id}/content`
}

/** The 409 error for a video that is not finished. */
export function notReady(): GatewayError {
  return new GatewayError('conflict', {
    message: 'The video is not finished. Poll the task until it is "completed".',
    shouldRetry: false,
  })
}
