/** Fields that some clients send to every model, and that change little of an answer: they are left out where refused. */
import type { Conversation, Settings } from '../../conversation/conversation.ts'
import { GatewayError } from '../../errors.ts'
import { fieldAt } from '../../formats/field-names.ts'
import type { ConversationField, FieldNames } from '../../formats/format.ts'

export type Hints = ReadonlySet<ConversationField>

/** What `plan` makes of a conversation without the hints that it refuses. `names`: those of the client, in its errors. */
export function withoutRefused<Plan>(
  conversation: Conversation,
  hints: Hints,
  names: FieldNames,
  omit: (place: string) => void,
  plan: (conversation: Conversation) => Plan,
): Plan {
  let asked = conversation
  for (;;) {
    try {
      return plan(asked)
    } catch (thrown) {
      const param = thrown instanceof GatewayError ? thrown.param : null
      const field = param === null ? undefined : fieldAt(param, names)
      const less = field === undefined || !hints.has(field) ? undefined : without(asked, field)
      if (param === null || less === undefined) throw thrown
      omit(param)
      asked = less
    }
  }
}

/** Undefined if the conversation does not have the field. */
function without(conversation: Conversation, field: ConversationField): Conversation | undefined {
  if (field === 'parallel') {
    const { parallel, ...others } = conversation
    return parallel === undefined ? undefined : others
  }
  const { [field as keyof Settings]: value, ...settings } = conversation.settings
  return value === undefined ? undefined : { ...conversation, settings }
}
