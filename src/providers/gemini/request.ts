/** Translates a chat request to the body of generateContent. Source: the Gemini API reference, v1beta. */
import type { Call } from '../contract.ts'
import type { ChatRequest } from '../../wire/chat.ts'
import { readTurns, type PastCall, type Turn } from '../reading/messages.ts'
import { jsonTurn, readEffort, readFormat, readLimit, readStops, type Format } from '../reading/settings.ts'
import { answerToolName, isForced, readTools, type FunctionTool, type ToolPlan } from '../reading/tools.ts'
import { refuseFields, unsupportedValue } from '../unsupported.ts'
import { conversationOf, hasSignatures } from './contents.ts'
import { traitsOf, type GeminiTraits } from './models.ts'
import { FunctionNames } from './names.ts'
import { answerSchema, parametersSchema } from './schema.ts'
import { thinkingFor } from './thinking.ts'

export interface RequestOptions {
  /** Corrections of the built-in table of models, keyed by the vendor's name for the model. Default: none. */
  readonly traits?: Readonly<Record<string, Partial<GeminiTraits>>>
  /** Fields without a counterpart at the vendor to drop instead of rejecting, such as `['logit_bias']`. Default: none. */
  readonly dropParams?: readonly string[]
}

export type ChatCall = Pick<Call<ChatRequest>, 'request' | 'model' | 'publicModel' | 'maxOutputTokens'>

export interface GenerateRequest {
  readonly body: Readonly<Record<string, unknown>>
  /** Whether it contains signatures of earlier responses. */
  readonly hasSignatures: boolean
  /** The function whose arguments are the structured response, if there is one. */
  readonly answerTool: string | undefined
  /** True if only the first tool call of the response is passed on. */
  readonly single: boolean
  readonly names: FunctionNames
}

const unknownToVendor = [
  'logit_bias',
  'audio',
  'verbosity',
  'web_search_options',
  'moderation',
  'functions',
  'function_call',
]

/** `keepsSignatures`: whether to send the signatures of earlier responses back. */
export function requestFor(call: ChatCall, options: RequestOptions, keepsSignatures: boolean = true): GenerateRequest {
  const { request, model } = call
  refuseFields(call, unknownToVendor, options.dropParams)
  const traits = { ...traitsOf(model), ...options.traits?.[model] }
  const format = readFormat(call)
  const plan = readTools(call)
  const turns = readTurns(request.messages)
  // Older models reject a response format together with tools; newer ones only if a tool call is forced.
  const exclusive = plan.tools.length > 0 && (!traits.schemaBesideTools || isForced(plan))
  const replacement = exclusive && format.kind === 'schema' ? answerTool(plan, format) : undefined
  if (exclusive && format.kind === 'json') turns.push(jsonTurn)
  const { tools, mode } = replacement ?? { tools: plan.tools, mode: modeOf(plan) }
  const names = new FunctionNames([...tools, ...turns.flatMap(callsIn)].map(({ name }) => name))
  const config = {
    ...samplingOf(request),
    ...limitsOf(call),
    ...(!exclusive && formatOf(format)),
    ...modalitiesOf(call, options.dropParams),
    ...thinkingOf(call, traits),
  }
  const conversation = conversationOf(turns, call, traits, names, keepsSignatures)
  return {
    answerTool: replacement?.name,
    single: plan.single,
    names,
    hasSignatures: hasSignatures(conversation),
    body: {
      ...conversation,
      ...(tools.length > 0 && { tools: [{ functionDeclarations: tools.map((tool) => declarationOf(tool, names)) }] }),
      ...(mode !== undefined && { toolConfig: { functionCallingConfig: translateNames(mode, names) } }),
      ...(Object.keys(config).length > 0 && { generationConfig: config }),
      ...(Array.isArray(request['safety_settings']) && { safetySettings: request['safety_settings'] }),
      ...tierOf(call),
    },
  }
}

/** The vendor's service tiers have the same names as OpenAI's. */
function tierOf(call: ChatCall): { serviceTier?: string } {
  const tier = call.request['service_tier'] ?? call.request['serviceTier']
  if (tier === undefined || tier === null || tier === 'auto' || tier === 'default') return {}
  if (tier === 'flex' || tier === 'priority' || tier === 'standard') return { serviceTier: tier }
  throw unsupportedValue(call, 'service_tier', 'it must be "auto", "default", "standard", "flex" or "priority".')
}

function answerTool(plan: ToolPlan, format: Extract<Format, { kind: 'schema' }>) {
  const name = answerToolName(plan, format.name)
  const { use } = plan
  const only = use?.mode === 'named' ? use.name : use?.mode === 'none' ? name : undefined
  const description = format.description ?? 'Gives the final answer. Always answer by calling this function.'
  return {
    name,
    tools: [...plan.tools, { name, description, schema: format.schema, raw: {} }],
    mode: { mode: 'ANY', ...(only !== undefined && { allowedFunctionNames: [only] }) },
  }
}

function callsIn(turn: Turn): readonly PastCall[] {
  return turn.role === 'assistant' ? turn.calls : []
}

function declarationOf({ name, description, schema }: FunctionTool, names: FunctionNames) {
  const parameters = schema && parametersSchema(schema)
  return {
    name: names.toVendor(name),
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { parametersJsonSchema: parameters }),
  }
}

interface CallingMode {
  readonly mode: string
  readonly allowedFunctionNames?: readonly string[]
}

function translateNames(mode: CallingMode, names: FunctionNames): CallingMode {
  const { allowedFunctionNames: only } = mode
  return only === undefined ? mode : { ...mode, allowedFunctionNames: only.map((name) => names.toVendor(name)) }
}

function modeOf({ tools, use }: ToolPlan): CallingMode | undefined {
  if (use?.mode === 'none') return { mode: 'NONE' }
  if (use?.mode === 'required') return { mode: 'ANY' }
  if (use?.mode === 'named') return { mode: 'ANY', allowedFunctionNames: [use.name] }
  if (tools.some(({ strict }) => strict === true)) return { mode: 'VALIDATED' }
  return use === undefined ? undefined : { mode: 'AUTO' }
}

function samplingOf(request: ChatRequest) {
  const {
    temperature,
    top_p: topP,
    presence_penalty: presence,
    frequency_penalty: frequency,
    seed,
    top_k: topK,
  } = request
  const numbers = { temperature, topP, topK, presencePenalty: presence, frequencyPenalty: frequency }
  const given = Object.fromEntries(Object.entries(numbers).filter(([, value]) => typeof value === 'number'))
  // The vendor's seeds are 32-bit integers.
  return typeof seed === 'number' ? { ...given, seed: seed % 2 ** 31 } : given
}

function limitsOf(call: ChatCall) {
  const { request } = call
  const limit = readLimit(request) ?? call.maxOutputTokens
  const stops = readStops(request)
  const { n, logprobs, top_logprobs: top } = request
  return {
    ...(limit !== undefined && { maxOutputTokens: limit }),
    ...(stops.length > 0 && { stopSequences: stops }),
    ...(typeof n === 'number' && n > 1 && { candidateCount: n }),
    ...(logprobs === true && { responseLogprobs: true, ...(typeof top === 'number' && top > 0 && { logprobs: top }) }),
  }
}

function formatOf(format: Format) {
  if (format.kind === 'text') return {}
  const schema = format.kind === 'schema' ? { responseJsonSchema: answerSchema(format.schema) } : {}
  return { responseMimeType: 'application/json', ...schema }
}

/** Image output, which some models support. */
function modalitiesOf(call: ChatCall, ignored: readonly string[] = []) {
  const { modalities } = call.request
  if (!Array.isArray(modalities) || ignored.includes('modalities')) return {}
  if (modalities.every((each) => each === 'text')) return {}
  if (modalities.every((each) => each === 'text' || each === 'image')) {
    return { responseModalities: modalities.map((each: string) => each.toUpperCase()) }
  }
  throw unsupportedValue(call, 'modalities', 'it may contain only "text" and "image".')
}

function thinkingOf(call: ChatCall, traits: GeminiTraits): Readonly<Record<string, unknown>> {
  const effort = readEffort(call.request)
  if (effort === undefined) return {}
  const config = thinkingFor(effort, traits)
  if (config === undefined) throw unsupportedValue(call, 'reasoning_effort', 'it has no reasoning; omit the field.')
  return config
}
