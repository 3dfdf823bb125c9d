/** Mutations of the seeds. Deterministic for the same random numbers. */
import { hasShared, sharedJson } from '../shared.ts'
import { mutant as formMutant, type Random } from '../uploads/mutants.ts'
import { json } from './asking.ts'
import { hostedTypes, seeds, vendorHeaders } from './seeds.ts'

export interface Body {
  readonly path: string
  readonly contentType: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: Buffer
}

type Fields = Record<string, unknown>

const forms = ['/v1/audio/transcriptions', '/v1/images/edits', '/v1/images/variations', '/v1/videos']

const texts = [
  ...hostedTypes,
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202e',
  'x'.repeat(3_000),
  '__proto__',
  'constructor',
  'data:,',
  'http://[',
  '../..',
  '-1',
  '1e999',
  'null',
]
const naughty = hasShared ? (sharedJson('corpora/naughty-strings.json') as string[]) : []
const values: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  -0,
  2 ** 53,
  [],
  {},
  [[]],
  [null],
  [{}],
  { type: 'x' },
  { a: { b: [1] } },
  ['x', 1],
]
const names = [
  'tools',
  'tool_choice',
  'response_format',
  'stream',
  'n',
  'stop',
  'logprobs',
  'top_logprobs',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'messages',
  'input',
  'prompt',
  'metadata',
  'user',
  'include',
  'reasoning',
  'text',
  'modalities',
  'audio',
  'prediction',
  'functions',
  'function_call',
  'suffix',
  'best_of',
  'logit_bias',
  'previous_response_id',
  'conversation',
  'background',
  'truncation',
  'size',
  'seconds',
  'duration',
  'input_reference',
  'images',
  'mask',
  'partial_images',
  'dimensions',
  'parallel_tool_calls',
  'reasoning_effort',
  'verbosity',
  'service_tier',
  'file_id',
  'tool',
  'definition',
  'mcp_servers',
  'container',
  'inference_geo',
  'store',
  'system',
  'web_search_options',
  '__proto__',
  'toString',
  'hasOwnProperty',
  'then',
  'toJSON',
]

export function almostValid(random: Random, mark: string): Body {
  const pick = <T>(list: readonly T[]) => list[random(list.length)] as T
  if (random(8) === 0) {
    const body = Buffer.from(formMutant(random).replaceAll('\r\n\r\nm\r\n', '\r\n\r\ndemo\r\n'), 'latin1')
    return { path: pick(forms), contentType: 'multipart/form-data; boundary=b', body }
  }
  const [path, models, fieldsOf] = pick(seeds)
  const fields: Fields = { model: pick(models), ...fieldsOf(mark) }
  const value = () => {
    const kind = random(4)
    if (kind === 0) return pick(texts)
    return kind === 1 && naughty.length > 0 ? pick(naughty) : structuredClone(pick(values))
  }
  for (let changes = random(4); changes > 0; changes--) change(fields, random, pick, value)
  let text = JSON.stringify(fields)
  if (random(10) === 0) text = text.replace('{', `{"${pick(names)}":${JSON.stringify(value())},`)
  let body = Buffer.from(text)
  for (let damage = random(6) === 0 ? 1 + random(3) : 0; damage > 0; damage--) body = damaged(body, random)
  return {
    path,
    contentType: random(40) === 0 ? pick(['text/plain', '', 'application/json; charset=utf-16']) : json,
    ...(random(4) === 0 && { headers: { [pick(vendorHeaders)]: random(2) === 0 ? pick(hostedTypes) : mark } }),
    body,
  }
}

/** One change somewhere in the tree. */
function change(tree: Fields, random: Random, pick: <T>(list: readonly T[]) => T, value: () => unknown): void {
  let at: Fields = tree
  for (let depth = random(5); depth > 0; depth--) {
    const inner = Object.values(at).filter((each) => typeof each === 'object' && each !== null)
    if (inner.length === 0) break
    at = pick(inner) as Fields
  }
  const known = Object.keys(at)
  const name = known.length > 0 && random(3) > 0 ? pick(known) : pick(names)
  // The model decides which provider reads the rest.
  if (at === tree && name === 'model' && random(10) > 0) return
  const before = at[name]
  switch (random(5)) {
    case 0:
      delete at[name]
      break
    case 1:
      at[name] = [before]
      break
    case 2:
      at[name] = Array.isArray(before) ? [...before, ...before, value()] : value()
      break
    default:
      at[name] = value()
  }
}

function damaged(body: Buffer<ArrayBuffer>, random: Random): Buffer<ArrayBuffer> {
  const at = random(body.length + 1)
  const tokens = ['{', '}', '[', ']', '"', '\\', ',', ':', '\u0000', '\ufeff', '\\u', 'e', '-']
  const piece = Buffer.from(random(4) === 0 ? [random(256)] : (tokens[random(tokens.length)] as string))
  return Buffer.concat([body.subarray(0, at), piece, body.subarray(at + random(3))])
}
