/** Writes turns as `system` and `messages`. */
import { arranged } from '../../conversation/arrange.ts'
import type { OwnBlock, Turn } from '../../conversation/conversation.ts'
import { CallIds } from '../../providers/reading/call-ids.ts'
import type { MessageTraits } from '../../providers/message-traits.ts'
import { unsupportedValue } from '../../providers/unsupported.ts'
import type { Fields } from '../../wire/json.ts'
import type { Target } from '../format.ts'
import { instructionText } from '../instead.ts'
import { writeBlock, type Reader } from './block-writer.ts'
import { forVendor } from './states.ts'

interface Message {
  readonly role: string
  readonly content: Fields[]
  readonly own: Fields | undefined
}

/** The conversation as the wire has it. */
export interface WrittenTurns {
  readonly system: string | readonly Fields[] | undefined
  readonly messages: readonly Fields[]
}

/**
 * Adjacent messages of one role become one. Blank text, and thinking at the end of a message, are dropped, because the API
 * rejects them.
 */
export class TurnWriter {
  readonly #to: Target<MessageTraits>
  readonly #reader: Reader
  readonly #messages: Message[] = []
  #system: Fields[] = []

  constructor(to: Target<MessageTraits>) {
    const ids = new CallIds()
    this.#to = to
    this.#reader = {
      states: forVendor(to.maker),
      callId: (id) => ids.add(id),
      resultId: (id) => ids.find(id),
      model: to.model,
      // Those of a client are of another vendor.
      takesIds: to.traits.claude === undefined,
      omit: (place, why) => to.omit(place, why),
    }
  }

  write(turns: readonly Turn[]): WrittenTurns {
    for (const turn of arranged(turns)) this.#turn(turn)
    this.#endAnswer()
    // A request with only instructions is valid, but `messages` must not be empty.
    if (this.#messages.length === 0 && this.#system.length > 0) {
      this.#messages.push({ role: 'user', content: this.#system, own: undefined })
      this.#system = []
    }
    const last = this.#messages.at(-1)
    if (last?.role === 'assistant') trimEnd(last.content)
    return {
      system: this.#system.length === 0 ? undefined : joined(this.#system),
      messages: this.#messages.map(({ role, content, own }) => ({ role, content, ...own })),
    }
  }

  #turn({ role, blocks, own }: Turn): void {
    const content: Fields[] = []
    for (const block of blocks) {
      if (role === 'user' && block.kind === 'own') this.#requireReadable(block)
      writeBlock(content, block, this.#reader)
    }
    if (content.length === 0) return
    if (role !== 'system') this.#add(role, content, own?.messages)
    else if (this.#messages.length === 0) this.#system.push(...content)
    else if (this.#to.traits.systemAnywhere === true) this.#add('system', content, own?.messages)
    // At its place, because what stands before must not change from turn to turn: caches go by it.
    else this.#add('user', [{ type: 'text', text: instructionText(blocks) }], undefined)
  }

  /** Without a part of the question the answer would be to another one. */
  #requireReadable({ format, instead, place = 'messages' }: OwnBlock): void {
    if (format === 'messages' || instead !== undefined) return
    throw unsupportedValue({ publicModel: this.#to.model }, `${place}.type`, 'the model cannot read it.')
  }

  #add(role: string, content: Fields[], own: Fields | undefined): void {
    if (role !== 'assistant') this.#endAnswer()
    const last = this.#messages.at(-1)
    if (last?.role === role && role !== 'system') last.content.push(...content)
    else this.#messages.push({ role, content, own })
  }

  #endAnswer(): void {
    const last = this.#messages.at(-1)
    if (last?.role !== 'assistant') return
    last.content.length =
      last.content.findLastIndex(({ type }) => type !== 'thinking' && type !== 'redacted_thinking') + 1
    if (last.content.length === 0) this.#messages.pop()
  }
}

/** An assistant message at the end is to be continued by the model. The API rejects white space at its end. */
function trimEnd(content: Fields[]): void {
  const end = content.at(-1)
  if (end?.['type'] === 'text') content[content.length - 1] = { ...end, text: String(end['text']).trimEnd() }
}

/** One text, if nothing but texts would be lost. */
function joined(content: readonly Fields[]): string | readonly Fields[] {
  const isPlain = content.every((block) => block['type'] === 'text' && Object.keys(block).length === 2)
  return isPlain ? content.map(({ text }) => text).join('\n\n') : content
}
