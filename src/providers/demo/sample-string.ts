/** Creates a string that conforms to its schema: by format, otherwise from the question, otherwise a phrase. */
import type { Hints } from './hints.ts'
import type { SchemaObject } from './schema.ts'

/** An example for each format of JSON Schema, and for those that zod adds. */
const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-01-02T03:04:05Z',
  date: '2026-01-02',
  time: '03:04:05Z',
  duration: 'P3DT4H5M6S',
  email: 'ada@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  cidrv4: '192.0.2.0/24',
  cidrv6: '2001:db8::/32',
  uri: 'https://example.com/',
  'uri-reference': '/example',
  url: 'https://example.com/',
  'uri-template': 'https://example.com/{id}',
  uuid: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  guid: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  'json-pointer': '/example',
  'relative-json-pointer': '0',
  regex: '^example$',
  base64: 'ZGVtbw==',
  base64url: 'ZGVtbw',
  e164: '+15550100200',
}

/** Maximum length of a text, in characters. */
const maxLength = 2_000

export function sampleString(schema: SchemaObject, hints: Hints, name: string, nth: number): string {
  const format =
    typeof schema['format'] === 'string' ? schema['format'].replace(/^idn-/, '').replace(/^iri/, 'uri') : ''
  const least = Math.min(lengthIn(schema, 'minLength') ?? 0, maxLength)
  const most = Math.min(lengthIn(schema, 'maxLength') ?? maxLength, maxLength)
  if (Object.hasOwn(formats, format)) return formats[format] as string
  const hint = hints.named(name) ?? hints.guess(name)
  const text = hint !== undefined && nth === 0 ? hint : phrase(name, hints.question, nth)
  return text.padEnd(least, '.').slice(0, most)
}

/** `Sample title for "Write about cats."`, with a number for each further item of a list. */
function phrase(name: string, question: string, nth: number): string {
  const words =
    name
      .replace(/(?<=\p{Ll})(?=\p{Lu})|_/gu, ' ')
      .toLowerCase()
      .slice(0, 60) || 'text'
  const about = question.replace(/\s+/g, ' ').slice(0, 60)
  return `Sample ${words}${nth > 0 ? ` ${nth + 1}` : ''}${about === '' ? '' : ` for "${about}"`}`
}

function lengthIn(schema: SchemaObject, keyword: string): number | undefined {
  const value = schema[keyword]
  return typeof value === 'number' && value >= 0 ? Math.ceil(value) : undefined
}
