/** Functions that make the parts of an answer, for `generate`. */
import type { Citation, MediaSource } from '../conversation/conversation.ts'
import type { Reason } from '../conversation/parts.ts'
import type { Usage } from '../wire/usage.ts'
import type { GeneratedPart } from './generated-part.ts'

/** A piece of the answer's text. `choice` is the index of the choice, from 0. */
export function text(piece: string, choice = 0): GeneratedPart {
  return { kind: 'text', choice, text: piece }
}

/** A piece of the model's reasoning. `choice` is the index of the choice, from 0. */
export function reasoning(piece: string, choice = 0): GeneratedPart {
  return { kind: 'reasoning', choice, text: piece }
}

/** A piece of the words with which the model declines. `choice` is the index of the choice, from 0. */
export function refusal(piece: string, choice = 0): GeneratedPart {
  return { kind: 'refusal', choice, text: piece }
}

/** A tool call, or a piece of one. */
export interface ToolCallPiece {
  /** Default: made by the gateway. */
  readonly id?: string
  /** The function's name, which begins a call. Without it the piece continues the call before. */
  readonly name?: string
  /** The arguments as JSON text, or a piece of that text. Default: empty. */
  readonly arguments?: string
}

/**
 * A tool call or a piece of one. `choice` is the index of the choice, from 0.
 *
 * @example
 * yield toolCall({ name: 'weather', arguments: '{"city":"Paris"}' })
 */
export function toolCall({ id, name, arguments: input = '' }: ToolCallPiece, choice = 0): GeneratedPart {
  if (name === undefined) return { kind: 'input', choice, text: input }
  return { kind: 'call', choice, name, input, ...(id !== undefined && { id }) }
}

/** An image that the model has made. `choice` is the index of the choice, from 0. */
export function image(source: MediaSource, choice = 0): GeneratedPart {
  return { kind: 'media', type: 'image', choice, source }
}

/** A source that the text before refers to. `choice` is the index of the choice, from 0. */
export function citation(source: Citation, choice = 0): GeneratedPart {
  return { kind: 'citation', choice, citation: source }
}

/** The end of a choice. `usage` is that of the whole answer, if known; `choice` is the index, from 0. */
export function finish(reason: Reason, usage?: Usage, choice = 0): GeneratedPart {
  return { kind: 'end', choice, end: { reason }, ...(usage && { usage }) }
}
