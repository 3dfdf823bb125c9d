/** The chunks of a chat for the events of a vendor with another wire format. */
import type { Part } from '../../src/conversation/parts.ts'
import { chat } from '../../src/formats/chat/chat.ts'
import type { EventReader, OutEvent } from '../../src/formats/format.ts'
import type { ChatPiece } from '../../src/providers/contract.ts'
import { readValues } from '../../src/providers/events.ts'
import type { Fields } from '../../src/wire/json.ts'

/** `source`: the bytes of the vendor's stream. Events that arrive together are read together. */
export async function* chatChunksOf(source: AsyncIterable<Buffer>, reader: EventReader): AsyncGenerator<ChatPiece> {
  const writer = chat.eventWriter({ id: 'chatcmpl-1', created: 1, model: 'model', usage: true })
  const parts: Part[] = []
  const out: OutEvent[] = []
  for await (const events of readValues(source)) {
    for (const event of events) {
      if (event instanceof Error) throw event
      reader.read(event as Fields, parts)
      for (const part of parts.splice(0)) writer.write(part, out)
      for (const event of out.splice(0)) yield event
    }
  }
  reader.end(parts)
  for (const part of parts) writer.write(part, out)
  writer.end(out)
  for (const event of out) yield event
}
