/** Bodies of the wires as plain JSON: compared, extended, and added up from events, without the code that is tested. */

import { parseJson } from '../../src/conversation/json.ts'

/** A value of JSON, untyped: the wires are the types here. */
// oxlint-disable-next-line typescript/no-explicit-any -- see above
export type Json = any

/** The places at which two bodies differ, with what stands there. */
export function differences(before: Json, after: Json, place: string = ''): string[] {
  const [a, b] = [before, after].map((value) => JSON.stringify(value))
  if (a === b) return []
  if (!isNode(before) || !isNode(after) || Array.isArray(before) !== Array.isArray(after))
    return [`${place.slice(1)}: ${String(a).slice(0, 120)} became ${String(b).slice(0, 120)}`]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) => differences(before[name], after[name], `${place}.${name}`))
}

/** The body without what says nothing: null, empty texts, lists and objects. In lists, nothing is left out. */
export function withoutEmpty(value: Json): Json {
  if (!isNode(value)) return value
  if (Array.isArray(value)) return value.map(withoutEmpty)
  const fields = Object.entries(value).map(([name, each]) => [name, withoutEmpty(each)])
  return Object.fromEntries(fields.filter(([, each]) => !isEmpty(each)))
}

function isEmpty(value: Json): boolean {
  return value === null || value === undefined || value === '' || (isNode(value) && Object.keys(value).length === 0)
}

/** The body with a field that nobody knows in each object at these paths, in which `*` is every entry of a list. */
export function withFurther(body: Json, paths: readonly string[]): Json {
  const copy = copyOf(body)
  for (const path of paths)
    for (const node of nodesAt([copy], path === '' ? [] : path.split('.'))) node.furtherField = 7.5
  return copy
}

function nodesAt(nodes: readonly Json[], [name, ...rest]: readonly string[]): Json[] {
  const found = nodes.filter((node) => isNode(node) && !Array.isArray(node))
  if (name === undefined) return found
  const all = nodes.filter(isNode)
  return nodesAt(name === '*' ? all.flatMap((node) => Object.values(node)) : all.map((node) => node[name]), rest)
}

export function isNode(value: Json): boolean {
  return typeof value === 'object' && value !== null && !JSON.isRawJSON(value)
}

/** A chat in its chunks. */
export function chatIn(chunks: readonly Json[]): Json {
  let whole: Json = {}
  for (const chunk of chunks) {
    const { choices = [], ...head } = chunk
    whole = { ...whole, ...withoutEmpty(head), choices: grown(whole.choices ?? [], choices) }
  }
  for (const choice of whole.choices) {
    choice.message = choice.delta
    delete choice.delta
    choice.message.tool_calls = choice.message.tool_calls?.filter(isNode)
    for (const call of choice.message.tool_calls ?? []) delete call.index
  }
  return { ...whole, object: 'chat.completion' }
}

/** Texts that come as a whole with each piece. */
const named = new Set(['id', 'type', 'role', 'name', 'finish_reason', 'format'])

/** Texts and lists grow, entries that say their index by it; of other values, the last one counts. */
function grown(before: Json, more: Json, name: string = ''): Json {
  if (more === null || before === undefined || before === null) return more ?? before
  // Content in Mistral's form.
  if (name === 'content' && typeof before !== typeof more) return [before, more].flat()
  if (typeof more === 'string') return named.has(name) ? more || before : before + more
  if (!isNode(more)) return more
  const whole: Json = Array.isArray(before) ? [...before] : { ...before }
  if (!Array.isArray(more)) for (const [key, each] of Object.entries(more)) whole[key] = grown(whole[key], each, key)
  else for (const each of more) whole[each.index ?? whole.length] = grown(whole[each.index ?? whole.length], each)
  return whole
}

/** A message in its events. */
export function messageIn(events: readonly Json[]): Json {
  let whole: Json
  const blocks: Json[] = []
  const inputs: string[] = []
  for (const { type, message, index, content_block: block, delta, usage, ...more } of events) {
    if (type === 'message_start') whole ??= message
    else if (type === 'content_block_start') blocks[index] = { ...block }
    else if (type === 'message_delta')
      whole = { ...whole, ...withoutEmpty(delta), ...more, usage: { ...whole.usage, ...usage } }
    else if (type === 'content_block_delta') {
      const { type: _, partial_json: json = '', citation, ...rest } = delta
      inputs[index] = (inputs[index] ?? '') + json
      if (citation !== undefined) blocks[index].citations = [...(blocks[index].citations ?? []), citation]
      blocks[index] = grown(blocks[index], rest)
    }
  }
  const content = blocks.map((block, index) => (inputs[index] ? { ...block, input: inputOf(inputs[index]) } : block))
  return { ...whole, content }
}

/** Of a call that was cut, the text so far. */
function inputOf(text: string): Json {
  try {
    return parseJson(text)
  } catch {
    return text
  }
}

/** The response at the end of its events. */
export function responseIn(events: readonly Json[]): Json {
  return events.findLast(({ response }) => response).response
}

/** Google's response in its pieces. Texts grow up to a signature; calls grow as long as they say that they go on. */
export function contentIn(pieces: readonly Json[]): Json {
  let whole: Json = {}
  const candidates: Json[] = []
  for (const { candidates: more = [], ...head } of pieces) {
    whole = { ...whole, ...head }
    for (const { content, ...fields } of more) {
      const { index = 0 } = fields
      const parts = candidates[index]?.content.parts ?? []
      candidates[index] = { ...candidates[index], ...fields, content: { role: 'model', parts } }
      for (const part of content?.parts ?? []) addPart(parts, part)
    }
  }
  return candidates.length === 0 ? whole : { ...whole, candidates }
}

function addPart(parts: Json[], part: Json): void {
  const last = parts.at(-1)
  const goesOn = last?.text !== undefined && last.thoughtSignature === undefined && last.thought === part.thought
  if (part.text !== undefined && goesOn) parts[parts.length - 1] = { ...last, ...part, text: last.text + part.text }
  else if (part.text !== '' || part.thoughtSignature !== undefined) parts.push(part)
}

const junk: readonly Json[] = [null, 0, -1, 1e300, true, '', 'x', '{"a":', 'data:;base64,', [], [null], [[]], [{}], {}]

/** The body with one to four changes: junk in place of a value, a field less, an entry twice, or a value of another place. */
export function mutated(body: Json, random: () => number): Json {
  const copy = copyOf(body)
  const pick = (list: readonly Json[]) => list[Math.floor(random() * list.length)]
  for (let changes = 1 + Math.floor(random() * 4); changes > 0; changes--) {
    const places = placesIn(copy)
    if (places.length === 0) return copy
    const [node, name] = pick(places)
    const [other, otherName] = pick(places)
    const kind = Math.floor(random() * 5)
    if (kind <= 1) node[name] = copyOf(pick(junk))
    else if (kind === 2) remove(node, name)
    else if (kind === 3 && Array.isArray(node)) node.push(copyOf(node[name]))
    else node[name] = copyOf(other[otherName])
  }
  return copy
}

function remove(node: Json, name: string): void {
  if (Array.isArray(node)) node.splice(Number(name), 1)
  else delete node[name]
}

function copyOf(value: Json): Json {
  return parseJson(JSON.stringify(value ?? null))
}

/** Every place of a value: its object or list, and its name there. */
function placesIn(node: Json): [Json, string][] {
  if (!isNode(node)) return []
  return Object.entries(node).flatMap(([name, value]) => [[node, name] as [Json, string], ...placesIn(value)])
}
