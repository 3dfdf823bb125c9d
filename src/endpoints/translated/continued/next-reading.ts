/** The streams of the vendors that an answer goes on at. */
import { flowOfList } from '../../../http/flow-of.ts'
import type { Provider } from '../../../providers/contract.ts'
import type { Fields } from '../../../wire/json.ts'
import { usageOf } from '../../../wire/usage.ts'
import type { AnswerContext } from '../../chunk-answer.ts'
import { readVendor } from '../../read-vendor.ts'
import { askVendor, type AnsweredBy, type Changes } from '../ask-vendor.ts'
import type { ClientWire } from '../plan.ts'
import { bodyOf } from '../vendor-wires.ts'
import { WholeReader } from '../whole-answer.ts'
import type { ContinuingSteps, Reading } from './continued-parts.ts'
import { continuing, prefilled } from './continuation.ts'
import type { JoinedParts } from './joined-parts.ts'

/** An answer as a stream of parts. */
export function readingOf({ answer, wire, plan }: Pick<AnsweredBy, 'answer' | 'wire' | 'plan'>): Reading {
  const { source, stages } = plan
  if (Symbol.asyncIterator in answer) return { pieces: answer, reader: wire.format.eventReader(source), stages }
  const whole = readVendor(() => wire.format.readAnswer(bodyOf(answer, wire), source))
  return { pieces: flowOfList<object>([]), reader: new WholeReader(whole), stages }
}

/** Asks the next deployment for what is missing, until one answers. Throws the failure if there is none. */
export function nextReadings(
  client: ClientWire,
  successor: NonNullable<AnswerContext['successor']>,
  context: AnswerContext,
  repeated: Fields | undefined,
): ContinuingSteps['next'] {
  return async (failure, said) => {
    let used = said.used
    for (let reason = failure; ;) {
      const next = successor(reason, used)
      if (next === undefined) throw failure
      const changes = changesFor(said, next.provider, failure)
      try {
        return readingOf(await askVendor({ client, ...next, context, repeated }, true, changes))
      } catch (thrown) {
        if (thrown === failure) throw failure
        reason = thrown
        used = usageOf(0, 0)
      }
    }
  }
}

function changesFor({ text, written }: JoinedParts, provider: Provider, failure: unknown): Changes {
  const prefill = provider.chat === undefined ? undefined : provider.chatTraits?.prefill
  return {
    conversation(conversation) {
      // No model can be asked for the second half of a JSON document.
      if (text !== '' && conversation.output !== undefined) throw failure
      return continuing(conversation, text, written, prefill)
    },
    request: (request) => (prefill === undefined || text === '' ? request : prefilled(request, prefill)),
  }
}
