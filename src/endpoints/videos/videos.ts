/**
 * The video endpoints: `/v1/videos/generations` as the specification has it, and the same tasks under OpenAI's
 * `/v1/videos`, so that its clients work too.
 */
import { GatewayError, invalid } from '../../errors.ts'
import { jsonReply } from '../../http/answers.ts'
import { header } from '../../http/exchange.ts'
import { decodeSegment, queryOf } from '../../http/target.ts'
import { openaiShape } from '../../tasks/shape.ts'
import { noSuchTask } from '../../tasks/video-tasks.ts'
import type { StoredTask } from '../../tasks/task.ts'
import type { Query, QueryEndpoint } from '../endpoint.ts'
import { readVideo, videoRequest } from './request.ts'
import { specificationShape, taskReply, xaiShape } from './shape.ts'

/** How long a client that asked for `async: false` is kept waiting before it gets the unfinished task. */
const waitMs = 240_000

export const submitVideo: QueryEndpoint = {
  name: 'videos.generations.create',
  limited: true,
  async answer(query) {
    const { task, async } = await create(query, 'specification')
    const done = async ? task : await query.parts.videos.wait(task, waitMs, query.exchange.signal)
    return taskReply(done, specificationShape(done, contentUrl(query, done.id)))
  },
}

export const retrieveVideoTask: QueryEndpoint = {
  name: 'videos.generations.retrieve',
  async answer(query) {
    const task = await query.parts.videos.find(query.caller.account, idIn(query))
    return taskReply(task, specificationShape(task, contentUrl(query, task.id)))
  },
}

export const createVideo: QueryEndpoint = {
  name: 'videos.create',
  limited: true,
  async answer(query) {
    const { task } = await create(query, 'openai')
    return taskReply(task, openaiShape(task))
  },
}

export const retrieveVideo: QueryEndpoint = {
  name: 'videos.retrieve',
  async answer(query) {
    const task = await query.parts.videos.find(query.caller.account, idIn(query))
    // xAI's clients poll at the same path, for another word.
    const isXai = /\bai-sdk[-/]xai\//.test(header(query.exchange, 'user-agent') ?? '')
    return taskReply(task, isXai ? xaiShape(task, contentUrl(query, task.id)) : openaiShape(task))
  },
}

export const listVideos: QueryEndpoint = {
  name: 'videos.list',
  async answer({ parts: { videos }, caller, exchange }) {
    const search = queryOf(exchange.target)
    const limit = Math.min(Math.max(Math.trunc(Number(search.get('limit') ?? 20)) || 20, 1), 100)
    const order = search.get('order') === 'asc' ? 'asc' : 'desc'
    const after = search.get('after')
    if (after !== null && !isId(after)) throw invalid('"after" must be the id of a video.', 'after')
    const tasks = await videos.list(caller.account, { limit: limit + 1, order, ...(after !== null && { after }) })
    const data = tasks.slice(0, limit).map(openaiShape)
    const [first, last] = [tasks[0]?.id ?? null, tasks[data.length - 1]?.id ?? null]
    return jsonReply({ object: 'list', data, first_id: first, last_id: last, has_more: tasks.length > limit })
  },
}

export const deleteVideo: QueryEndpoint = {
  name: 'videos.delete',
  async answer(query) {
    const { id } = await query.parts.videos.remove(query.caller.account, idIn(query))
    return jsonReply({ id, object: 'video.deleted', deleted: true })
  },
}

async function create(query: Query, shape: 'specification' | 'openai'): Promise<{ task: StoredTask; async: boolean }> {
  const { exchange, caller, catalogue, sizes, parts } = query
  const order = await readVideo(exchange, sizes, shape)
  const model = await catalogue.find(order.model, caller)
  const request = videoRequest(order, model)
  await query.admit(model)
  const { digest, idempotencyKey } = order
  return { task: await parts.videos.create({ caller, request, digest, idempotencyKey }), async: order.async }
}

/** Ids are opaque words: what cannot be one is answered as an unknown one. */
export function idIn({ rest }: Query): string {
  const id = decodeSegment(rest)
  if (id === undefined || !isId(id)) throw noSuchTask()
  return id
}

/** No other text reaches a store: some fail at a few of them, and would be taken to be down. */
function isId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,80}$/.test(text)
}

function contentUrl({ parts, exchange }: Query, id: string): string {
  return `${parts.publicUrl || (exchange.base ?? '')}/v1/videos/${id}/content`
}

export function notReady(): GatewayError {
  return new GatewayError('conflict', {
    message: 'The video is not finished. Poll the task until it is "completed".',
    shouldRetry: false,
  })
}
