import type { Fields } from '../../conversation/conversation.ts'
import { send, type OutEvent } from '../format.ts'
import { innerName } from './names.ts'
import type { OpenItem, Place } from './open-item.ts'
import { callItem, kindOfCall, type Called, type ItemStatus } from './output-items.ts'

/** A call. What the calls of tools that the client runs say stands in fields, so it is sent when it is complete. */
export class OpenCall implements OpenItem {
  readonly place: Place
  readonly #call: Called
  readonly #kind: 'function' | 'custom' | 'client'
  #input = ''

  constructor(place: Place, call: Called) {
    this.place = place
    this.#call = call
    this.#kind = kindOfCall(call)
  }

  write(delta: string, out: OutEvent[]): void {
    this.#input += delta
    if (delta === '' || this.#kind === 'client') return
    const kind = this.#kind === 'function' ? 'function_call_arguments' : 'custom_tool_call_input'
    send(`response.${kind}.delta`, { ...this.place, delta }, out)
  }

  close(status: ItemStatus, out: OutEvent[]): Fields {
    if (this.#kind === 'function') {
      // Clients parse the arguments of every call, even if the tool has none.
      if (this.#input === '') this.write('{}', out)
      const { name: whole, own } = this.#call
      const name = innerName(own?.responses?.['namespace'], whole)
      send('response.function_call_arguments.done', { ...this.place, name, arguments: this.#input }, out)
    } else if (this.#kind === 'custom') {
      send('response.custom_tool_call_input.done', { ...this.place, input: this.#input }, out)
    }
    return callItem(this.place.item_id, status, this.#call, this.#input)
  }

  opened(): Fields {
    return callItem(this.place.item_id, 'in_progress', this.#call, '')
  }
}
