import { GatewayError } from '../../errors.ts'

/** The most files that one account reads at a time, because each keeps pages of the stores in memory. */
const most = 4

/** Counts the files that are being sent, by account. */
export class Exports {
  readonly #open = new Map<string, number>()

  /** Begins one for an account. Throws a 429 if it has too many. Returns the function that ends it, once. */
  begin(account: string | undefined): () => void {
    if (account === undefined) return () => undefined
    const count = this.#open.get(account) ?? 0
    if (count >= most) {
      const message = `At most ${most} files can be downloaded at a time. Wait until one is complete.`
      throw new GatewayError('rate_limit_exceeded', { message, retryAfterMs: 5_000 })
    }
    this.#open.set(account, count + 1)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      const left = (this.#open.get(account) ?? 1) - 1
      if (left === 0) this.#open.delete(account)
      else this.#open.set(account, left)
    }
  }
}
