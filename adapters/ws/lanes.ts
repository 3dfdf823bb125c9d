import { GatewayError } from '../../src/errors.ts'

/** Different `stream_id`s that one socket may use, as at OpenAI. Requests without one do not count. */
const mostNames = 32

/** Requests of one `stream_id`, which run one after the other. */
interface Lane<Request> {
  readonly name: string | undefined
  readonly waiting: Request[]
  isRunning: boolean
}

export interface LanesOptions<Request> {
  /** Requests that run at the same time. */
  readonly most: number
  /** Starts a request; `ended` of its lane must be called exactly once, later or before it returns. */
  readonly run: (request: Request, lane: string | undefined) => void
}

/** The requests of one socket: those with different `stream_id`s run side by side, all others in their order. */
export class Lanes<Request> {
  readonly #options: LanesOptions<Request>
  readonly #lanes = new Map<string | undefined, Lane<Request>>()
  /** Lanes that could start their next request, were there not too many running; first come, first served. */
  readonly #ready: Lane<Request>[] = []
  #running = 0
  #waiting = 0

  constructor(options: LanesOptions<Request>) {
    this.#options = options
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#waiting
  }

  /** Whether a request runs or waits. */
  get isBusy(): boolean {
    return this.#running + this.#waiting > 0
  }

  /** Throws 400 if `name` is one too many. */
  check(name: string | undefined): void {
    if (name === undefined || this.#lanes.has(name)) return
    if (this.#lanes.size - (this.#lanes.has(undefined) ? 1 : 0) < mostNames) return
    throw new GatewayError('websocket_stream_limit_reached', { param: 'stream_id' })
  }

  /** Whether a request could start at once. */
  isFree(name: string | undefined): boolean {
    const lane = this.#lanes.get(name)
    const { most } = this.#options
    return this.#running < most && this.#ready.length === 0 && (lane === undefined || isIdle(lane))
  }

  /** Starts a request, or lets it wait for its turn. */
  add(request: Request, name: string | undefined): void {
    let lane = this.#lanes.get(name)
    if (lane === undefined) this.#lanes.set(name, (lane = { name, waiting: [], isRunning: false }))
    if (isIdle(lane)) this.#ready.push(lane)
    lane.waiting.push(request)
    this.#waiting++
    this.#start()
  }

  /** The request of a lane is over. */
  ended(name: string | undefined): void {
    const lane = this.#lanes.get(name)
    if (lane?.isRunning !== true) return
    lane.isRunning = false
    this.#running--
    if (lane.waiting.length > 0) this.#ready.push(lane)
    this.#start()
  }

  /** Forgets the requests that wait. */
  clear(): Request[] {
    this.#ready.length = 0
    this.#waiting = 0
    return [...this.#lanes.values()].flatMap(({ waiting }) => waiting.splice(0))
  }

  #start(): void {
    while (this.#running < this.#options.most) {
      const lane = this.#ready.shift()
      const request = lane?.waiting.shift()
      if (lane === undefined || request === undefined) return
      lane.isRunning = true
      this.#running++
      this.#waiting--
      this.#options.run(request, lane.name)
    }
  }
}

function isIdle({ isRunning, waiting }: Lane<unknown>): boolean {
  return !isRunning && waiting.length === 0
}
