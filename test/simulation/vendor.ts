/** The vendor of chats, who answers as each prompt says, and the vendor of videos, who runs elsewhere. */
import { GatewayError } from '../../src/index.ts'
import { defineProvider, ProviderError, retrySame, type Provider } from '../../src/providers/index.ts'
import { usageOf } from '../../src/wire/usage.ts'
import type { Checks } from './checks.ts'
import type { Chat, Plan } from './plan.ts'
import type { Job } from './request.ts'
import { Machine, pause } from './scheduler.ts'
import { call, type Network } from './connections.ts'

/** What the prompt of a call tells the vendor to do. */
export type Script = Pick<Chat, 'tokens' | 'pieces' | 'pauseMs' | 'vendor' | 'account' | 'key' | 'maxTokens'>

export class Vendor {
  readonly #network: Network
  readonly #plan: Plan
  readonly #checks: Checks
  readonly #machine = new Machine('vendor')

  constructor(network: Network, plan: Plan, checks: Checks) {
    this.#network = network
    this.#plan = plan
    this.#checks = checks
  }

  /** The vendor as a process calls it. */
  provider(machine: Machine): Provider {
    const tries = new Map<string, number>()
    const checks = this.#checks
    const roll = () => this.#network.roll(machine)
    return defineProvider({
      name: 'vendor',
      async *chat({ id, request, signal }) {
        const script = JSON.parse(request.messages[0]?.content as string) as Script
        const times = (tries.get(id) ?? 0) + 1
        tries.set(id, times)
        checks.vendorCalled(id, machine, script)
        let reported: bigint | undefined
        try {
          await pause(script.pauseMs, signal)
          if (script.vendor === 'refuses' || (script.vendor === 'refuses once' && times === 1)) {
            throw new ProviderError('service_unavailable', { retry: 'same', begun: false })
          }
          for (let piece = 0; piece < script.pieces; piece++) {
            if (piece > 0) await pause(script.pauseMs, signal)
            const content = `${Math.floor(roll() * 1e6)} `.padEnd(Math.min(200, script.tokens))
            yield { choices: [{ index: 0, delta: { content } }] }
            if (script.vendor === 'breaks off') throw retrySame(new Error('the vendor broke off'))
          }
          const usage = usageOf(20, script.tokens)
          reported = BigInt(usage.total_tokens)
          yield { choices: [{ index: 0, delta: {}, finish_reason: 'stop' as const }], usage }
        } finally {
          checks.vendorEnded(id, machine, reported)
        }
      },
      video: {
        submit: this.#plan.submit,
        acceptBoundMs: 15_000,
        limits: () => ({ durations: [5, 10] }),
        start: async ({ token, request }) => this.#ask(machine, 'start', [token, request.prompt]),
        ...(this.#plan.submit === 'lookup' && {
          lookup: async (token: string) => this.#ask(machine, 'lookup', [token]) as Promise<undefined>,
        }),
        check: async (operation) => this.#ask(machine, 'check', [operation]) as never,
        cancel: async (operation) => void (await this.#ask(machine, 'cancel', [operation])),
      },
    })
  }

  /** Asks the vendor of videos. */
  async #ask(machine: Machine, method: 'start' | 'lookup' | 'check' | 'cancel', given: unknown[]): Promise<never> {
    const { jobs } = this.#checks
    const acts = {
      start: (token: string, prompt: string) => {
        const known = this.#plan.submit === 'token' ? jobs.findIndex((job) => job.token === token) : -1
        const script = JSON.parse(prompt) as Pick<Job, 'takesMs' | 'fails'>
        return known >= 0
          ? known
          : jobs.push({ token, at: this.#network.scheduler.now, ...script, cancelled: false }) - 1
      },
      lookup: (token: string) => {
        const known = jobs.findIndex((job) => job.token === token)
        return known < 0 ? undefined : known
      },
      check: (job: number) => {
        const { at, takesMs, fails, cancelled } = jobs[job] as Job
        if (cancelled) return { state: 'failed', error: 'It was cancelled.' }
        if (this.#network.scheduler.now < at + takesMs) return { state: 'processing' }
        return fails
          ? { state: 'failed', error: 'It failed.' }
          : { state: 'completed', url: 'https://videos.example/1.mp4' }
      },
      cancel: (job: number) =>
        void ((jobs[job] as Job).cancelled ||=
          this.#network.scheduler.now < (jobs[job] as Job).at + (jobs[job] as Job).takesMs),
    }
    const act = acts[method] as (...values: unknown[]) => unknown
    try {
      return (await call(
        this.#network,
        'vendor',
        machine,
        `vendor.${method}`,
        given,
        (values) => act(...values),
        this.#machine,
      )) as never
    } catch (error) {
      throw GatewayError.is(error) ? error : retrySame(error)
    }
  }
}
