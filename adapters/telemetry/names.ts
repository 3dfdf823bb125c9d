/**
 * Every name that traces and metrics use. Those that begin with `gen_ai` are from OpenTelemetry's semantic conventions for
 * generative AI, whose status is "Development": if they change, only this file does.
 */
import type { AttemptStep } from '../../src/index.ts'

/** Attributes of metrics and spans. */
export const attributes = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  tokenType: 'gen_ai.token.type',
  errorType: 'error.type',
  currency: 'modelhatch.currency',
  event: 'modelhatch.event',
  state: 'modelhatch.state',
  store: 'modelhatch.store',
  queue: 'modelhatch.queue',
  part: 'modelhatch.part',
  serverAddress: 'server.address',
  serverPort: 'server.port',
} as const

/** Attributes of spans alone. */
export const spanAttributes = {
  conversation: 'gen_ai.conversation.id',
  outputType: 'gen_ai.output.type',
  stream: 'gen_ai.request.stream',
  choices: 'gen_ai.request.choice.count',
  firstChunk: 'gen_ai.response.time_to_first_chunk',
  responseId: 'gen_ai.response.id',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheRead: 'gen_ai.usage.cache_read.input_tokens',
  cacheCreation: 'gen_ai.usage.cache_creation.input_tokens',
  reasoning: 'gen_ai.usage.reasoning.output_tokens',
  inputMessages: 'gen_ai.input.messages',
  systemInstructions: 'gen_ai.system_instructions',
  toolDefinitions: 'gen_ai.tool.definitions',
  status: 'http.response.status_code',
  request: 'modelhatch.request.id',
  outcome: 'modelhatch.outcome',
  attempts: 'modelhatch.attempts',
  skipped: 'modelhatch.skipped',
  cost: 'modelhatch.cost',
  vendorCost: 'modelhatch.vendor_cost',
  margin: 'modelhatch.margin',
  task: 'modelhatch.task.id',
  account: 'modelhatch.account',
  key: 'modelhatch.key',
  user: 'modelhatch.user',
} as const

/** Fields of a request that are attributes of the span of an attempt, if they are numbers. */
export const requestNumbers: Readonly<Record<string, string>> = {
  temperature: 'gen_ai.request.temperature',
  top_p: 'gen_ai.request.top_p',
  top_k: 'gen_ai.request.top_k',
  max_tokens: 'gen_ai.request.max_tokens',
  max_completion_tokens: 'gen_ai.request.max_tokens',
  max_output_tokens: 'gen_ai.request.max_tokens',
  seed: 'gen_ai.request.seed',
  frequency_penalty: 'gen_ai.request.frequency_penalty',
  presence_penalty: 'gen_ai.request.presence_penalty',
}

/** A metric: its name, kind and unit by OpenTelemetry, and the attributes that each of its values has. */
export interface MetricName {
  readonly name: string
  readonly kind: 'histogram' | 'counter' | 'gauge'
  /** By the Unified Code for Units of Measure; things that are counted in braces. */
  readonly unit: string
  readonly description: string
  /** The attributes, which are labels in Prometheus. */
  readonly labels: readonly string[]
  /** Upper bounds of the buckets of a histogram. */
  readonly buckets?: readonly number[]
}

const durations = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const tokenCounts = Array.from({ length: 14 }, (_, power) => 4 ** power)
const firstToken = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
const perToken = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5]

const { operation, provider, requestModel, errorType } = attributes
const ofModel = [operation, provider, requestModel] as const

/** A metric whose value is read when it is collected. */
export type Gauge = 'openCalls' | 'holds' | 'breakerState' | 'queue'

/** A histogram or counter. */
export type Recorded =
  | 'clientDuration'
  | 'clientTokens'
  | 'clientFirstChunk'
  | 'clientPerChunk'
  | 'serverDuration'
  | 'serverFirstToken'
  | 'serverPerToken'
  | 'cost'
  | 'vendorCost'
  | 'unrated'
  | 'tasks'
  | 'breakerChanges'
  | 'storeFailures'
  | 'dropped'

/** Every metric, by the name it has in this library. */
export const metricNames: Readonly<Record<Gauge | Recorded, MetricName>> = {
  clientDuration: {
    name: 'gen_ai.client.operation.duration',
    kind: 'histogram',
    unit: 's',
    description: 'Duration of each attempt at a vendor, until the end of its response.',
    labels: [...ofModel, errorType],
    buckets: durations,
  },
  clientTokens: {
    name: 'gen_ai.client.token.usage',
    kind: 'histogram',
    unit: '{token}',
    description: 'Input and output tokens of each response of a vendor.',
    labels: [...ofModel, attributes.tokenType],
    buckets: tokenCounts,
  },
  clientFirstChunk: {
    name: 'gen_ai.client.operation.time_to_first_chunk',
    kind: 'histogram',
    unit: 's',
    description: 'Time from the start of an attempt to the first content of a streamed response.',
    labels: ofModel,
    buckets: durations,
  },
  clientPerChunk: {
    name: 'gen_ai.client.operation.time_per_output_chunk',
    kind: 'histogram',
    unit: 's',
    description: 'Time between two pieces of a streamed response; what arrives together is one piece.',
    labels: ofModel,
    buckets: durations,
  },
  serverDuration: {
    name: 'gen_ai.server.request.duration',
    kind: 'histogram',
    unit: 's',
    description: 'Duration of each request, as the client sees it.',
    labels: [...ofModel, errorType],
    buckets: durations,
  },
  serverFirstToken: {
    name: 'gen_ai.server.time_to_first_token',
    kind: 'histogram',
    unit: 's',
    description: 'Time from the arrival of a request to the first content of its streamed response.',
    labels: ofModel,
    buckets: firstToken,
  },
  serverPerToken: {
    name: 'gen_ai.server.time_per_output_token',
    kind: 'histogram',
    unit: 's',
    description: 'Time per output token of a streamed response, after the first.',
    labels: ofModel,
    buckets: perToken,
  },
  cost: {
    name: 'modelhatch.cost',
    kind: 'counter',
    unit: '{millionth}',
    description: 'What accounts were charged, in millionths of the currency.',
    labels: [requestModel, attributes.currency],
  },
  vendorCost: {
    name: 'modelhatch.vendor_cost',
    kind: 'counter',
    unit: '{millionth}',
    description:
      'What requests cost the host at vendors, in millionths of the currency, by the provider of the last attempt.',
    labels: [provider, requestModel, attributes.currency],
  },
  unrated: {
    name: 'modelhatch.usage.unrated',
    kind: 'counter',
    unit: '{call}',
    description: 'Calls for which a vendor counted what the price has no rate of its own for.',
    labels: [requestModel, attributes.part],
  },
  openCalls: {
    name: 'modelhatch.calls.open',
    kind: 'gauge',
    unit: '{call}',
    description: 'Requests that wait for a model, or whose response is being sent.',
    labels: [],
  },
  holds: {
    name: 'modelhatch.holds',
    kind: 'gauge',
    unit: '{hold}',
    description: 'Open requests of this process that hold money in the ledger.',
    labels: [],
  },
  tasks: {
    name: 'modelhatch.tasks',
    kind: 'counter',
    unit: '{event}',
    description: 'Video tasks that were created, have ended, or need attention.',
    labels: [attributes.event, requestModel],
  },
  breakerState: {
    name: 'modelhatch.breaker.state',
    kind: 'gauge',
    unit: '{state}',
    description: 'The breaker of a deployment that has failed: 0 closed, 1 half-open, 2 open.',
    labels: [provider, requestModel],
  },
  breakerChanges: {
    name: 'modelhatch.breaker.changes',
    kind: 'counter',
    unit: '{change}',
    description: 'Changes of the breaker of a deployment, by its new state.',
    labels: [provider, requestModel, attributes.state],
  },
  storeFailures: {
    name: 'modelhatch.store.failures',
    kind: 'counter',
    unit: '{failure}',
    description: 'Calls to a store that failed or timed out.',
    labels: [attributes.store],
  },
  queue: {
    name: 'modelhatch.queue.size',
    kind: 'gauge',
    unit: '{item}',
    description: 'Items that a store has not accepted yet.',
    labels: [attributes.queue],
  },
  dropped: {
    name: 'modelhatch.dropped',
    kind: 'counter',
    unit: '{item}',
    description: 'Items that were dropped because their queue was full or the gateway was closed.',
    labels: [attributes.queue],
  },
}

/** The operations of the endpoints. Those without a name of their own keep that of the endpoint. */
const operations: Readonly<Record<string, string>> = {
  'chat.completions': 'chat',
  messages: 'chat',
  responses: 'chat',
  'content.generate': 'generate_content',
  'content.stream': 'generate_content',
  completions: 'text_completion',
  'images.generations': 'image_generation',
  'images.edits': 'image_edit',
  'images.variations': 'image_variation',
  decisions: 'decision',
  'audio.speech': 'speech',
  'audio.transcriptions': 'transcription',
  'audio.translations': 'speech_translation',
  'videos.create': 'video_generation',
  'videos.generations.create': 'video_generation',
  moderations: 'moderation',
}

const steps: Readonly<Record<Exclude<AttemptStep, 'call'>, string>> = {
  submit: 'video_generation',
  check: 'video_check',
  lookup: 'video_lookup',
  cancel: 'video_cancel',
}

/** The label for a value that is not in its closed set. */
export const other = '_OTHER'

/** The operation of a request, by its endpoint. */
export function operationOf(endpoint: string | undefined): string {
  return endpoint === undefined ? other : (operations[endpoint] ?? endpoint)
}

/** The operation of an attempt. */
export function operationAt(endpoint: string, step: AttemptStep): string {
  return step === 'call' ? operationOf(endpoint) : steps[step]
}

/** The vendors that the conventions call by another name. */
const providers: Readonly<Record<string, string>> = {
  azure: 'azure.ai.openai',
  gemini: 'gcp.gemini',
  mistral: 'mistral_ai',
  moonshot: 'moonshot_ai',
  xai: 'x_ai',
}

/** The vendor's name by the conventions. `modelhatch` for a request that reached no vendor. */
export function providerOf(name: string | undefined): string {
  return name === undefined ? 'modelhatch' : (providers[name] ?? name)
}
