/** Fields that only chats have, for vendors that are asked in another wire format. */
import type { Conversation } from '../conversation/conversation.ts'
import { refuseFields } from '../providers/unsupported.ts'

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
  if (own?.chat !== undefined) refuseFields({ publicModel: model, request: own.chat as never }, unsaid, dropParams)
}
