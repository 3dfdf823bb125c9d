/** Calls of functions as the client's tools: in their groups, and as items of their own. */
import type { Conversation, Fields } from '../../conversation/conversation.ts'
import { stage, type Stage } from '../stages/stage.ts'
import { callable, groupOf } from './names.ts'

/** Undefined if all functions are the client's own. */
export function clientCalls({ tools }: Conversation): Stage | undefined {
  const identities = new Map<string, Fields>()
  for (const tool of tools) {
    const called = callable(tool)
    if (called === undefined) continue
    const namespace = groupOf(tool)?.['name']
    const call = called.own?.responses?.['call']
    if (namespace !== undefined) identities.set(called.name, { namespace })
    else if (call !== undefined) identities.set(called.name, { call })
  }
  if (identities.size === 0) return undefined
  return stage('call', (part) => {
    const identity = part.kind === 'call' ? identities.get(part.name) : undefined
    if (part.kind !== 'call' || identity === undefined) return [part]
    return [{ ...part, own: { ...part.own, responses: { ...part.own?.responses, ...identity } } }]
  })
}
