/** Counting what a translated answer has used. */
import type { Answer, Part } from '../../conversation/parts.ts'
import type { Tally } from '../../money/tally.ts'
import type { Fields } from '../../wire/json.ts'

/** Tells a meter what the parts of one answer say. */
export class PartCounter {
  readonly #meter: Tally
  readonly #id: string
  readonly #reasons: string[] = []
  hasUsage = false

  constructor(meter: Tally, id: string) {
    this.#meter = meter
    this.#id = id
  }

  count(part: Part): void {
    switch (part.kind) {
      case 'text':
      case 'refusal':
      case 'reasoning':
      case 'input':
        this.#meter.textBytes += Buffer.byteLength(part.text)
        return
      case 'call':
        this.#meter.textBytes += Buffer.byteLength(part.name)
        return
      case 'usage':
        if (part.usage === undefined) return
        this.hasUsage = true
        this.#meter.usage = part.usage
        return
      case 'end':
        this.#reasons.push(part.end.reason)
        return
      case 'start':
        for (const fields of Object.values(part.own ?? {})) this.#tier(fields)
        return
      case 'own':
        if (part.choice < 0) this.#tier(part.value)
    }
  }

  /** The same for a whole answer. */
  countAnswer(answer: Answer): void {
    const { own = {}, usage, choices } = answer
    for (const fields of Object.values(own)) this.#tier(fields)
    for (const { blocks, end } of choices) {
      for (const block of blocks) {
        if (block.kind === 'call')
          this.#meter.textBytes += Buffer.byteLength(block.name) + Buffer.byteLength(block.input)
        else if ('text' in block) this.#meter.textBytes += Buffer.byteLength(block.text)
      }
      if (end !== undefined) this.#reasons.push(end.reason)
    }
    if (usage === undefined) return
    this.hasUsage = true
    this.#meter.usage = usage
  }

  /** The answer is complete. */
  ended(): void {
    this.#meter.watch?.answered({ id: this.#id, finishReasons: this.#reasons })
  }

  #tier({ service_tier: tier }: Fields): void {
    if (typeof tier === 'string') this.#meter.serviceTier = tier
  }
}
