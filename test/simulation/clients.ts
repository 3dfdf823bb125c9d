/** The clients and the host's own code: they send requests, repeat those that have failed, and compare the answers. */
import { GatewayError, type Gateway } from '../../src/index.ts'
import type { Checks } from './checks.ts'
import type { Answer, ClientRequest, Fleet } from './fleet.ts'
import { quietMs, type Chat, type Plan, type Video } from './plan.ts'
import type { Machine } from './scheduler.ts'
import type { Network } from './connections.ts'
import type { Script } from './vendor.ts'

export class Clients {
  readonly #network: Network
  readonly #plan: Plan
  readonly #checks: Checks
  readonly #fleet: Fleet
  readonly #machine: Machine
  readonly #bodies = new Map<string, string>()
  readonly #videos = new Map<string, string>()

  constructor(network: Network, plan: Plan, checks: Checks, fleet: Fleet, machine: Machine) {
    this.#network = network
    this.#plan = plan
    this.#checks = checks
    this.#fleet = fleet
    this.#machine = machine
  }

  chat(event: Chat, slot: number, tries: number): void {
    const { account, key, stream, maxTokens, tokens, pieces, pauseMs, vendor } = event
    const script: Script = { tokens, pieces, pauseMs, vendor, account, maxTokens, ...(key !== undefined && { key }) }
    const messages = [{ role: 'user', content: JSON.stringify(script) }]
    const body = JSON.stringify({ model: 'chat', messages, max_tokens: maxTokens, stream })
    const { machine } = this.#fleet.at(slot)
    const sentAt = this.#network.scheduler.now
    const leave = this.#send(
      slot,
      { method: 'POST', target: '/v1/chat/completions', account, key, body },
      (answer, busy) => {
        const checks = this.#checks
        const again = () => this.#again(tries, slot, (next, left) => this.chat(event, next, left))
        if (answer === undefined) return again()
        const { status, id, isWhole } = answer
        if (status !== 200) checks.ended(id, machine)
        if (status === 200 && isWhole)
          return this.#answered(key === undefined ? undefined : `${account} ${key}`, answer)
        if (status === 429)
          return checks.refusals.limited(
            id,
            codeOf(answer.text),
            busy || checks.refusals.mayRefuse(machine, account),
            key !== undefined,
            sentAt,
          )
        if (status === 409 && key !== undefined) return again()
        const isExcused =
          vendor !== 'answers' || !checks.isHealthy(machine, 15_000 + this.#network.scheduler.now - sentAt)
        if (!isExcused)
          checks.violate('no false refusal', `${id} got ${status} without a reason: ${answer.text.slice(0, 200)}`)
        if (status === 503) again()
      },
    )
    if (event.leavesMs !== undefined) this.#network.scheduler.after(event.leavesMs, this.#machine, leave)
  }

  /** All answers to one key are equal: they repeat the same request. */
  #answered(key: string | undefined, { id, isReplay, text }: Answer): void {
    const [first = id] = id.split('.')
    if (key === undefined) return
    const request = this.#checks.requests.get(first)
    if (request !== undefined) request.hasAnswered = true
    const name = `${key} ${first}`
    const known = this.#bodies.get(name)
    if (known === undefined) this.#bodies.set(name, text)
    else if (known !== text) this.#checks.violate('answers to one key are equal', `${name}: ${known} and ${text}`)
    if (isReplay === (first === id))
      this.#checks.violate('answers to one key are equal', `${name} is marked as ${isReplay ? '' : 'not '}repeated`)
  }

  video(event: Video, slot: number, tries: number): void {
    const { account, key, seconds, takesMs, fails } = event
    const body = JSON.stringify({ model: 'film', prompt: JSON.stringify({ takesMs, fails }), seconds: String(seconds) })
    const { machine } = this.#fleet.at(slot)
    this.#send(slot, { method: 'POST', target: '/v1/videos', account, key, body }, (answer) => {
      if (
        answer === undefined ||
        (answer.status === 503 && answer.mayRetry) ||
        (answer.status === 409 && !answer.text.includes('deleted'))
      ) {
        return this.#again(tries, slot, (next, left) => this.video(event, next, left))
      }
      if (answer.status !== 200) return
      const [, repeated] = answer.id.split('.')
      if (repeated !== undefined) this.#checks.ended(repeated, machine)
      const { id } = JSON.parse(answer.text) as { id: string }
      const known = this.#videos.get(`${account} ${key}`)
      if (known !== undefined && known !== id) this.#checks.violate('a key makes one task', `${known} and ${id}`)
      if (known !== undefined) return
      this.#videos.set(`${account} ${key}`, id)
      const about = (method: string, ms: number) =>
        this.#network.scheduler.after(
          ms,
          this.#machine,
          () => void this.#send(slot, { method, target: `/v1/videos/${id}`, account }, () => undefined),
        )
      about('GET', 6_000)
      about('GET', 20_000)
      if (event.deletedMs !== undefined) about('DELETE', event.deletedMs)
    })
  }

  /** An operation of the host's own code, such as a top-up. */
  manage(act: (gateway: Gateway) => Promise<unknown>, slot: number, tries: number): void {
    const { machine, gateway } = this.#fleet.at(slot)
    this.#network.scheduler.after(1, machine, () => {
      act(gateway).catch((error: unknown) => {
        if (!GatewayError.is(error) || error.status < 500) this.#checks.violate('no false refusal', String(error))
        this.#again(tries, slot, (next, left) => this.manage(act, next, left))
      })
    })
  }

  #again(tries: number, slot: number, act: (slot: number, tries: number) => void): void {
    if (tries <= 1 || this.#network.scheduler.now > quietMs) return
    const next = (slot + 1) % this.#plan.processes
    this.#network.scheduler.after(400 + this.#network.roll(this.#machine) * 3_000, this.#machine, () =>
      act(next, tries - 1),
    )
  }

  #send(slot: number, request: ClientRequest, ended: (answer: Answer | undefined, busy: boolean) => void): () => void {
    return this.#fleet.send(slot, request, (answer, busy) => {
      this.#network.note(`answer ${answer?.status}`, answer)
      ended(answer, busy)
    })
  }
}

function codeOf(text: string): string {
  return (JSON.parse(text) as { error: { code: string } }).error.code
}
