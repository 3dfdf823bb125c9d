/** Writes the chunks of a streamed chat. */
import type { Block, Citation, Fields, State, TokenLogprob } from '../../conversation/conversation.ts'
import type {
  CallPart,
  CitationPart,
  EndPart,
  MediaPart,
  Part,
  RefusalPart,
  TextPart,
} from '../../conversation/parts.ts'
import type { Usage } from '../../wire/usage.ts'
import type { Asked, EventWriter, OutEvent } from '../format.ts'
import { textInstead } from '../instead.ts'
import { mediaText } from '../media.ts'
import { isHeld, writeAudio, writeImage } from './answer-media.ts'
import { annotationsOf } from './citations.ts'
import { detailsOf, type Said } from './details.ts'
import { extraContentIn, extraContentOf } from './extra-content.ts'
import { finishName } from './ends.ts'

/** What the last delta of a choice needs of a block. */
interface Written extends Said {
  length: number
  text: string
  state?: State | undefined
  citations?: Citation[]
  /** Of a call. */
  readonly index: number
  readonly isCustom: boolean
}

interface OpenChoice {
  hasStarted: boolean
  calls: number
  readonly blocks: Map<number, Written>
  readonly images: Fields[]
  hasState: boolean
  hasCitations: boolean
  /** Further fields of the choice, for its next chunk. */
  further: Fields | undefined
}

export class ChatEventWriter implements EventWriter {
  readonly #asked: Asked
  readonly #choices: OpenChoice[] = []
  #start: Fields | undefined
  #usage: Usage | undefined
  /** Further fields of the answer, for its next chunk. */
  #own: Fields | undefined

  constructor(asked: Asked) {
    this.#asked = asked
  }

  write(part: Part, out: OutEvent[]): void {
    switch (part.kind) {
      case 'text': {
        this.#written(part.choice, part.block, 'text').length += part.text.length
        if (isSaid(part)) this.#delta(part.choice, { content: part.text }, out, tokens('content', part.logprobs))
        return
      }
      case 'refusal':
        if (isSaid(part)) this.#delta(part.choice, { refusal: part.text }, out, tokens('refusal', part.logprobs))
        return
      case 'reasoning': {
        this.#written(part.choice, part.block, 'reasoning', part.form).text += part.text
        if (part.text === '' || this.#asked.reasoning === 'none') return
        const { text } = part
        const isOther = part.own?.chat?.['as'] === 'reasoning'
        return this.#delta(part.choice, isOther ? { reasoning: text } : { reasoning_content: text }, out)
      }
      case 'call':
        return this.#call(part, out)
      case 'input': {
        const call = this.#of(part.choice).blocks.get(part.block)
        if (call === undefined) return
        const { index, isCustom } = call
        const piece = isCustom ? { index, custom: { input: part.text } } : { index, function: { arguments: part.text } }
        return this.#delta(part.choice, { tool_calls: [piece] }, out)
      }
      case 'state':
        this.#written(part.choice, part.block, 'own').state = part.state
        this.#of(part.choice).hasState = true
        return
      case 'citation':
        return this.#cite(part)
      case 'media':
        return this.#media(part, out)
      case 'end':
        return this.#end(part, out)
      case 'usage':
        this.#usage = part.usage ?? this.#usage
        return
      case 'start':
        this.#start = part.own?.chat
        return
      case 'own':
        if (part.format === 'chat') this.#further(part.choice, part.value, out)
        else this.#say(part.choice, part.block, textInstead(part), out)
        return
      case 'ended':
    }
  }

  end(out: OutEvent[]): void {
    if (this.#asked.usage !== true || this.#usage === undefined) return
    const data = this.#head([])
    data['usage'] = this.#usage
    out.push(data)
  }

  #call({ choice: at, block, id, name, by, state, own }: CallPart, out: OutEvent[]): void {
    const choice = this.#of(at)
    const index = choice.calls++
    const isCustom = by === 'custom'
    choice.hasState ||= state !== undefined
    choice.blocks.set(block, { kind: 'call', length: 0, text: '', index, isCustom, state })
    const called = isCustom ? { custom: { name, input: '' } } : { function: { name, arguments: '' } }
    const extra = state && extraContentIn(state)
    this.#delta(at, { tool_calls: [{ index, id, type: by, ...called, extra_content: extra, ...own?.chat }] }, out)
  }

  #cite({ choice: at, block, citation }: CitationPart): void {
    const choice = this.#of(at)
    const text = choice.blocks.get(block)
    if (text === undefined) return
    ;(text.citations ??= []).push(citation)
    choice.hasCitations = true
  }

  #media(part: MediaPart, out: OutEvent[]): void {
    const { choice, block, type } = part
    if (!isHeld(part)) return this.#say(choice, block, mediaText(part), out)
    if (type === 'audio') return this.#delta(choice, { audio: writeAudio(part) }, out)
    this.#of(choice).images.push(writeImage(part))
  }

  #say(choice: number, block: number, text: string, out: OutEvent[]): void {
    if (text !== '') this.write({ kind: 'text', choice, block, text }, out)
  }

  #further(at: number, value: Fields, out: OutEvent[]): void {
    if (at < 0) {
      this.#own = { ...this.#own, ...value }
      return
    }
    const { message, ...fields } = value
    if (message !== undefined) this.#delta(at, message as Fields, out)
    if (Object.keys(fields).length > 0) this.#of(at).further = { ...this.#of(at).further, ...fields }
  }

  /** State and sources are one delta: some clients append the values of several deltas, others replace them. */
  #end({ choice: at, end }: EndPart, out: OutEvent[]): void {
    const choice = this.#of(at)
    this.#showImages(at, out)
    const delta: Record<string, unknown> = {}
    const details = choice.hasState ? detailsOf(choice.blocks.values()) : []
    if (details.length > 0) delta['reasoning_details'] = details
    const extra = choice.hasState ? extraContentOf(choice.blocks.values()) : undefined
    if (extra !== undefined) delta['extra_content'] = extra
    if (choice.hasCitations) delta['annotations'] = annotationsOf(choice.blocks.values())
    if (details.length > 0 || choice.hasCitations || !choice.hasStarted) this.#delta(at, delta, out)
    this.#push(at, {}, null, finishName(end, choice.calls > 0), out)
  }

  /** The entry of a block. Texts are as long as all their pieces; only those of reasoning are kept. */
  #written(at: number, block: number, kind: Block['kind'], form?: Written['form']): Written {
    const { blocks } = this.#of(at)
    let written = blocks.get(block)
    if (written === undefined) {
      blocks.set(block, (written = { kind, length: 0, text: '', form, index: -1, isCustom: false }))
    }
    return written
  }

  /** Images that follow each other are one delta, for the same reason. */
  #showImages(at: number, out: OutEvent[]): void {
    const images = this.#of(at).images.splice(0)
    if (images.length > 0) this.#delta(at, { images }, out)
  }

  #delta(at: number, delta: Fields, out: OutEvent[], logprobs: Fields | null = null): void {
    const choice = this.#of(at)
    if (choice.images.length > 0) this.#showImages(at, out)
    if (choice.hasStarted) return this.#push(at, delta, logprobs, null, out)
    choice.hasStarted = true
    let isEmpty = true
    for (const _ in delta) isEmpty = false
    this.#push(at, { role: 'assistant', content: isEmpty ? '' : null, ...delta }, logprobs, null, out)
  }

  #push(index: number, delta: Fields, logprobs: Fields | null, finish: string | null, out: OutEvent[]): void {
    const open = this.#of(index)
    const data = this.#head([Object.assign({ index, delta, logprobs, finish_reason: finish }, open.further)])
    if (this.#asked.usage === true) data['usage'] = null
    out.push(Object.assign(data, this.#own))
    this.#own = open.further = undefined
  }

  #head(choices: readonly Fields[]): Record<string, unknown> {
    const { id, created, model } = this.#asked
    return Object.assign({ id, object: 'chat.completion.chunk', created, model, choices }, this.#start)
  }

  #of(at: number): OpenChoice {
    while (this.#choices.length <= at) {
      const choice = { hasStarted: false, calls: 0, hasState: false, hasCitations: false, further: undefined }
      this.#choices.push({ ...choice, blocks: new Map(), images: [] })
    }
    return this.#choices[at] as OpenChoice
  }
}

/** Log probabilities may come after the text. */
function isSaid({ text, logprobs }: TextPart | RefusalPart): boolean {
  return text !== '' || logprobs !== undefined
}

function tokens(name: 'content' | 'refusal', logprobs: readonly TokenLogprob[] | undefined): Fields | null {
  if (logprobs === undefined) return null
  return name === 'content' ? { content: logprobs, refusal: null } : { content: null, refusal: logprobs }
}
