/** Parts collected to the answer that they are. */
import type { Block, Citation, MediaSource, TokenLogprob } from './conversation.ts'
import { joinOwn, type Mutable, type Own } from './own.ts'
import type { Answer, End, MediaPart, OwnPart, Part, StartPart, UsagePart } from './parts.ts'

type Open<Each> = Each extends Block ? Mutable<Each> : never
type OpenBlock = Open<Block>

interface OpenChoice {
  readonly blocks: Map<number, OpenBlock>
  end: End | undefined
  own: Own | undefined
}

/** The answer of a stream, part by part. */
export class Fold {
  #start: StartPart | undefined
  #usage: UsagePart | undefined
  #own: Own | undefined
  readonly #choices: OpenChoice[] = []

  add(part: Part): void {
    switch (part.kind) {
      case 'start':
        this.#start = part
        return
      case 'usage':
        this.#usage = part
        return
      case 'end':
        this.#choice(part.choice).end = part.end
        return
      case 'ended':
        return
      case 'own':
        return this.#further(part)
      default:
        addTo(this.#choice(part.choice).blocks, part)
    }
  }

  end(): Answer {
    const { id, created, model, own } = this.#start ?? {}
    const { usage, counters } = this.#usage ?? {}
    const choices = this.#choices.map((each) => ({ ...each, blocks: [...each.blocks.values()] }))
    return { id, created, model, choices, usage, counters, own: joinOwn(own, this.#own) }
  }

  #choice(index: number): OpenChoice {
    while (this.#choices.length <= index) this.#choices.push({ blocks: new Map(), end: undefined, own: undefined })
    return this.#choices[index] as OpenChoice
  }

  #further({ choice: at, block, format, value, instead }: OwnPart): void {
    if (at < 0) {
      this.#own = joinOwn(this.#own, { [format]: value })
      return
    }
    const choice = this.#choice(at)
    if (block < 0) choice.own = joinOwn(choice.own, { [format]: value })
    else choice.blocks.set(block, { kind: 'own', format, value, instead })
  }
}

type BlockPart = Exclude<Part, { kind: 'start' | 'usage' | 'end' | 'ended' | 'own' }>

function addTo(blocks: Map<number, OpenBlock>, part: BlockPart): void {
  const open = blocks.get(part.block)
  switch (part.kind) {
    case 'text':
    case 'refusal': {
      const { kind, text, own } = part
      if (open === undefined) blocks.set(part.block, { kind, text, own, logprobs: part.logprobs && [...part.logprobs] })
      else if (open.kind === kind) {
        open.text += text
        if (part.logprobs !== undefined) ((open.logprobs ??= []) as TokenLogprob[]).push(...part.logprobs)
      }
      return
    }
    case 'reasoning': {
      const { kind, text, form, own } = part
      if (open === undefined) blocks.set(part.block, { kind, text, form, own })
      else if (open.kind === kind) open.text += text
      return
    }
    case 'call': {
      const { kind, id, name, by, state, own } = part
      blocks.set(part.block, { kind, id, name, by, input: '', state, own })
      return
    }
    case 'input':
      if (open?.kind === 'call') open.input += part.text
      return
    case 'media': {
      const { kind, type, source, name, transcript, own } = part
      if (open === undefined) blocks.set(part.block, { kind, type, source, name, transcript, own })
      else if (open.kind === 'media') grow(open, part)
      return
    }
    case 'citation':
      if (open?.kind === 'text') ((open.citations ??= []) as Citation[]).push(part.citation)
      return
    case 'state':
      if (open !== undefined) open.state = part.state
  }
}

function grow(open: Open<Extract<Block, { kind: 'media' }>>, { source, transcript }: MediaPart): void {
  open.source = joined(open.source, source)
  if (transcript !== undefined) open.transcript = (open.transcript ?? '') + transcript
}

/** Each piece of base64 may end with padding, so bytes are joined. */
function joined(before: MediaSource, more: MediaSource): MediaSource {
  if (!('base64' in before) || !('base64' in more)) return before
  const bytes = [before.base64, more.base64].map((each) => Buffer.from(each, 'base64'))
  return { mediaType: before.mediaType, base64: Buffer.concat(bytes).toString('base64') }
}

/** The answer of a whole stream. */
export function fold(parts: Iterable<Part>): Answer {
  const folding = new Fold()
  for (const part of parts) folding.add(part)
  return folding.end()
}
