/** Tool names for vendors that allow 64 characters, and back. */
import { chatNameOf } from '../tool-names.ts'
import type { Conversation } from '../../conversation/conversation.ts'
import { stage, type Stage } from './stage.ts'

/** Undefined if no name is too long. */
export function longNames({ tools }: Conversation): Stage | undefined {
  const names = new Map<string, string>()
  for (const tool of tools) {
    const name = tool.kind === 'function' ? tool.name : tool.instead?.name
    if (name !== undefined && chatNameOf(name, undefined) !== name) names.set(chatNameOf(name, undefined), name)
  }
  if (names.size === 0) return undefined
  return stage('call', (part) => [part.kind === 'call' ? { ...part, name: names.get(part.name) ?? part.name } : part])
}
