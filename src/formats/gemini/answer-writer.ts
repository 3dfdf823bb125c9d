/** Writes whole answers. */
import type { Block, Fields } from '../../conversation/conversation.ts'
import type { Answer, Choice } from '../../conversation/parts.ts'
import type { Asked } from '../format.ts'
import { callPart, mediaPart, PartWriter } from './candidate-writer.ts'
import { writeCitations, type CitedBlock, type SaidText } from './citations.ts'
import { finishName } from './ends.ts'
import { writeLogprobs } from './logprobs.ts'
import { GoogleStateReader } from './state.ts'
import { writeUsage } from './usage.ts'

export function writeAnswer(answer: Answer, asked: Asked): Fields {
  const states = new GoogleStateReader()
  const feedback = blockedIn(answer)
  const head = {
    usageMetadata: writeUsage(answer),
    modelVersion: asked.model,
    responseId: asked.id,
    ...answer.own?.gemini,
  }
  if (feedback !== undefined) return { promptFeedback: feedback, ...head }
  return {
    candidates: answer.choices.map((choice, index) => writeCandidate(choice, index, new PartWriter(asked, states))),
    ...head,
  }
}

/** A prompt that Google has rejected has no candidate. */
function blockedIn({ choices }: Answer): unknown {
  const [choice] = choices
  return choices.length === 1 ? choice?.end?.own?.gemini?.['promptFeedback'] : undefined
}

function writeCandidate({ blocks, end, own }: Choice, index: number, writer: PartWriter): Fields {
  const parts = blocks.flatMap((block) => writeBlock(block, writer))
  const rest = writer.rest()
  if (rest !== undefined) parts.push(rest)
  const candidate: Record<string, unknown> = { content: { role: 'model', parts }, finishReason: finishName(end), index }
  const logprobs = blocks.flatMap((block) => (block.kind === 'text' ? (block.logprobs ?? []) : []))
  if (logprobs.length > 0) candidate['logprobsResult'] = writeLogprobs(logprobs)
  const grounding = own?.gemini?.['groundingMetadata'] === undefined ? groundingOf(blocks) : undefined
  if (grounding !== undefined) candidate['groundingMetadata'] = grounding
  return Object.assign(candidate, own?.gemini)
}

function groundingOf(blocks: readonly Block[]): Fields | undefined {
  const texts: SaidText[] = []
  const cited: CitedBlock[] = []
  for (const [index, block] of blocks.entries()) {
    if (block.kind !== 'text') continue
    texts.push({ block: index, text: block.text })
    for (const citation of block.citations ?? []) cited.push({ block: index, citation })
  }
  return cited.length === 0 ? undefined : writeCitations(cited, texts)
}

function writeBlock(block: Block, writer: PartWriter): Fields[] {
  switch (block.kind) {
    case 'text':
    case 'refusal':
      return [writer.signed({ text: block.text, ...block.own?.gemini }, block.state)]
    case 'reasoning': {
      const thought = writer.thought(block)
      return [...(thought === undefined ? [] : [thought]), ...writer.reasoned(block)]
    }
    case 'call':
      return [writer.signed(callPart(block), block.state)]
    case 'media':
      return [writer.signed(mediaPart(block), block.state)]
    case 'own':
      return block.format === 'gemini'
        ? [block.value]
        : [
            ...(block.instead ?? []).flatMap((each) => writeBlock(each, writer)),
            ...writer.reasoned({ kind: 'reasoning', text: '', form: 'sealed', state: block.state }),
          ]
    case 'result':
      return []
  }
}
