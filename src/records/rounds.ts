/** Milliseconds after which work that has found nothing is repeated less often. */
const busyMs = 60_000

export interface RoundsOptions {
  /** Milliseconds between the end of a round and the next one, while there is work. */
  readonly everyMs: number
  /** Milliseconds between two rounds a minute after the last work or `wake`. Default 15,000. */
  readonly quietMs?: number
  /** Resolves whether there was work. A rejection counts as none. */
  readonly round: () => Promise<boolean>
  /** From 0 to 1: varies the pauses by ± 20 %, so that processes do not ask at the same time. Default: no variation. */
  readonly random?: () => number
}

/**
 * Looks for work again and again: every `everyMs` until a minute after the last work or the last `wake`, then every `quietMs`, so
 * that idle processes leave the store alone. Uses one unref'ed timer.
 */
export class Rounds {
  readonly #options: RoundsOptions
  #timer: NodeJS.Timeout | undefined
  #isQuiet = false
  #busyAt = 0
  #stopped = false

  constructor(options: RoundsOptions) {
    this.#options = options
  }

  /** There may be work soon. Starts the rounds if they have not begun. */
  wake(): void {
    this.#busyAt = performance.now()
    if (this.#stopped || (this.#timer !== undefined && !this.#isQuiet)) return
    clearTimeout(this.#timer)
    this.#plan()
  }

  /** No round begins any more. */
  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  #plan(): void {
    const { everyMs, quietMs = 15_000, random = () => 0.5 } = this.#options
    this.#isQuiet = everyMs < quietMs && performance.now() - this.#busyAt > busyMs
    const pauseMs = (this.#isQuiet ? quietMs : everyMs) * (0.8 + 0.4 * random())
    this.#timer = setTimeout(() => {
      this.#isQuiet = false
      void this.#round()
    }, pauseMs)
    this.#timer.unref()
  }

  async #round(): Promise<void> {
    const hadWork = await this.#options.round().catch(() => false)
    if (hadWork) this.#busyAt = performance.now()
    if (!this.#stopped) this.#plan()
  }
}
