/**
 * Reads interactions: whole, or the events of their stream. Source: Google's client library (Interaction, InteractionSSEEvent).
 */
import { fold } from '../../conversation/fold.ts'
import type { Answer, End, Part } from '../../conversation/parts.ts'
import { interactionUsageOf } from '../../providers/content/usage.ts'
import { billed, unreadable } from '../../providers/failure.ts'
import { fieldsOf, isRecord, itemsOf, numberOf, stringOf, type Fields } from '../../wire/json.ts'
import type { Usage } from '../../wire/usage.ts'
import type { EventReader, Source } from '../format.ts'
import { openStep, type OpenStep, type StepCount } from './step-reader.ts'

export function readAnswer(body: Fields, from: Source): Answer {
  const reader = new InteractionReader(from)
  const parts: Part[] = []
  if (body['error'] || typeof body['status'] !== 'string') throw from.failure(body['error'] ?? body)
  reader.whole(body, parts)
  return fold(parts)
}

/** How an interaction has ended, by its status. */
const ends: Readonly<Record<string, End['reason']>> = {
  completed: 'stop',
  requires_action: 'calls',
  incomplete: 'length',
  budget_exceeded: 'length',
  requires_continuation: 'length',
}

export class InteractionReader implements EventReader {
  done = false
  readonly #from: Source
  readonly #count: StepCount
  readonly #open = new Map<unknown, OpenStep>()
  #begun = false
  /** The latest counters, which replace all earlier ones. */
  #counters: Fields = {}
  #usage: Usage | undefined

  constructor(from: Source) {
    this.#from = from
    this.#count = { maker: from.maker, blocks: 0, ids: new Set() }
  }

  read(event: Fields, out: Part[]): void {
    const { event_type: type, error, index } = event
    if (error || type === 'error') throw this.#failure(error ?? event)
    if (type === 'interaction.created') return this.#start(fieldsOf(event['interaction']), out)
    if (type === 'interaction.completed') return this.#finish(fieldsOf(event['interaction']), out)
    this.#start({}, out)
    this.#counted(event['usage'], undefined, out)
    if (type === 'step.start') this.#begin(index, fieldsOf(event['step']), out)
    else if (type === 'step.delta') this.#step(index, out).delta(fieldsOf(event['delta']), out)
    else if (type === 'step.stop') this.#stop(index, out)
  }

  end(): void {
    if (!this.done) throw unreadable("the vendor's stream ended before the response was complete")
  }

  whole(interaction: Fields, out: Part[]): void {
    this.#start(interaction, out)
    itemsOf(interaction['steps']).forEach((step, index) => {
      if (!isRecord(step)) return
      this.#begin(index, step, out)
      this.#stop(index, out)
    })
    this.#finish(interaction, out)
  }

  #start({ id, created, model }: Fields, out: Part[]): void {
    if (this.#begun) return
    this.#begun = true
    const time = numberOf(Date.parse(stringOf(created) ?? '') / 1000)
    out.push({ kind: 'start', id: stringOf(id), created: time && Math.floor(time), model: stringOf(model) })
  }

  #begin(index: unknown, step: Fields, out: Part[]): void {
    this.#stop(index, out)
    // What was asked, in an interaction that repeats it.
    if (step['type'] === 'user_input' || step['type'] === 'function_result') return
    if (step['error']) throw this.#failure(step['error'])
    this.#open.set(index, openStep(step, this.#count, out))
  }

  #step(index: unknown, out: Part[]): OpenStep {
    if (!this.#open.has(index)) this.#begin(index, { type: 'model_output' }, out)
    return this.#open.get(index) as OpenStep
  }

  #stop(index: unknown, out: Part[]): void {
    this.#open.get(index)?.end(out)
    this.#open.delete(index)
  }

  #finish(interaction: Fields, out: Part[]): void {
    const { status, usage, service_tier: tier, errors, error } = interaction
    this.#start(interaction, out)
    for (const index of this.#open.keys()) this.#stop(index, out)
    this.#counted(usage, tier, out)
    const reason = ends[String(status)]
    if (reason === undefined) throw this.#failure(itemsOf(errors)[0] ?? error ?? { message: status })
    this.done = true
    const end: End = { reason: reason === 'stop' && this.#count.ids.size > 0 ? 'calls' : reason }
    out.push({ kind: 'end', choice: 0, end })
  }

  #counted(raw: unknown, tier: unknown, out: Part[]): void {
    const usage = interactionUsageOf(raw, tier)
    if (usage === undefined) return
    this.#usage = usage
    this.#counters = fieldsOf(raw)
    out.push({ kind: 'usage', usage, counters: this.#counters })
  }

  /** What the model has written is billed, also if it is of no use. */
  #failure(error: unknown): Error {
    const failure = this.#from.failure(error)
    return this.#usage === undefined ? failure : billed(failure, this.#usage)
  }
}
