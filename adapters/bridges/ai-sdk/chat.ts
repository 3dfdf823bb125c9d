/** Chats through a language model of the AI SDK. */
import type { Call, ChatPiece } from '../../../src/providers/contract.ts'
import { retrySame } from '../../../src/providers/failure.ts'
import { readTurns } from '../../../src/providers/reading/messages.ts'
import { isRecord } from '../../../src/wire/json.ts'
import { readEffort, readFormat, readLimit, readStops } from '../../../src/providers/reading/settings.ts'
import { readTools, type ToolPlan } from '../../../src/providers/reading/tools.ts'
import { refuseFields } from '../../../src/providers/unsupported.ts'
import type { ChatRequest } from '../../../src/wire/chat.ts'
import { failureOf, rejectIgnored } from './failure.ts'
import type { AiSdkLanguageModel } from './models.ts'
import { promptOf } from './prompt.ts'
import { PartReader } from './reader.ts'

export interface ChatSettings {
  readonly dropParams: readonly string[]
  readonly providerOptions: Readonly<Record<string, unknown>> | undefined
}

/** Request fields that the SDK does not support. */
const unsupportedFields = [
  'n',
  'logprobs',
  'top_logprobs',
  'logit_bias',
  'modalities',
  'audio',
  'verbosity',
  'service_tier',
  'web_search_options',
  'moderation',
  'functions',
  'function_call',
]

/** Always streams; the gateway collects the chunks for non-streaming requests. */
export async function* chat(
  model: AiSdkLanguageModel,
  call: Call<ChatRequest>,
  settings: ChatSettings,
): AsyncGenerator<ChatPiece, void, void> {
  const { dropParams } = settings
  refuseFields(
    call,
    model.specificationVersion === 'v4' ? unsupportedFields : [...unsupportedFields, 'reasoning_effort'],
    dropParams,
  )
  const plan = readTools(call)
  const options = await optionsFor(model, call, plan, settings)
  const reader = new PartReader({
    single: plan.single,
    onWarnings: (warnings) => rejectIgnored(warnings, call, dropParams),
  })
  try {
    const { stream } = await model.doStream(options as never)
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

async function optionsFor(
  model: AiSdkLanguageModel,
  call: Call<ChatRequest>,
  plan: ToolPlan,
  { providerOptions }: ChatSettings,
): Promise<object> {
  const { request, signal } = call
  const { temperature, top_p: topP, presence_penalty: presence, frequency_penalty: frequency, seed } = request
  const numbers = {
    temperature,
    topP,
    topK: request['top_k'],
    presencePenalty: presence,
    frequencyPenalty: frequency,
    seed,
  }
  const stops = readStops(request)
  const limit = readLimit(request) ?? call.maxOutputTokens
  const effort = readEffort(request)
  return {
    prompt: await promptOf(readTurns(request.messages), model, call),
    ...Object.fromEntries(Object.entries(numbers).filter(([, value]) => typeof value === 'number')),
    ...(limit !== undefined && { maxOutputTokens: limit }),
    ...(stops.length > 0 && { stopSequences: stops }),
    ...(effort !== undefined && { reasoning: effort }),
    ...formatFor(call),
    ...toolsFor(plan),
    ...(providerOptions && { providerOptions }),
    ...(call.headers && { headers: call.headers }),
    abortSignal: signal,
  }
}

function formatFor(call: Call<ChatRequest>): object {
  const format = readFormat(call)
  if (format.kind === 'text') return {}
  if (format.kind === 'json') return { responseFormat: { type: 'json' } }
  const { kind: _, ...rest } = format
  return { responseFormat: { type: 'json', ...rest } }
}

function toolsFor({ tools, use }: ToolPlan): object {
  if (tools.length === 0) return {}
  const choice = use?.mode === 'named' ? { type: 'tool', toolName: use.name } : use && { type: use.mode }
  return {
    tools: tools.map(({ name, description, schema, strict }) => ({
      type: 'function',
      name,
      ...(description !== undefined && { description }),
      inputSchema: schema ?? { type: 'object', properties: {} },
      ...(strict !== undefined && { strict }),
    })),
    ...(choice && { toolChoice: choice }),
  }
}
