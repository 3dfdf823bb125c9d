/** Writes the body of `generateContent`. Source: the Gemini API reference, v1beta. */
import type { Conversation, Fields } from '../../conversation/conversation.ts'
import { clientName } from '../field-names.ts'
import { callable } from '../tools.ts'
import { FunctionNames } from './names.ts'
import type { Target } from '../format.ts'
import { ContentWriter } from './contents-writer.ts'
import { writeConfig, writeTier } from './settings-writer.ts'
import { writeTools } from './tools-writer.ts'
import type { ContentTraits } from '../../providers/content-traits.ts'

export function writeRequest(conversation: Conversation, to: Target<ContentTraits>): Fields {
  const names = functionNames(conversation)
  const body: Record<string, unknown> = { ...new ContentWriter(to, names).write(conversation.turns) }
  const { tools, toolConfig } = writeTools(conversation, names, to)
  if (tools !== undefined) body['tools'] = tools
  if (toolConfig !== undefined) body['toolConfig'] = toolConfig
  const config = writeConfig(conversation, to)
  if (config !== undefined) body['generationConfig'] = config
  const tier = writeTier(conversation.settings.tier, to)
  if (tier !== undefined) body['serviceTier'] = tier
  if (conversation.settings.user !== undefined) to.omit(clientName(to, 'user'), 'the wire has no such field')
  // Clients of chats send these under Google's name in snake case.
  const safety = conversation.own?.chat?.['safety_settings']
  if (Array.isArray(safety)) body['safetySettings'] = safety
  const { toolConfig: _, generationConfig: __, ...own } = conversation.own?.gemini ?? {}
  return Object.assign(body, own)
}

/** The names of all functions, as the vendor takes them: it accepts fewer than clients use. */
export function functionNames({ tools, turns }: Conversation): FunctionNames {
  const names: string[] = []
  for (const tool of tools) {
    const name = callable(tool)?.name
    if (name !== undefined) names.push(name)
  }
  for (const { blocks } of turns) for (const block of blocks) if (block.kind === 'call') names.push(block.name)
  return new FunctionNames(names)
}
