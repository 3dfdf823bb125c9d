/** Writes the body of `POST /v1/chat/completions`. */
import { invalid } from '../../errors.ts'
import { StateReader } from '../model-state.ts'
import { toolId } from '../messages/tool-id.ts'
import { arranged } from '../../conversation/arrange.ts'
import type { Block, CallBlock, Conversation, Fields, ResultBlock, Turn } from '../../conversation/conversation.ts'
import { clientName } from '../field-names.ts'
import type { Target } from '../format.ts'
import { instructionText, saidAs } from '../instead.ts'
import { shortName } from '../tools.ts'
import { isSaid, textIn, writeContent, writePart } from './content-writer.ts'
import { pastFields } from './past-reasoning.ts'
import { writeOutput, writeSettings } from './settings.ts'
import { writeTools } from './tools.ts'
import type { ChatTraits } from './traits.ts'

export function writeRequest(conversation: Conversation, to: Target<ChatTraits>): Fields {
  const { turns, output, settings, own } = conversation
  const { limit = 'max_tokens', ...rest } = own?.chat ?? {}
  const request: Record<string, unknown> = { model: to.model, messages: new MessageWriter(to).write(turns) }
  Object.assign(request, writeSettings(settings, limit as string, to))
  if (output !== undefined) request['response_format'] = writeOutput(output)
  return Object.assign(request, writeTools(conversation, to), rest)
}

class MessageWriter {
  readonly #to: Target<ChatTraits>
  readonly #states = new StateReader()
  readonly #messages: Fields[] = []
  /** Instructions before all others are one message. */
  readonly #instructions: Block[] = []
  /** What a tool message cannot contain stands before what the user says. */
  #attached: Block[] = []
  #said: Block[] = []
  #hasCalls = false

  constructor(to: Target<ChatTraits>) {
    this.#to = to
  }

  write(turns: readonly Turn[]): readonly Fields[] {
    const inOrder = arranged(turns)
    this.#hasCalls = inOrder.some(({ blocks }) => blocks.some(({ kind }) => kind === 'call'))
    for (const turn of inOrder) {
      if (this.#to.traits.textParts === true) this.#asItIs(turn)
      else if (turn.role === 'assistant') this.#answer(turn)
      else if (turn.role === 'system') this.#instruct(turn.blocks)
      else this.#say(turn.blocks)
    }
    this.#close()
    if (this.#messages.length === 0) this.#onlyInstructions(turns)
    return this.#messages
  }

  /** Vendors require a message of the user. */
  #onlyInstructions(turns: readonly Turn[]): void {
    const isSilent = this.#instructions.length === 0 && turns.every(({ role }) => role !== 'user')
    if (isSilent && this.#to.traits.textParts !== true) {
      const name = clientName(this.#to, 'turns')
      throw invalid(`"${name}" has nothing that this model can be told.`, name)
    }
    this.#messages.push({ role: 'user', content: this.#content(this.#instructions) })
  }

  /** For whom every turn is a message. */
  #asItIs(turn: Turn): void {
    const { role, blocks, own } = turn
    if (role === 'assistant') return this.#answer(turn)
    const results = blocks.filter((each) => each.kind === 'result')
    for (const { callId, blocks: content, own: more } of results)
      this.#messages.push({ role: 'tool', tool_call_id: callId, content: this.#content(content), ...more?.chat })
    if (results.length > 0 && results.length === blocks.length) return
    const content = this.#content(blocks.filter(({ kind }) => kind !== 'result'))
    this.#messages.push({ role, content, ...own?.chat })
  }

  #instruct(blocks: readonly Block[]): void {
    const texts = blocks.filter(isSaid)
    if (texts.length === 0) return
    if (this.#messages.length === 0 && this.#said.length === 0) this.#instructions.push(...texts)
    else if (this.#to.traits.systemAnywhere === true) {
      this.#close()
      this.#push({ role: 'system', content: this.#content(texts) })
    } else this.#said.push({ kind: 'text', text: instructionText(texts) })
  }

  #say(blocks: readonly Block[]): void {
    for (const block of blocks) {
      if (block.kind === 'result') this.#result(block)
      else if (block.kind !== 'text' || block.text !== '') this.#said.push(...saidAs(block, 'chat', this.#to))
    }
  }

  #result({ callId, blocks, failed }: ResultBlock): void {
    const lines: string[] = failed === true ? ['Error:'] : []
    const media: Block[] = []
    let isEmpty = true
    for (const block of blocks.flatMap((each) => saidAs(each, 'chat', this.#to))) {
      const text = textIn(block)
      if (text === undefined) media.push(block)
      else if (text !== '') lines.push(text)
      isEmpty &&= text === undefined || text === ''
    }
    const images = media.every((each) => each.kind === 'media' && each.type === 'image')
    const isInside = media.length > 0 && images && this.#to.traits.richResults === true
    if (media.length > 0 && !isInside) {
      this.#attached.push({ kind: 'text', text: `The content of the result of the call ${callId}:` }, ...media)
      if (isEmpty) lines.push('See the content below.')
    }
    const text = lines.join('\n')
    const parts = isInside ? media.flatMap((each) => writePart(each, this.#to)) : []
    const content = !isInside ? text : text === '' ? parts : [{ type: 'text', text }, ...parts]
    this.#push({ role: 'tool', tool_call_id: callId, content })
  }

  #answer({ blocks, own }: Turn): void {
    this.#close()
    const { textParts } = this.#to.traits
    let [text, refusal] = ['', '']
    const calls: CallBlock[] = []
    const images: Block[] = []
    const parts: Block[] = []
    for (const block of blocks) {
      if (block.kind === 'call') calls.push(block)
      else if (block.kind === 'refusal') refusal += block.text
      else if (block.kind === 'media') images.push(block)
      else if (block.kind === 'own' && block.format !== 'chat') {
        for (const each of saidAs(block, 'chat', this.#to)) text += textIn(each) ?? ''
      } else if (block.kind === 'text' || block.kind === 'own') {
        if (block.kind === 'text') text += block.text
        parts.push(block)
      }
    }
    // A vendor may not know the field.
    if (textParts !== true) text += refusal
    if (text.trim() === '') text = ''
    if (textParts !== true && text === '' && calls.length === 0) return
    const isList = textParts === true && (parts.length > 1 || parts.some(({ kind }) => kind === 'own'))
    const message: Record<string, unknown> = {
      role: 'assistant',
      content: isList ? this.#content(parts) : text || null,
    }
    if (textParts === true && refusal !== '') message['refusal'] = refusal
    const past = pastFields(blocks, this.#to, this.#states, this.#hasCalls)
    Object.assign(message, past.message)
    if (images.length > 0) this.#show(message, images)
    if (calls.length > 0)
      message['tool_calls'] = calls.map((call) =>
        callOf(call, past.calls.size === 0 ? undefined : past.calls.get(toolId(call.id))),
      )
    this.#push(Object.assign(message, own?.chat))
  }

  /** Few vendors take images of the model back. */
  #show(message: Record<string, unknown>, images: readonly Block[]): void {
    if (this.#to.traits.textParts === true) message['images'] = images.flatMap((each) => writePart(each, this.#to))
    else this.#to.omit(images[0]?.place ?? 'messages', 'an image of the model')
  }

  #close(): void {
    const said = [...this.#attached, ...this.#said]
    this.#attached = []
    this.#said = []
    if (said.length === 0) return
    if (this.#to.traits.userAfterResults === false && this.#messages.at(-1)?.['role'] === 'tool')
      this.#push({ role: 'assistant', content: 'I have the results.' })
    this.#push({ role: 'user', content: this.#content(said) })
  }

  #push(message: Fields): void {
    if (this.#messages.length === 0 && this.#instructions.length > 0)
      this.#messages.push({ role: 'system', content: this.#content(this.#instructions) })
    this.#messages.push(message)
  }

  #content(blocks: readonly Block[]): string | Fields[] {
    return writeContent(blocks, this.#to)
  }
}

function callOf({ id, name: whole, by, input, own }: CallBlock, state: Fields | undefined): Fields {
  const name = shortName(whole)
  const called = by === 'custom' ? { custom: { name, input } } : { function: { name, arguments: input } }
  return Object.assign({ id, type: by, ...called }, state, own?.chat)
}
