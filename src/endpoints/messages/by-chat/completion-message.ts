/** Messages of completions: the same ones as for their chunks, made at once. */
import { estimateTokens } from '../../../wire/counts.ts'
import type { ChatCompletion, Choice } from '../../../wire/chat.ts'
import type { Message, MessageEvent } from '../../../wire/messages.ts'
import { usageOf, type Usage } from '../../../wire/usage.ts'
import { ChoiceState } from '../../chat/choice.ts'
import type { AnswerContext } from '../../chunk-answer.ts'
import { hasStateFields } from '../../model-state.ts'
import { readVendor } from '../../read-vendor.ts'
import { messageHead } from '../empty-message.ts'
import { collected } from '../collect.ts'
import { messageUsage } from '../usage.ts'
import { reasonOf } from '../writer.ts'
import { endOf, otherStops, readerOf, type MessageForm } from './chunks.ts'

/** The message for a normalised completion. */
export function messageOfCompletion(
  { choices, usage: reported }: ChatCompletion,
  form: MessageForm,
  context: AnswerContext,
): Message {
  const usage = reported ?? usageOf(context.order.promptTokens, estimateTokens(context.meter.textBytes))
  const choice = choices.find(({ index }) => (index ?? 0) === 0)
  if (choice !== undefined && isPlain(choice, form) && otherStops(form).length === 0) {
    return plainMessage(choice, usage, form, context)
  }
  return readVendor(() => {
    const reader = readerOf(form, context)
    const events: MessageEvent[] = []
    reader.begin(events)
    if (choice !== undefined) {
      const { message, ...rest } = choice
      for (const piece of new ChoiceState(0).accept({ ...rest, delta: message })) reader.accept(piece, events)
    }
    reader.end(usage, events)
    return collected(events)
  })
}

/** Whether the message is the text alone. */
function isPlain({ message }: Choice, { reading }: MessageForm): boolean {
  if (reading.display !== 'none' && hasStateFields(message)) return false
  const { content, refusal, reasoning_content: standard, reasoning, tool_calls: calls } = message
  if (refusal || standard || reasoning || calls?.length) return false
  return typeof content === 'string' && content.trim() !== ''
}

function plainMessage(choice: Choice, usage: Usage, { stops }: MessageForm, context: AnswerContext): Message {
  const { reason, sequence } = endOf(choice, stops)
  return {
    ...messageHead(context),
    content: [{ type: 'text', text: choice.message.content as string }],
    stop_reason: reasonOf(reason, false),
    stop_sequence: sequence ?? null,
    usage: messageUsage(usage),
  }
}
