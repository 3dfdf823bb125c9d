/** Writes a conversation as `system_instruction` and the steps of `input`. */
import { arranged } from '../../conversation/arrange.ts'
import type { Block, CallBlock, ReasoningBlock, ResultBlock, Turn } from '../../conversation/conversation.ts'
import { inputObject } from '../../conversation/json.ts'
import type { ContentTraits } from '../../providers/content-traits.ts'
import { fieldsOf, textOf, type Fields } from '../../wire/json.ts'
import type { Target } from '../format.ts'
import { mediaParts } from '../gemini/media-writer.ts'
import type { FunctionNames } from '../gemini/names.ts'
import { GoogleStateReader, type GoogleState } from '../gemini/state.ts'
import { insteadOf, instructionText } from '../instead.ts'

export interface Steps {
  readonly system_instruction?: string
  readonly input: readonly Fields[]
}

/** Instructions between the turns stay where they are: caches go by what stands before. */
export class StepWriter {
  readonly #to: Target<ContentTraits>
  readonly #names: FunctionNames
  readonly #states = new GoogleStateReader()
  readonly #steps: Fields[] = []
  readonly #system: string[] = []
  /** The function of each call. */
  readonly #called = new Map<string, string>()

  constructor(to: Target<ContentTraits>, names: FunctionNames) {
    this.#to = to
    this.#names = names
  }

  write(turns: readonly Turn[]): Steps {
    for (const { role, blocks } of arranged(turns)) {
      if (role === 'assistant') this.#model(blocks)
      else if (role === 'user') this.#user(blocks)
      else this.#instruct(blocks)
    }
    const system = this.#system.join('\n\n')
    // A request with only instructions is valid, but `input` must not be empty.
    if (this.#steps.length === 0 && system !== '') return { input: [userInput([{ type: 'text', text: system }])] }
    return system === '' ? { input: this.#steps } : { system_instruction: system, input: this.#steps }
  }

  #instruct(blocks: readonly Block[]): void {
    if (this.#steps.length > 0) return this.#say([{ type: 'text', text: instructionText(blocks) }])
    if (this.#to.traits.instructions === false) return this.#user(blocks)
    for (const block of blocks) if (block.kind === 'text' && block.text !== '') this.#system.push(block.text)
  }

  #user(blocks: readonly Block[]): void {
    const content: Fields[] = []
    for (const block of blocks) {
      if (block.kind === 'result') this.#steps.push(this.#result(block))
      else content.push(...this.#content(block))
    }
    this.#say(content)
  }

  #say(content: readonly Fields[]): void {
    if (content.length > 0) this.#steps.push(userInput(content))
  }

  #model(blocks: readonly Block[]): void {
    const { states, signatures } = this.#states.ofTurn(blocks, this.#to.maker)
    let said: Fields[] = []
    const flush = () => {
      if (said.length > 0) this.#steps.push({ type: 'model_output', content: said })
      said = []
    }
    for (const block of blocks) {
      if (block.kind === 'reasoning' || block.kind === 'call') {
        flush()
        if (block.kind === 'call') this.#steps.push(this.#call(block, signatures.get(block.id)))
        else this.#thought(block, states.get(block))
      } else said.push(...this.#content(block))
    }
    flush()
  }

  /** Thoughts are for clients. The model wants back only what is signed, or its own steps. */
  #thought({ text, state, place }: ReasoningBlock, own: GoogleState | undefined): void {
    if (own === undefined && state !== undefined) return this.#to.omit(place ?? 'input', 'reasoning of another vendor')
    for (const step of own?.parts ?? []) if (typeof step['type'] === 'string') this.#steps.push(step)
    if (own?.signature === undefined) return
    const summary = text === '' ? undefined : [{ type: 'text', text }]
    this.#steps.push({ type: 'thought', signature: own.signature, summary })
  }

  #call({ id, name, input }: CallBlock, signature: string | undefined): Fields {
    const vendorName = this.#names.toVendor(name)
    this.#called.set(id, vendorName)
    return { type: 'function_call', id, name: vendorName, arguments: inputObject(input), signature }
  }

  #result({ callId, blocks, failed }: ResultBlock): Fields {
    const said = blocks.flatMap((block) => this.#content(block))
    const isText = said.every(({ type }) => type === 'text')
    const result = isText ? said.map(({ text }) => text).join('\n') : said
    const name = this.#called.get(callId)
    return { type: 'function_result', call_id: callId, name, result, is_error: failed === true ? true : undefined }
  }

  #content(block: Block): Fields[] {
    switch (block.kind) {
      case 'text':
      case 'refusal':
        return block.text === '' ? [] : [{ type: 'text', text: block.text }]
      case 'media':
        return mediaParts(block, this.#to).map((part) => contentOf(part, block.type))
      case 'own':
        return insteadOf(block, 'interactions', this.#to).flatMap((each) => this.#content(each))
      default:
        return []
    }
  }
}

function userInput(content: readonly Fields[]): Fields {
  return { type: 'user_input', content }
}

/** A part of generateContent in this wire. */
function contentOf({ text, inlineData, fileData }: Fields, type: 'image' | 'audio' | 'file'): Fields {
  if (typeof text === 'string') return { type: 'text', text }
  const { mimeType, data } = fieldsOf(inlineData ?? fileData)
  const { fileUri: uri } = fieldsOf(fileData)
  return { type: kindOf(textOf(mimeType), type), data, uri, mime_type: mimeType }
}

function kindOf(mediaType: string, type: 'image' | 'audio' | 'file'): string {
  const [, kind] = /^(image|audio|video)\//.exec(mediaType) ?? []
  return kind ?? (type === 'file' ? 'document' : type)
}
