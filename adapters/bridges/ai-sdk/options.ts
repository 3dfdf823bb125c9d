/** The settings of a conversation as the options of an AI SDK language model, and what it cannot do of them. */
import type { Conversation, Output, Reasoning, Settings } from '../../../src/conversation/conversation.ts'
import type { Call } from '../../../src/providers/contract.ts'
import { unsupported, type NamedCall } from '../../../src/providers/unsupported.ts'
import { fieldsOf } from '../../../src/wire/json.ts'
import type { AiSdkLanguageModel } from './models.ts'

/** What the SDK has no option for: the setting, its name in `dropParams`, and whether a value changes nothing. */
const unsaid: readonly (readonly [keyof Settings, string, (value: never) => boolean])[] = [
  ['choices', 'n', (value: number) => value === 1],
  ['logprobs', 'logprobs', () => false],
  ['verbosity', 'verbosity', (value: string) => value === 'medium'],
  ['tier', 'service_tier', (value: string) => value === 'auto' || value === 'default'],
  ['modalities', 'modalities', (value: readonly string[]) => value.every((each) => each === 'text')],
]

/** Throws 400 for the first setting that the SDK, or this version of it, does not have. */
export function refuseUnsaid(
  { settings }: Conversation,
  { specificationVersion }: AiSdkLanguageModel,
  call: NamedCall,
  dropParams: readonly string[],
): void {
  for (const [name, param, isNothing] of unsaid) {
    const value = settings[name]
    if (value === undefined || dropParams.includes(param) || isNothing(value as never)) continue
    throw unsupported(call, `settings.${name}`)
  }
  if (specificationVersion === 'v4' || effortOf(settings.reasoning) === undefined) return
  if (!dropParams.includes('reasoning_effort')) throw unsupported(call, 'settings.reasoning')
}

/** The fields of conversations for the SDK's names in warnings, and those in `dropParams`. */
const warned: Readonly<Record<string, readonly [field: string, param: string]>> = {
  temperature: ['settings.temperature', 'temperature'],
  topP: ['settings.topP', 'top_p'],
  topK: ['settings.topK', 'top_k'],
  frequencyPenalty: ['settings.frequencyPenalty', 'frequency_penalty'],
  presencePenalty: ['settings.presencePenalty', 'presence_penalty'],
  maxOutputTokens: ['settings.max', 'max_tokens'],
  seed: ['settings.seed', 'seed'],
  reasoning: ['settings.reasoning', 'reasoning_effort'],
  responseFormat: ['output', 'response_format'],
  toolChoice: ['toolChoice', 'tool_choice'],
}

/** Throws 400 if the model warns that it ignores what the client asked for. The gateway enforces stop sequences itself. */
export function refuseWarned(
  warnings: unknown,
  request: Conversation,
  call: NamedCall,
  dropParams: readonly string[],
): void {
  for (const warning of Array.isArray(warnings) ? (warnings as unknown[]) : []) {
    const { type, feature, setting } = fieldsOf(warning)
    if (type !== 'unsupported' && type !== 'unsupported-setting') continue
    const [field, param] = warned[String(feature ?? setting)] ?? []
    if (field === undefined || param === undefined || dropParams.includes(param)) continue
    const [root = '', name] = field.split('.')
    const given = root === 'settings' ? request.settings[name as keyof Settings] : request[root as keyof Conversation]
    if (given !== undefined) throw unsupported(call, field)
  }
}

/** All options but the prompt. */
export function optionsFor(
  { request, maxOutputTokens, headers, signal }: Call<Conversation>,
  providerOptions: Readonly<Record<string, unknown>> | undefined,
): object {
  const { settings, output, tools, toolChoice } = request
  const { temperature, topP, topK, presencePenalty, frequencyPenalty, seed, stops = [] } = settings
  const numbers = { temperature, topP, topK, presencePenalty, frequencyPenalty, seed }
  const functions = tools.filter((tool) => tool.kind === 'function')
  const effort = effortOf(settings.reasoning)
  const limit = settings.max ?? maxOutputTokens
  return {
    ...Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== undefined)),
    ...(limit !== undefined && { maxOutputTokens: limit }),
    ...(stops.length > 0 && { stopSequences: stops }),
    ...(effort !== undefined && { reasoning: effort }),
    ...(output !== undefined && { responseFormat: formatOf(output) }),
    ...(functions.length > 0 && {
      tools: functions.map(({ name, description, schema, strict }) => ({
        type: 'function',
        name,
        ...(description !== undefined && { description }),
        inputSchema: schema ?? { type: 'object', properties: {} },
        ...(strict !== undefined && { strict }),
      })),
    }),
    ...(functions.length > 0 && toolChoice !== undefined && { toolChoice: choiceOf(toolChoice) }),
    ...(providerOptions && { providerOptions }),
    ...(headers && { headers }),
    abortSignal: signal,
  }
}

function formatOf(output: Output): object {
  if (output.kind === 'json') return { type: 'json' }
  const { schema, name, description } = output
  return {
    type: 'json',
    schema,
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
  }
}

function choiceOf(choice: NonNullable<Conversation['toolChoice']>): object {
  if (typeof choice === 'object') return { type: 'tool', toolName: choice.name }
  return { type: choice === 'any' ? 'required' : choice }
}

/** A budget of tokens becomes the effort that is nearest to it. */
function effortOf(reasoning: Reasoning | undefined): string | undefined {
  const { mode, effort, budget } = reasoning ?? {}
  if (mode === 'off') return 'none'
  if (effort !== undefined || budget === undefined) return effort
  return budget >= 10_000 ? 'high' : budget >= 5_000 ? 'medium' : budget >= 2_000 ? 'low' : 'minimal'
}
