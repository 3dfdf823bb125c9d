/** A conversation → the prompt of an AI SDK language model. */
import { invalid } from '../../../src/errors.ts'
import type { Block, MediaBlock, ResultBlock, Turn } from '../../../src/conversation/conversation.ts'
import { objectOf } from '../../../src/conversation/json.ts'
import { turnText } from '../../../src/conversation/turn-text.ts'
import { StateReader } from '../../../src/formats/model-state.ts'
import type { Call } from '../../../src/providers/contract.ts'
import { CallIds } from '../../../src/providers/reading/call-ids.ts'
import { unsupported, unsupportedValue } from '../../../src/providers/unsupported.ts'
import { isRecord } from '../../../src/wire/json.ts'
import type { AiSdkLanguageModel } from './models.ts'
import { metadataIn } from './state.ts'

/** `maker`: whose state goes back to the model. */
export async function promptOf(
  turns: readonly Turn[],
  model: AiSdkLanguageModel,
  call: Pick<Call<unknown>, 'publicModel'>,
  maker: string,
): Promise<object[]> {
  return new PromptWriter(new Media(model, await model.supportedUrls, call), maker).write(turns)
}

class PromptWriter {
  readonly #prompt: object[] = []
  readonly #media: Media
  readonly #maker: string
  readonly #states = new StateReader()
  /** The SDK passes ids on as they are, and not every vendor takes those of another. */
  readonly #ids = new CallIds()
  /** The names of the tools that were called, by the id of the call. */
  readonly #names = new Map<string, string>()

  constructor(media: Media, maker: string) {
    this.#media = media
    this.#maker = maker
  }

  write(turns: readonly Turn[]): object[] {
    const instructions = turns.filter(({ role }) => role === 'system').map((turn) => turnText(turn))
    if (instructions.length > 0) this.#push('system', instructions.join('\n\n'))
    for (const { role, blocks } of turns) {
      if (role === 'assistant') this.#push('assistant', this.#answer(blocks))
      else if (role === 'user') this.#say(blocks)
    }
    return this.#prompt
  }

  #push(role: string, content: string | readonly object[]): void {
    if (content.length > 0) this.#prompt.push({ role, content })
  }

  /** Results stand in a message of their own, before what the user says. */
  #say(blocks: readonly Block[]): void {
    const results = blocks.filter((block) => block.kind === 'result')
    this.#push(
      'tool',
      results.map((result) => this.#result(result)),
    )
    const said = blocks.filter((block) => block.kind !== 'result')
    this.#push(
      'user',
      said.flatMap((block) => this.#media.part(block)),
    )
  }

  /** Reasoning without metadata of this model stays away: it is another model's, or was not asked back. */
  #answer(blocks: readonly Block[]): object[] {
    const { reasoning, text, calls } = metadataIn(blocks, this.#maker, this.#states)
    const content: object[] = reasoning.map((each) => {
      return { type: 'reasoning', text: each.text, providerOptions: each.metadata }
    })
    let metadata = text
    for (const block of blocks) {
      switch (block.kind) {
        case 'text':
        case 'refusal':
          content.push({ type: 'text', text: block.text, providerOptions: metadata })
          metadata = undefined
          break
        case 'call': {
          const { id, name, place = 'turns' } = block
          const input = objectOf(block.input)
          if (input === undefined) throw invalid(`The input of "${place}" must be a JSON object.`, place)
          this.#names.set(id, name)
          const toolCallId = this.#ids.add(id)
          content.push({ type: 'tool-call', toolCallId, toolName: name, input, providerOptions: calls.get(id) })
          break
        }
        case 'media':
          content.push(...this.#media.part(block))
      }
    }
    if (metadata !== undefined)
      content.splice(reasoning.length, 0, { type: 'text', text: '', providerOptions: metadata })
    return content
  }

  #result({ callId, blocks, failed }: ResultBlock): object {
    const plain = blocks.every(({ kind }) => kind === 'text')
    const text = blocks.map((block) => (block.kind === 'text' ? block.text : '')).join('\n\n')
    const output = plain
      ? { type: failed === true ? 'error-text' : 'text', value: text }
      : { type: 'content', value: blocks.flatMap((block) => this.#media.part(block)) }
    const toolName = this.#names.get(callId) ?? 'tool'
    return { type: 'tool-result', toolCallId: this.#ids.find(callId), toolName, output }
  }
}

class Media {
  readonly #tagged: boolean
  readonly #urls: readonly (readonly [string, readonly RegExp[]])[]
  readonly #call: Pick<Call<unknown>, 'publicModel'>

  constructor(model: AiSdkLanguageModel, urls: unknown, call: Pick<Call<unknown>, 'publicModel'>) {
    // Since V4, data is tagged with its type.
    this.#tagged = model.specificationVersion !== 'v2' && model.specificationVersion !== 'v3'
    this.#urls = Object.entries(isRecord(urls) ? urls : {}) as [string, RegExp[]][]
    this.#call = call
  }

  /** The part for a text, an image, audio or a file; none for anything else. */
  part(block: Block): object[] {
    if (block.kind === 'text') return [{ type: 'text', text: block.text }]
    return block.kind === 'media' ? [this.#file(block)] : []
  }

  #file({ type, source, name: filename, place = 'turns' }: MediaBlock): object {
    if ('id' in source) throw unsupported(this.#call, place)
    if ('url' in source) {
      if (!this.#fetches(source.url, type)) {
        throw unsupportedValue(this.#call, place, 'it cannot fetch this address; send the data as a data URL.')
      }
      const url = new URL(source.url)
      const mediaType = source.mediaType ?? (type === 'image' ? 'image/*' : 'application/pdf')
      return { type: 'file', filename, mediaType, data: this.#tagged ? { type: 'url', url } : url }
    }
    const isText = 'text' in source
    const base64 = isText ? Buffer.from(source.text).toString('base64') : source.base64
    const data = this.#tagged ? { type: 'data', data: base64 } : base64
    return { type: 'file', filename, mediaType: isText ? 'text/plain' : source.mediaType, data }
  }

  /** Whether the vendor fetches this URL itself. The gateway never fetches it. */
  #fetches(url: string, kind: MediaBlock['type']): boolean {
    return this.#urls.some(([type, patterns]) => {
      const fits = type === '*' || type === '*/*' || (kind === 'image') === type.startsWith('image/')
      return fits && patterns.some((pattern) => pattern.test(url))
    })
  }
}
