/** Translates Google's errors, `{ code, message, status, details }`. Source: google.rpc.Status and ErrorInfo. */
import { entryIn, fieldsOf, itemsOf, textOf } from '../../wire/json.ts'
import { messageOf, type FaultReader, type Faults, type VendorFault } from '../vendor-error.ts'

/** The path of each field that Google's errors name. */
const fields: Readonly<Record<string, string>> = {
  contents: 'contents',
  system_instruction: 'systemInstruction',
  tools: 'tools',
  function_declarations: 'tools',
  tool_config: 'toolConfig',
  max_output_tokens: 'generationConfig.maxOutputTokens',
  temperature: 'generationConfig.temperature',
  top_p: 'generationConfig.topP',
  top_k: 'generationConfig.topK',
  candidate_count: 'generationConfig.candidateCount',
  stop_sequences: 'generationConfig.stopSequences',
  response_json_schema: 'generationConfig.responseJsonSchema',
  response_schema: 'generationConfig.responseSchema',
  logprobs: 'generationConfig.logprobs',
  seed: 'generationConfig.seed',
  thinking_config: 'generationConfig.thinkingConfig',
}

/** The same for the Interactions API. */
const interactionFields: Readonly<Record<string, string>> = {
  input: 'input',
  system_instruction: 'system_instruction',
  tools: 'tools',
  tool_choice: 'generation_config.tool_choice',
  max_output_tokens: 'generation_config.max_output_tokens',
  temperature: 'generation_config.temperature',
  top_p: 'generation_config.top_p',
  seed: 'generation_config.seed',
  stop_sequences: 'generation_config.stop_sequences',
  thinking_level: 'generation_config.thinking_level',
  response_format: 'response_format',
  service_tier: 'service_tier',
}

const maxWaitMs = 300_000

export const readFault: FaultReader = (fault) => faultWith(fault, fields)

export const readInteractionFault: FaultReader = (fault) => faultWith(fault, interactionFields)

export const contentFaults: Faults = { statusOf, read: readFault }
export const interactionFaults: Faults = { statusOf, read: readInteractionFault }

function faultWith(fault: VendorFault, paths: Readonly<Record<string, string>>): VendorFault {
  const { status, details } = fieldsOf(fault.error)
  const list = itemsOf(details).map(fieldsOf)
  const text = messageOf(fault.error)
  const waitMs = list.map(({ retryDelay }) => waitOf(retryDelay)).find((wait) => wait !== undefined) ?? fault.waitMs
  const reason = list.map((each) => each['reason']).find((each) => typeof each === 'string')
  return { ...fault, waitMs, error: { code: codeOf(status, reason, text), param: paramOf(text, paths) } }
}

/** The status of an error inside a stream. */
export function statusOf(error: unknown): number {
  const { code } = fieldsOf(error)
  return typeof code === 'number' && code >= 400 && code < 600 ? code : 503
}

/** Google responds with a 400 even to an invalid key, or to an account without access to the API. */
function codeOf(status: unknown, reason: unknown, message: string): string | undefined {
  if (reason === 'API_KEY_INVALID' || /api key not valid|api key expired/i.test(message)) return 'invalid_api_key'
  if (status === 'FAILED_PRECONDITION') return 'access_terminated'
  if (/token count .*exceeds|exceeds the maximum number of tokens/i.test(message)) return 'context_length_exceeded'
  return undefined
}

/** Parses `34.4s` to milliseconds. */
function waitOf(delay: unknown): number | undefined {
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(textOf(delay))?.[1]
  return seconds === undefined ? undefined : Math.min(Math.max(Math.ceil(Number(seconds) * 1000), 1), maxWaitMs)
}

function paramOf(message: string, paths: Readonly<Record<string, string>>): string | undefined {
  // Matches a path such as `* GenerateContentRequest.contents[0].parts: …`, or a name that cannot be an English word.
  for (const [, before, word = '', after] of message.matchAll(/(\.?)\b([a-z_]+)\b([.[:]?)/g)) {
    const named = word.includes('_') || before !== '' || after !== ''
    const field = named ? entryIn(paths, word) : undefined
    if (field !== undefined) return field
  }
  return undefined
}
