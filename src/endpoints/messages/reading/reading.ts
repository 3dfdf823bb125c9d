import type { Call } from '../../../providers/contract.ts'
import type { MessageRequest } from '../../../wire/messages.ts'
import { readSettings, type Settings } from './settings.ts'
import { readTools, type Tools } from './tools.ts'
import { conversationOf, type MessageConversation, type Turn } from './turns.ts'

/** What a request asks for, for vendors whose format is not Anthropic's. */
export interface Reading {
  readonly stream: boolean
  readonly turns: readonly Turn[]
  readonly settings: Settings
  readonly tools: Tools
  /**
   * How thinking is sent. `omitted`: blocks without text, which carry what the vendor wants back. `none`: a client that
   * neither asks for thinking nor uses tools expects text alone.
   */
  readonly display: 'shown' | 'omitted' | 'none'
}

/** Reads a request. Throws 400 for what other vendors cannot do. `skipsTurns`: its conversation is read elsewhere. */
export function read({ request, stream, maxOutputTokens }: Call<MessageRequest>, skipsTurns = false): Reading {
  const settings = readSettings(request, maxOutputTokens)
  const { turns, tools: added } = skipsTurns ? noTurns : conversationOf(request.system, request.messages)
  const tools = readTools(request, added)
  return { stream, turns, settings, tools, display: displayOf(request, tools) }
}

const noTurns: MessageConversation = { turns: [], tools: [] }

function displayOf({ thinking }: MessageRequest, { tools }: Tools): Reading['display'] {
  const isAsked = thinking !== undefined && thinking !== null && thinking.type !== 'disabled'
  if (isAsked) return thinking['display'] === 'omitted' ? 'omitted' : 'shown'
  return tools.length > 0 ? 'omitted' : 'none'
}
