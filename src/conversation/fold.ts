/** Parts collected to the answer that they are. */
import type { Block, Citation, Fields, MediaSource, Own, TokenLogprob } from './conversation.ts'
import type { Answer, End, MediaPart, OwnPart, Part, StartPart, UsagePart } from './parts.ts'

type Open<Each> = Each extends Block ? { -readonly [Name in keyof Each]: Each[Name] } : never
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
    const answer: { -readonly [Name in keyof Answer]: Answer[Name] } = { choices: this.#choices.map(closed) }
    if (id !== undefined) answer.id = id
    if (created !== undefined) answer.created = created
    if (model !== undefined) answer.model = model
    if (this.#usage?.usage !== undefined) answer.usage = this.#usage.usage
    if (this.#usage !== undefined) answer.counters = this.#usage.counters
    const merged = own === undefined ? this.#own : merge(own, this.#own ?? {})
    if (merged !== undefined) answer.own = merged
    return answer
  }

  #choice(index: number): OpenChoice {
    while (this.#choices.length <= index) this.#choices.push({ blocks: new Map(), end: undefined, own: undefined })
    return this.#choices[index] as OpenChoice
  }

  #further(part: OwnPart): void {
    const { format, value, instead } = part
    if (part.choice < 0) {
      this.#own = merge(this.#own ?? {}, { [format]: value })
      return
    }
    const choice = this.#choice(part.choice)
    if (part.block < 0) choice.own = merge(choice.own ?? {}, { [format]: value })
    else
      choice.blocks.set(
        part.block,
        instead === undefined ? { kind: 'own', format, value } : { kind: 'own', format, value, instead },
      )
  }
}

type BlockPart = Exclude<Part, { kind: 'start' | 'usage' | 'end' | 'ended' | 'own' }>

function addTo(blocks: Map<number, OpenBlock>, part: BlockPart): void {
  const open = blocks.get(part.block)
  switch (part.kind) {
    case 'text':
    case 'refusal':
      if (open === undefined) blocks.set(part.block, withOwn({ kind: part.kind, text: part.text }, part.own))
      else if (open.kind === part.kind) open.text += part.text
      if (part.logprobs !== undefined) addLogprobs(blocks.get(part.block), part.logprobs)
      return
    case 'reasoning':
      if (open?.kind === 'reasoning') open.text += part.text
      else if (open === undefined) {
        const block: Open<Extract<Block, { kind: 'reasoning' }>> = { kind: 'reasoning', text: part.text }
        if (part.form !== undefined) block.form = part.form
        blocks.set(part.block, withOwn(block, part.own))
      }
      return
    case 'call': {
      const { id, name, by, state } = part
      const block = withOwn({ kind: 'call', id, name, by, input: '' }, part.own)
      if (state !== undefined) block.state = state
      blocks.set(part.block, block)
      return
    }
    case 'input':
      if (open?.kind === 'call') open.input += part.text
      return
    case 'media':
      if (open?.kind === 'media') grow(open, part)
      else if (open === undefined) blocks.set(part.block, mediaOf(part))
      return
    case 'citation':
      if (open?.kind === 'text') ((open.citations ??= []) as Citation[]).push(part.citation)
      return
    case 'state':
      if (open !== undefined) open.state = part.state
  }
}

function withOwn(block: OpenBlock, own: Own | undefined): OpenBlock {
  if (own !== undefined) block.own = own
  return block
}

function addLogprobs(block: OpenBlock | undefined, more: readonly TokenLogprob[]): void {
  if (block?.kind !== 'text' && block?.kind !== 'refusal') return
  const all = (block.logprobs ??= []) as TokenLogprob[]
  for (const each of more) all.push(each)
}

function mediaOf({ type, source, name, transcript, own }: MediaPart): OpenBlock {
  const block: Open<Extract<Block, { kind: 'media' }>> = { kind: 'media', type, source }
  if (name !== undefined) block.name = name
  if (transcript !== undefined) block.transcript = transcript
  return withOwn(block, own)
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

function closed({ blocks, end, own }: OpenChoice): Answer['choices'][number] {
  const choice: { -readonly [Name in keyof Answer['choices'][number]]: Answer['choices'][number][Name] } = {
    blocks: [...blocks.values()],
  }
  if (end !== undefined) choice.end = end
  if (own !== undefined) choice.own = own
  return choice
}

function merge(before: Own, more: Own): Own {
  const merged: Record<string, Fields> = { ...before }
  for (const [name, fields] of Object.entries(more)) merged[name] = { ...merged[name], ...fields }
  return merged
}

/** The answer of a whole stream. */
export function fold(parts: Iterable<Part>): Answer {
  const folding = new Fold()
  for (const part of parts) folding.add(part)
  return folding.end()
}
