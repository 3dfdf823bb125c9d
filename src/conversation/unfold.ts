/** A whole answer as parts: for stages, and for clients that stream from a vendor that does not. */
import type { Block } from './conversation.ts'
import type { FormatName } from './own.ts'
import type { Answer, Part } from './parts.ts'

/** The parts of a whole answer. */
export function partsOf(answer: Answer): Part[] {
  const { id, created, model, own, usage, counters } = answer
  const out: Part[] = [{ kind: 'start', id, created, model, own }]
  let block = 0
  for (const [choice, { blocks, end, own: further }] of answer.choices.entries()) {
    for (const each of blocks) addBlock(out, each, { choice, block: block++ })
    for (const [format, value] of Object.entries(further ?? {}))
      out.push({ kind: 'own', choice, block: -1, format: format as FormatName, value })
    if (end !== undefined) out.push({ kind: 'end', choice, end })
  }
  if (usage !== undefined || counters !== undefined) out.push({ kind: 'usage', usage, counters: counters ?? {} })
  return out
}

function addBlock(out: Part[], each: Block, at: { readonly choice: number; readonly block: number }): void {
  const { own, state } = each
  switch (each.kind) {
    case 'text':
    case 'refusal': {
      const { kind, text, logprobs } = each
      out.push({ kind, ...at, text, logprobs, own })
      if (kind === 'text') for (const citation of each.citations ?? []) out.push({ kind: 'citation', ...at, citation })
      break
    }
    case 'reasoning':
      out.push({ kind: each.kind, ...at, text: each.text, form: each.form, own })
      break
    case 'call': {
      const { kind, id, name, by, input } = each
      out.push({ kind, ...at, id, name, by, state, own })
      if (input !== '') out.push({ kind: 'input', ...at, text: input })
      out.push({ kind: 'ended', ...at })
      return
    }
    case 'media': {
      const { kind, type, source, name, transcript } = each
      out.push({ kind, ...at, type, source, name, transcript, own })
      break
    }
    case 'own':
      out.push({ kind: each.kind, ...at, format: each.format, value: each.value, instead: each.instead })
      break
    case 'result':
      return
  }
  if (state !== undefined) out.push({ kind: 'state', ...at, state })
}
