/** The settings of a conversation as the options of an AI SDK language model, and what it cannot do of them. */
import type { Conversation, FunctionTool, Output, Reasoning, Settings } from '../../../src/conversation/conversation.ts'
import { effortForBudget } from '../../../src/formats/reasoning.ts'
import { noParameters } from '../../../src/formats/tools.ts'
import type { Call } from '../../../src/providers/contract.ts'
import { unsupported, type NamedCall } from '../../../src/providers/unsupported.ts'
import { fieldsOf, itemsOf } from '../../../src/wire/json.ts'
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
  for (const warning of itemsOf(warnings)) {
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
  const functions = tools.filter((tool) => tool.kind === 'function')
  const hasFunctions = functions.length > 0
  return {
    temperature,
    topP,
    topK,
    presencePenalty,
    frequencyPenalty,
    seed,
    maxOutputTokens: settings.max ?? maxOutputTokens,
    stopSequences: stops.length > 0 ? stops : undefined,
    reasoning: effortOf(settings.reasoning),
    responseFormat: output && formatOf(output),
    tools: hasFunctions ? functions.map(toolOf) : undefined,
    toolChoice: hasFunctions && toolChoice !== undefined ? choiceOf(toolChoice) : undefined,
    providerOptions,
    headers,
    abortSignal: signal,
  }
}

function toolOf({ name, description, schema = noParameters, strict }: FunctionTool): object {
  return { type: 'function', name, description, inputSchema: schema, strict }
}

function formatOf(output: Output): object {
  if (output.kind === 'json') return { type: 'json' }
  const { schema, name, description } = output
  return { type: 'json', schema, name, description }
}

function choiceOf(choice: NonNullable<Conversation['toolChoice']>): object {
  if (typeof choice === 'object') return { type: 'tool', toolName: choice.name }
  return { type: choice === 'any' ? 'required' : choice }
}

/** A budget of tokens becomes the effort that is nearest to it. */
function effortOf(reasoning: Reasoning | undefined): string | undefined {
  const { mode, effort, budget } = reasoning ?? {}
  if (mode === 'off') return 'none'
  return effort ?? (budget === undefined ? undefined : effortForBudget(budget))
}
