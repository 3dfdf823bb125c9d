/** The values of a request for a message that are certainly valid; see `chat/plain.ts`. */
type Test = (value: unknown) => boolean
type Fields = Readonly<Record<string, unknown>>

const isText: Test = (value) => typeof value === 'string'
const isFlag: Test = (value) => typeof value === 'boolean'
const isShare: Test = (value) => typeof value === 'number' && value >= 0 && value <= 1
const isCount: Test = (value) => Number.isSafeInteger(value) && (value as number) >= 0

const orNull =
  (test: Test): Test =>
  (value) =>
    value === null || test(value)

const listOf =
  (test: Test): Test =>
  (value) => {
    if (!Array.isArray(value)) return false
    // Unlike `every`, tests the holes of a list too.
    for (let index = 0; index < value.length; index++) if (!test(value[index])) return false
    return true
  }

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const isTyped: Test = (value) => isObject(value) && typeof value['type'] === 'string'
const areTyped = listOf(isTyped)
const isContent: Test = (value) => typeof value === 'string' || areTyped(value)

const isMessage: Test = (value) => {
  if (!isObject(value)) return false
  const { role, content } = value
  return (role === 'user' || role === 'assistant' || role === 'system') && isContent(content)
}

const isTool: Test = (value) => {
  if (!isObject(value)) return false
  const { type, name, input_schema: schema } = value
  return (
    (type === undefined || type === null || typeof type === 'string') &&
    (name === undefined || (typeof name === 'string' && name !== '')) &&
    (schema === undefined || isObject(schema))
  )
}

const areMessages = listOf(isMessage)

/** By field. */
export const plainFields: ReadonlyMap<string, Test> = new Map([
  ['model', (value: unknown) => typeof value === 'string' && value !== ''],
  ['max_tokens', isCount],
  ['messages', (value: unknown) => areMessages(value) && (value as readonly unknown[]).length > 0],
  ['system', orNull(isContent)],
  ['stream', orNull(isFlag)],
  ['temperature', orNull(isShare)],
  ['top_p', orNull(isShare)],
  ['top_k', orNull(isCount)],
  ['stop_sequences', orNull(listOf(isText))],
  ['tools', orNull(listOf(isTool))],
  ['tool_choice', orNull(isTyped)],
  ['thinking', orNull(isTyped)],
  ['metadata', orNull((value) => isObject(value) && (value['user_id'] === undefined || isText(value['user_id'])))],
])
