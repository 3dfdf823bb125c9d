/** Writes whole chat completions. */
import type { Block, CallBlock, Fields } from '../../conversation/conversation.ts'
import type { Answer, Choice } from '../../conversation/parts.ts'
import type { Asked } from '../format.ts'
import { mediaText } from '../media.ts'
import { isHeld, writeAudio, writeImage } from './answer-media.ts'
import { annotationsOf } from './citations.ts'
import { detailsOf, saidIn } from './details.ts'
import { extraContentIn, extraContentOf } from './extra-content.ts'
import { finishName } from './ends.ts'
import { logprobsOf } from './logprobs.ts'

export function writeAnswer({ choices, usage, own }: Answer, asked: Asked): Fields {
  const body: Record<string, unknown> = {
    id: asked.id,
    object: 'chat.completion',
    created: asked.created,
    model: asked.model,
    system_fingerprint: null,
  }
  Object.assign(body, own?.chat)
  body['choices'] = choices.map((choice, index) => writeChoice(choice, index, asked))
  body['usage'] = usage
  return body
}

function writeChoice({ blocks, end, own }: Choice, index: number, asked: Asked): Fields {
  const message = writeMessage(blocks, asked)
  const { message: more, ...rest } = own?.chat ?? {}
  const finish = finishName(end, message['tool_calls'] !== undefined)
  Object.assign(message, more)
  return { index, message, logprobs: logprobsOf(blocks), finish_reason: finish, ...rest }
}

function writeMessage(blocks: readonly Block[], { reasoning }: Asked): Record<string, unknown> {
  let [text, refusal, thoughts] = ['', '', '']
  const calls: Fields[] = []
  const images: Fields[] = []
  let audio: Fields | undefined
  let field = 'reasoning_content'
  let hasText = false
  const all = blocks.flatMap(held)
  for (const block of all) {
    hasText ||= block.kind === 'text'
    if (block.kind === 'text') text += block.text
    else if (block.kind === 'refusal') refusal += block.text
    else if (block.kind === 'call') calls.push(writeCall(block))
    else if (block.kind === 'reasoning') {
      thoughts += block.text
      if (block.own?.chat?.['as'] === 'reasoning') field = 'reasoning'
    } else if (block.kind === 'media') {
      if (block.type === 'audio') audio = writeAudio(block)
      else images.push(writeImage(block))
    }
  }
  // Clients that show the content expect a text of every answer that is nothing else.
  hasText ||= calls.length === 0 && refusal === '' && audio === undefined
  const message: Record<string, unknown> = {
    role: 'assistant',
    content: hasText ? text : null,
    refusal: refusal === '' ? null : refusal,
  }
  if (thoughts !== '' && reasoning !== 'none') message[field] = thoughts
  const said = saidIn(all)
  const details = detailsOf(said)
  if (details.length > 0) message['reasoning_details'] = details
  const extra = extraContentOf(all)
  if (extra !== undefined) message['extra_content'] = extra
  const annotations = annotationsOf(said)
  if (annotations.length > 0) message['annotations'] = annotations
  if (images.length > 0) message['images'] = images
  if (audio !== undefined) message['audio'] = audio
  if (calls.length > 0) message['tool_calls'] = calls
  return message
}

/** What a message says of a block of another format, and of what it has no field for. */
function held(block: Block): readonly Block[] {
  if (block.kind === 'own') return block.instead ?? [block]
  return block.kind !== 'media' || isHeld(block) ? [block] : [{ kind: 'text', text: mediaText(block) }]
}

function writeCall({ id, name, by, input, state, own }: CallBlock): Fields {
  const called = by === 'custom' ? { custom: { name, input } } : { function: { name, arguments: input } }
  return { id, type: by, ...called, extra_content: state && extraContentIn(state), ...own?.chat }
}
