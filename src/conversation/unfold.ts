/** A whole answer as parts: for stages, and for clients that stream from a vendor that does not. */
import type { Block, FormatName } from './conversation.ts'
import type { Answer, CallPart, MediaPart, Part, ReasoningPart, RefusalPart, StartPart, TextPart } from './parts.ts'

type Mutable<Each> = { -readonly [Name in keyof Each]: Each[Name] }

/** The parts of a whole answer. */
export function partsOf(answer: Answer): Part[] {
  const { id, created, model, own, usage, counters } = answer
  const start: Mutable<StartPart> = { kind: 'start' }
  if (id !== undefined) start.id = id
  if (created !== undefined) start.created = created
  if (model !== undefined) start.model = model
  if (own !== undefined) start.own = own
  const out: Part[] = [start]
  let block = 0
  for (const [choice, { blocks, end, own: further }] of answer.choices.entries()) {
    for (const each of blocks) addBlock(out, each, choice, block++)
    for (const [format, value] of Object.entries(further ?? {}))
      out.push({ kind: 'own', choice, block: -1, format: format as FormatName, value })
    if (end !== undefined) out.push({ kind: 'end', choice, end })
  }
  if (usage !== undefined || counters !== undefined) out.push({ kind: 'usage', usage, counters: counters ?? {} })
  return out
}

function addBlock(out: Part[], each: Block, choice: number, block: number): void {
  switch (each.kind) {
    case 'text':
    case 'refusal': {
      const part: Mutable<TextPart | RefusalPart> = { kind: each.kind, choice, block, text: each.text }
      if (each.logprobs !== undefined) part.logprobs = each.logprobs
      if (each.own !== undefined) part.own = each.own
      out.push(part)
      if (each.kind === 'text')
        for (const citation of each.citations ?? []) out.push({ kind: 'citation', choice, block, citation })
      break
    }
    case 'reasoning': {
      const part: Mutable<ReasoningPart> = { kind: 'reasoning', choice, block, text: each.text }
      if (each.form !== undefined) part.form = each.form
      if (each.own !== undefined) part.own = each.own
      out.push(part)
      break
    }
    case 'call': {
      const { id, name, by, input, state } = each
      const part: Mutable<CallPart> = { kind: 'call', choice, block, id, name, by }
      if (state !== undefined) part.state = state
      if (each.own !== undefined) part.own = each.own
      out.push(part)
      if (input !== '') out.push({ kind: 'input', choice, block, text: input })
      out.push({ kind: 'ended', choice, block })
      return
    }
    case 'media': {
      const part: Mutable<MediaPart> = { kind: 'media', choice, block, type: each.type, source: each.source }
      if (each.name !== undefined) part.name = each.name
      if (each.transcript !== undefined) part.transcript = each.transcript
      if (each.own !== undefined) part.own = each.own
      out.push(part)
      break
    }
    case 'own': {
      const { format, value, instead } = each
      out.push(
        instead === undefined
          ? { kind: 'own', choice, block, format, value }
          : { kind: 'own', choice, block, format, value, instead },
      )
      break
    }
    case 'result':
      return
  }
  if (each.state !== undefined) out.push({ kind: 'state', choice, block, state: each.state })
}
