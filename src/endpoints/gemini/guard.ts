/**
 * What in a request changes the cost or reaches the host's account. Refused, or left out where an answer makes sense without
 * it, unless the options of the model allow it.
 */
import { type GatewayError, refusedField } from '../../errors.ts'
import { camelFields } from '../../formats/gemini/fields.ts'
import type { Model } from '../../models/contract.ts'
import { allows } from '../../models/cost-guard.ts'
import { isRecord, type Fields } from '../../wire/json.ts'

/** The fields that a vendor gets. */
const passed: ReadonlySet<string> = new Set([
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
  'safetySettings',
  'serviceTier',
  'labels',
  'cachedContent',
])

/** In the path, and not in the body. */
const inPath: ReadonlySet<string> = new Set(['model', 'stream'])

/** Throws 400 for a cached conversation, or a file, of the host's account. */
export function checkContent(field: (name: string) => unknown, model: Model): void {
  if ((field('cachedContent') ?? field('cached_content')) && !allows(model, 'cached_content'))
    throw refusal('cachedContent', model)
  if (allows(model, 'files')) return
  const place = fileIn(field('contents'), 'contents') ?? fileIn(field('systemInstruction'), 'systemInstruction')
  if (place !== undefined) throw refusal(place, model)
}

function refusal(param: string, model: Model): GatewayError {
  return refusedField(
    `The model "${model.id}" does not allow "${param}", because it may reach the operator's account. Remove it.`,
    param,
  )
}

/** Files in a Google account: what was uploaded, and what is in its storage. */
const hosts =
  /^(?:gs:|https:\/\/(?:generativelanguage|storage)\.googleapis\.com\/|https:\/\/storage\.cloud\.google\.com\/|(?:v1beta\/)?files\/)/i

/** Where content refers to such a file. */
function fileIn(value: unknown, place: string): string | undefined {
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) {
      const found = fileIn(each, `${place}[${index}]`)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (!isRecord(value)) return undefined
  for (const [name, member] of Object.entries(value)) {
    if (ofTools.has(name)) continue
    const at = `${place}.${name}`
    if (isFileUri.test(name) && typeof member === 'string' && hosts.test(member.trim())) return at
    const found = fileIn(member, at)
    if (found !== undefined) return found
  }
  return undefined
}

const isFileUri = /^file_?uri$/i
/** Members with data of the client's own tools. */
const ofTools: ReadonlySet<string> = new Set(['args', 'response'])

/**
 * The changes to a request: tools that run at the vendor and fields that it should not get are left out. `omitted` is called
 * with the name of each. `fixed`: fields that the host sets.
 */
export function costChanges(
  request: Fields,
  fixed: Fields,
  model: Model,
  omitted: (name: string) => void,
): Record<string, unknown> {
  const changes: Record<string, unknown> = {}
  for (const name of Object.keys(request)) {
    const [plain = name] = Object.keys(camelFields({ [name]: 0 }))
    if (passed.has(plain) || Object.hasOwn(fixed, name) || allows(model, name)) continue
    changes[name] = undefined
    if (!inPath.has(name)) omitted(name)
  }
  const { tools } = request
  if (!Array.isArray(tools)) return changes
  const kept = tools.flatMap((tool: unknown) => keptOf(tool, model, omitted))
  // Without any tool, a model makes up what a tool would have found.
  if (kept.length === 0 && tools.length > 0) throw refusedTools(tools, model)
  if (kept.length < tools.length || kept.some((tool, index) => tool !== tools[index])) changes['tools'] = kept
  return changes
}

function refusedTools([first]: readonly unknown[], model: Model): GatewayError {
  const name = `tools[0].${Object.keys(Object(first) as object)[0]}`
  const message = `The model "${model.id}" does not allow "${name}", because it may change the cost. Remove it.`
  return refusedField(message, name)
}

/** A tool without what runs at the vendor; nothing if that is all of it. */
function keptOf(tool: unknown, model: Model, omitted: (name: string) => void): unknown[] {
  if (!isRecord(tool)) return [tool]
  const names = Object.keys(tool)
  const kept = names.filter((name) => isFunctions.test(name) || namesOf(name).some((each) => allows(model, each)))
  if (kept.length === names.length) return [tool]
  for (const name of names) if (!kept.includes(name)) omitted(snakeName(name))
  return kept.length === 0 ? [] : [Object.fromEntries(kept.map((name) => [name, tool[name]]))]
}

const isFunctions = /^function_?declarations$/i

/** What else permits a tool: the names that it has for models of other vendors, see `withHostedTools`. */
const sharedNames: Readonly<Record<string, readonly string[]>> = {
  google_search: ['web_search'],
  url_context: ['web_fetch'],
  code_execution: ['code_interpreter'],
}

function namesOf(tool: string): readonly string[] {
  const name = snakeName(tool)
  return [tool, name, ...(sharedNames[name] ?? [])]
}

/** Options allow tools under the names that other vendors use, such as `google_search`. */
function snakeName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
