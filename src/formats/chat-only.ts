/** Fields that the wire format of a vendor does not have: those of chats alone, and settings without a counterpart. */
import type { Conversation, Settings } from '../conversation/conversation.ts'
import { refuseFields, unsupported } from '../providers/unsupported.ts'
import { clientName } from './field-names.ts'
import type { ConversationField, Target } from './format.ts'

/** Those that change the answer and are not in a conversation. */
const unsaid: readonly string[] = [
  'top_logprobs',
  'logit_bias',
  'audio',
  'web_search_options',
  'moderation',
  'functions',
  'function_call',
]

/** Throws 400 for the first of them that a request has, unless `dropParams` has it. `model`: its name in the error. */
export function refuseChatOnly({ own }: Conversation, model: string, dropParams: readonly string[] = []): void {
  if (own?.chat !== undefined) refuseFields({ publicModel: model, request: own.chat }, unsaid, dropParams)
}

/** A setting that changes the answer, its name in chats, and the value that says nothing. */
export type Unsaid = readonly [ConversationField & keyof Settings, string, unknown]

/** Throws 400 for the first of these settings that a conversation has, unless `dropParams` has its name in chats. */
export function refuseSettings(
  { settings }: Conversation,
  to: Target<{ readonly dropParams?: readonly string[] | undefined }>,
  unsaid: readonly Unsaid[],
): void {
  for (const [field, name, otherwise] of unsaid) {
    const value = settings[field]
    if (value === undefined || value === otherwise || to.traits.dropParams?.includes(name) === true) continue
    throw unsupported({ publicModel: to.model }, clientName(to, field))
  }
}
