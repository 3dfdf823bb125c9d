/** Short ways to write the chunks of a chat. */
import type { ChatChunk, FinishReason } from '../wire/chat.ts'
import type { Usage } from '../wire/usage.ts'

/** A piece of the answer's text. */
export function text(content: string, choice = 0): ChatChunk {
  return { choices: [{ index: choice, delta: { content } }] }
}

/** A piece of what the model thinks before it answers. */
export function reasoning(content: string, choice = 0): ChatChunk {
  return { choices: [{ index: choice, delta: { reasoning_content: content } }] }
}

export interface ToolCallPiece {
  /** Which call of the answer, from 0. Default 0. */
  readonly index?: number
  /** Made by the gateway if absent. */
  readonly id?: string
  /** Given with the first piece of a call. */
  readonly name?: string
  /** JSON text, or a piece of it. */
  readonly arguments?: string
}

/** A whole tool call, or a piece of one. */
export function toolCall(piece: ToolCallPiece, choice = 0): ChatChunk {
  const { index = 0, id, name, arguments: text = '' } = piece
  const delta = {
    index,
    ...(id !== undefined && { id }),
    ...(name !== undefined && { type: 'function' }),
    function: { ...(name !== undefined && { name }), arguments: text },
  }
  return { choices: [{ index: choice, delta: { tool_calls: [delta] } }] }
}

/** The end of a choice, with the usage of the whole answer where it is known. */
export function finish(reason: FinishReason, usage?: Usage, choice = 0): ChatChunk {
  return { choices: [{ index: choice, delta: {}, finish_reason: reason }], ...(usage && { usage }) }
}
