/** Conversations with a language model of the AI SDK. */
import type { Conversation } from '../../../src/conversation/conversation.ts'
import type { Call } from '../../../src/providers/contract.ts'
import { retrySame } from '../../../src/providers/failure.ts'
import type { GeneratedPart } from '../../../src/providers/generated-part.ts'
import { isRecord } from '../../../src/wire/json.ts'
import { failureOf } from './failure.ts'
import type { AiSdkLanguageModel } from './models.ts'
import { optionsFor, refuseUnsaid, refuseWarned } from './options.ts'
import { promptOf } from './prompt.ts'
import { StreamReader } from './stream-reader.ts'

/** The options of `fromAiSdk` for every kind of model. */
export interface ModelSettings {
  readonly dropParams: readonly string[]
  readonly providerOptions: Readonly<Record<string, unknown>> | undefined
}

/** Always streams; the gateway collects the parts for clients that do not. `maker`: whose state the answer has. */
export async function* generate(
  model: AiSdkLanguageModel,
  call: Call<Conversation>,
  { dropParams, providerOptions }: ModelSettings,
  maker: string,
): AsyncGenerator<GeneratedPart, void, void> {
  const { request } = call
  refuseUnsaid(request, model, call, dropParams)
  const prompt = await promptOf(request.turns, model, call, maker)
  const reader = new StreamReader({
    maker,
    single: request.parallel === false,
    onWarnings: (warnings) => refuseWarned(warnings, request, call, dropParams),
  })
  try {
    const { stream } = await model.doStream({ prompt, ...optionsFor(call, providerOptions) } as never)
    const parts = stream.getReader()
    try {
      for (let next = await parts.read(); !next.done; next = await parts.read()) {
        if (isRecord(next.value)) yield* reader.read(next.value)
      }
    } finally {
      parts.cancel().catch(() => undefined)
    }
  } catch (thrown) {
    throw failureOf(thrown, call)
  }
  if (!reader.done) throw retrySame(new Error('the model’s stream ended before the response was complete'))
}
