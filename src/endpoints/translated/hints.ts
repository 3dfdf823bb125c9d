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
      const less = field === undefined || !hints.has(field) ? undefined : withValue(asked, field, undefined)
      if (param === null || less === undefined) throw thrown
      omit(param)
      asked = less
    }
  }
}

const outside = ['parallel', 'output'] as const

/** What a conversation says in a field that is no list. */
export function valueOf(conversation: Conversation, field: ConversationField): unknown {
  const name = outside.find((each) => each === field)
  return name === undefined ? conversation.settings[field as keyof Settings] : conversation[name]
}

/** The conversation with another value in such a field, or without it. Undefined if it does not have the field. */
export function withValue(
  conversation: Conversation,
  field: ConversationField,
  value: unknown,
): Conversation | undefined {
  if (valueOf(conversation, field) === undefined) return undefined
  const name = outside.find((each) => each === field)
  if (name !== undefined) return changed(conversation, name, value)
  return { ...conversation, settings: changed(conversation.settings, field, value) }
}

function changed<Whole extends object>(whole: Whole, name: string, value: unknown): Whole {
  const { [name]: _, ...others } = whole as Record<string, unknown>
  return (value === undefined ? others : { ...others, [name]: value }) as Whole
}
