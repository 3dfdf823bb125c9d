import { GatewayError, invalid } from '../errors.ts'
import type { VideoContent } from '../providers/video.ts'
import { cursorOf, readCursor, type Page, type PageRequest } from '../records/page.ts'
import { isTaskId } from '../tasks/insert.ts'
import type { StoredTask, VideoTask } from '../tasks/task.ts'
import type { VideoState } from '../wire/video.ts'
import { picked } from '../records/picked.ts'
import { strict } from '../records/rules.ts'
import { ofAny, requireId, requireScoped } from './check.ts'
import { page, videoFilter } from './questions.ts'
import type { AdminServices } from './services.ts'
import type { UsageScope } from './usage-scope.ts'

const known = [
  'group',
  'key',
  'user',
  'session',
  'provider',
  'providerModel',
  'progress',
  'finishedAt',
  'error',
] as const

/** A video task. */
export interface VideoView extends Pick<VideoTask, (typeof known)[number]> {
  /** The id of the task, as in `/v1/videos/{id}`. */
  readonly id: string
  /** The account of the task. */
  readonly account: string
  /** Model name in the request. */
  readonly model: string
  /** The state of the task. */
  readonly state: VideoState
  /** The prompt. */
  readonly prompt: string
  /** Duration of the video in seconds, as requested. */
  readonly seconds: number
  /** `<width>x<height>` in pixels, if the request names one. */
  readonly size?: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** When the task is deleted. Milliseconds since the epoch. */
  readonly expiresAt: number
}

/** Selects video tasks and a page of them. */
export type VideoListQuestion = UsageScope &
  PageRequest & {
    /** Only tasks in this state. */
    readonly state?: VideoState
    /** Only tasks of this model. */
    readonly model?: string
  }

/** Tasks can hold a picture of several megabytes until the vendor has the job, so few are read at once. */
const readAtOnce = 20

/** The most tasks that are read for one page. */
const readForPage = 1_000

const listRule = strict({ ...ofAny, ...videoFilter, ...page })

/** Video tasks. Methods throw a 404 if the task store cannot list them, and a 503 if it fails. */
export class VideoAdmin {
  readonly #services: AdminServices

  /** @internal */
  constructor(services: AdminServices) {
    this.#services = services
  }

  /**
   * The tasks of `account`, or with `all: true` of all accounts, newest first. With `state` or `model`, a page can have fewer
   * tasks than `limit`, or none, although there is a next one.
   */
  async list(question: VideoListQuestion): Promise<Page<VideoView>> {
    requireScoped(listRule, question, 'tasks')
    const { account, state, model, limit = 100, after } = question
    const found: VideoView[] = []
    let last = after === undefined ? undefined : placeIn(after)
    for (let read = 0; read < readForPage; read += readAtOnce) {
      const tasks = await this.#read(account, readAtOnce, last)
      for (const task of tasks) {
        if (found.length === limit) return { items: found, next: cursorAt(last as Place) }
        last = task
        const view = viewOf(task)
        if ((state ?? view.state) === view.state && (model ?? view.model) === view.model) found.push(view)
      }
      if (tasks.length < readAtOnce) return { items: found }
    }
    return { items: found, next: cursorAt(last as Place) }
  }

  /** The task, updated from the vendor if a check is due. Throws a 404 if the account has no such task. */
  async find(account: string, id: string): Promise<VideoView> {
    return viewOf(await this.#find(account, id))
  }

  /**
   * The finished video: its bytes, from the vendor, or the URL at which it can be downloaded without a key. `range`: the
   * header of the client's request. Throws a 404 if there is no such video, and a 409 if it is not finished.
   */
  async content(
    account: string,
    id: string,
    options: { readonly signal: AbortSignal; readonly range?: string },
  ): Promise<VideoContent | { readonly url: string }> {
    const task = await this.#find(account, id)
    const { state, url } = task.data
    if (state === 'failed') throw new GatewayError('not_found', { message: 'This task has no video: it has failed.' })
    if (state !== 'completed') throw new GatewayError('conflict', { message: 'The video is not finished.' })
    const content = await this.#services.videos.content(task, options.signal, options.range)
    if (content !== undefined) return content
    if (url === undefined) throw new GatewayError('not_found', { message: 'The video no longer exists.' })
    return { url }
  }

  /** Cancels the task if it has not ended, and deletes it. Throws a 404 if the account has no such task. */
  async remove(account: string, id: string): Promise<VideoView> {
    requireTask(account, id)
    const removed = viewOf(await this.#services.videos.remove(account, id))
    const { state, model, createdAt } = removed
    await this.#services.note({ action: 'videos.remove', account, target: id, before: { state, model, createdAt } })
    return removed
  }

  async #find(account: string, id: string): Promise<StoredTask> {
    requireTask(account, id)
    return this.#services.videos.find(account, id)
  }

  #read(account: string | undefined, limit: number, last: Place | undefined): Promise<StoredTask[]> {
    if (account === undefined) return this.#services.videos.search({ limit, ...(last && { after: last }) })
    return this.#services.videos.list(account, { limit, order: 'desc', ...(last && { after: last.id }) })
  }
}

type Place = Pick<StoredTask, 'createdAt' | 'account' | 'id'>

function cursorAt({ createdAt, account, id }: Place): string {
  return cursorOf(createdAt, `${id} ${account}`)
}

/** An account may contain spaces, an id cannot. */
function placeIn(after: string): Place {
  const [createdAt, name] = readCursor(after)
  const space = name.indexOf(' ')
  const place = { createdAt, id: name.slice(0, space), account: name.slice(space + 1) }
  if (space < 0 || !isTaskId(place.id)) throw invalid('"after" must be the "next" of a page of the same list.', 'after')
  return place
}

function requireTask(account: string, id: string): void {
  requireId(account, 'account')
  if (!isTaskId(id)) throw new GatewayError('not_found', { param: 'id', message: 'No such video task.' })
}

function viewOf({ id, account, createdAt, expiresAt, data }: StoredTask): VideoView {
  const { model, prompt, duration: seconds } = data.request
  return {
    id,
    account,
    ...picked(data, known),
    model,
    state: data.state === 'submitting' ? 'pending' : data.state,
    prompt,
    seconds,
    ...picked(data.request, ['size']),
    createdAt,
    expiresAt,
  }
}
