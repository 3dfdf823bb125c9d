/** Validates responses, events and errors against OpenAI's published OpenAPI document. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { sharedJson } from './shared.ts'

const validators = new Map<string, ValidateFunction>()
let ajv: Ajv2020 | undefined

/**
 * The faults of a value by a schema of the document, such as `CreateChatCompletionResponse`; empty when there are none.
 * Needs the data of `shared.ts`.
 */
export function faults(schema: string, value: unknown): string[] {
  let validate = validators.get(schema)
  if (validate === undefined) {
    validators.set(schema, (validate = load().compile({ $ref: `spec#/components/schemas/${schema}` })))
  }
  if (validate(value)) return []
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    return `${schema}${instancePath} ${message ?? ''} ${JSON.stringify(params)}`
  })
}

function load(): Ajv2020 {
  if (ajv !== undefined) return ajv
  ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false, logger: false })
  ajv.addSchema(translated(sharedJson('openai/openapi.json')) as object, 'spec')
  return ajv
}

/** Translates OpenAPI's `nullable` and `discriminator`, which are not part of JSON Schema. */
function translated(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(translated)
  if (typeof node !== 'object' || node === null) return node
  const { nullable, discriminator: _, ...rest } = node as Record<string, unknown>
  const whole = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, translated(value)]))
  // Not in the document: vendors without a fingerprint send null, and clients that require the field accept it.
  const { system_fingerprint: fingerprint } = (whole['properties'] ?? {}) as { system_fingerprint?: { type: unknown } }
  if (fingerprint !== undefined) fingerprint.type = ['string', 'null']
  if (nullable !== true) return whole
  if (typeof whole['type'] !== 'string' || '$ref' in whole) return { anyOf: [whole, { type: 'null' }] }
  whole['type'] = [whole['type'], 'null']
  if (Array.isArray(whole['enum'])) whole['enum'] = [...whole['enum'], null]
  return whole
}
