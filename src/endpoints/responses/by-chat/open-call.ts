import type { OutputItem, ResponseEvent } from '../../../wire/responses.ts'
import { parsedJson } from '../../call-queue.ts'
import type { ItemStatus, OpenItem, Place } from './open-item.ts'
import { customField, type ToolIdentity } from './tools.ts'

/** A tool call. The input of a custom tool is sent when it is complete, because the model writes it inside JSON. */
export class OpenCall implements OpenItem {
  readonly #place: Place
  readonly #callId: string
  readonly #tool: ToolIdentity
  #text = ''
  #closed = false

  constructor(place: Place, callId: string, tool: ToolIdentity) {
    this.#place = place
    this.#callId = callId
    this.#tool = tool
  }

  arguments(delta: string): ResponseEvent[] {
    this.#text += delta
    if (delta === '' || this.#tool.kind === 'custom') return []
    return [{ type: 'response.function_call_arguments.delta', ...this.#place, delta }]
  }

  close(): ResponseEvent[] {
    this.#closed = true
    if (this.#tool.kind === 'function') {
      const { name } = this.#tool
      // Clients parse the arguments of every call, even if the tool has none.
      const events = this.#text === '' ? this.arguments('{}') : []
      return [...events, { type: 'response.function_call_arguments.done', ...this.#place, name, arguments: this.#text }]
    }
    const input = this.#input
    return [
      { type: 'response.custom_tool_call_input.delta', ...this.#place, delta: input },
      { type: 'response.custom_tool_call_input.done', ...this.#place, input },
    ]
  }

  item(status: ItemStatus): OutputItem {
    const { kind, name, namespace } = this.#tool
    const head = {
      id: this.#place.item_id,
      status,
      call_id: this.#callId,
      name,
      ...(namespace !== undefined && { namespace }),
    }
    if (kind === 'function') return { ...head, type: 'function_call', arguments: this.#text }
    return { ...head, type: 'custom_tool_call', input: this.#closed ? this.#input : '' }
  }

  get #input(): string {
    const value = parsedJson(this.#text)
    const input = (Object(value) as Record<string, unknown>)[customField]
    return typeof input === 'string' ? input : this.#text
  }
}
