/**
 * The values of a chat request that are certainly valid, so that they need no schema: what nearly all requests consist of.
 * The schema decides on all others, and accepts each of these.
 */
type Test = (value: unknown) => boolean

const isText: Test = (value) => typeof value === 'string'
const isFlag: Test = (value) => typeof value === 'boolean'
const isBetween =
  (least: number, most: number): Test =>
  (value) =>
    typeof value === 'number' && value >= least && value <= most
const isInteger =
  (least: number, most: number): Test =>
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
const orNull =
  (test: Test): Test =>
  (value) =>
    value === null || test(value)

/** By field. */
export const plainFields: ReadonlyMap<string, Test> = new Map([
  ['model', (value: unknown) => typeof value === 'string' && value !== ''],
  ['messages', areMessages],
  ['stream', orNull(isFlag)],
  ['stream_options', orNull(isStreamOptions)],
  ['temperature', orNull(isBetween(0, 2))],
  ['top_p', orNull(isBetween(0, 1))],
  ['frequency_penalty', orNull(isBetween(-2, 2))],
  ['presence_penalty', orNull(isBetween(-2, 2))],
  ['max_tokens', orNull(isInteger(1, Infinity))],
  ['max_completion_tokens', orNull(isInteger(1, Infinity))],
  ['n', orNull(isInteger(1, 128))],
  ['stop', orNull(isText)],
  ['seed', orNull(isInteger(-Infinity, Infinity))],
  ['parallel_tool_calls', orNull(isFlag)],
  ['logprobs', orNull(isFlag)],
  ['top_logprobs', orNull(isInteger(0, 20))],
  ['reasoning_effort', orNull(isText)],
  ['user', orNull(isText)],
])

type Fields = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isStreamOptions(value: unknown): boolean {
  return isObject(value) && isOptional(value['include_usage'], isFlag)
}

function areMessages(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && all(value, isMessage)
}

function isMessage(value: unknown): boolean {
  if (!isObject(value)) return false
  const { role, content, name, tool_call_id: id, tool_calls: calls } = value
  return (
    hasContent(role, content) &&
    isOptional(name, isText) &&
    isOptional(id, isText) &&
    (calls === undefined || calls === null || (Array.isArray(calls) && all(calls, isToolCall)))
  )
}

function hasContent(role: unknown, content: unknown): boolean {
  switch (role) {
    case 'assistant':
      return content === undefined || content === null || isContent(content)
    case 'user':
    case 'system':
    case 'tool':
    case 'developer':
    case 'function':
      return isContent(content)
    default:
      return false
  }
}

function isContent(value: unknown): boolean {
  return typeof value === 'string' || (Array.isArray(value) && all(value, isPart))
}

function isPart(value: unknown): boolean {
  if (!isObject(value)) return false
  const { type, text, image_url: image } = value
  if (type === 'text') return typeof text === 'string'
  if (type === 'image_url') return isObject(image) && typeof image['url'] === 'string'
  return typeof type === 'string'
}

function isToolCall(value: unknown): boolean {
  return isObject(value) && typeof value['type'] === 'string' && typeof value['id'] === 'string'
}

/** Unlike `every`, tests the holes of a list too. */
function all(values: readonly unknown[], test: Test): boolean {
  for (let index = 0; index < values.length; index++) if (!test(values[index])) return false
  return true
}

function isOptional(value: unknown, test: Test): boolean {
  return value === undefined || test(value)
}
