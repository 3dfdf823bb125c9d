/** Legacy text completions, for clients: each is a chat of one message. */
import type { Block, Conversation, Fields } from '../../conversation/conversation.ts'
import type { Answer, End, Part } from '../../conversation/parts.ts'
import type { TextFinishReason } from '../../wire/completions.ts'
import type { Asked, EventWriter, Format, OutEvent } from '../format.ts'
import { textInstead } from '../instead.ts'
import { mediaText } from '../media.ts'
import { chat } from './chat.ts'
import { finishName } from './ends.ts'
import { readRequest as readChat } from './request-reader.ts'
import type { ChatTraits } from './traits.ts'

/** A vendor with text completions is asked for them as they are, so only the client's directions are its own. */
export const text: Format<ChatTraits> = {
  ...chat,
  readRequest,
  writeAnswer,
  eventWriter: () => new TextEventWriter(),
}

/** Reads a request with one prompt. What chats do not have is refused before. */
function readRequest(body: Fields): Conversation {
  const { prompt, suffix: _, echo: __, best_of: ___, logprobs: ____, ...rest } = body
  return readChat({ ...rest, messages: [{ role: 'user', content: prompt }] })
}

function writeAnswer({ choices, usage }: Answer, { id, created, model }: Asked): Fields {
  const texts = choices.map(({ blocks, end }, index) => choiceOf(textIn(blocks), index, finishOf(end)))
  return { id, object: 'text_completion', created, model, choices: texts, usage }
}

/** A refusal is the text of an answer that has no other. */
function textIn(blocks: readonly Block[]): string {
  let [said, refusal] = ['', '']
  for (const block of blocks) {
    if (block.kind === 'text') said += block.text
    else if (block.kind === 'refusal') refusal += block.text
    else if (block.kind === 'media') said += mediaText(block)
    else if (block.kind === 'own') said += textInstead(block)
  }
  return said || refusal
}

function choiceOf(said: string, index: number, finish: TextFinishReason | null): Fields {
  return { text: said, index, logprobs: null, finish_reason: finish }
}

/** Reasons that only chats have become `stop`. */
function finishOf(end: End | undefined): TextFinishReason {
  const name = finishName(end, false)
  return name === 'length' || name === 'content_filter' ? name : 'stop'
}

class TextEventWriter implements EventWriter {
  /** The last block that is no text, of which several pieces may come. */
  #media = -1

  write(part: Part, out: OutEvent[]): void {
    switch (part.kind) {
      case 'text':
      case 'refusal':
        return this.#say(part.choice, part.text, out)
      case 'media':
        this.#say(part.choice, mediaText(part, part.block === this.#media), out)
        this.#media = part.block
        return
      case 'own':
        return this.#say(part.choice, textInstead(part), out)
      case 'end':
        out.push({ choices: [choiceOf('', part.choice, finishOf(part.end))] })
    }
  }

  end(): void {
    // The usage of all prompts together comes after the last of them.
  }

  #say(choice: number, said: string, out: OutEvent[]): void {
    if (said !== '') out.push({ choices: [choiceOf(said, choice, null)] })
  }
}
