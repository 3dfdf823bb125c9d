/** Schemas that ask for much. */
import { chatWith, large, nested, times, user, wide, type WorstInput } from './input.ts'

function schemas(name: string, schema: () => string): WorstInput[] {
  return [
    chatWith(
      `a schema ${name}`,
      () => user,
      () => `,"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":${schema()}}}`,
    ),
    chatWith(
      `a tool with a schema ${name}`,
      () => user,
      () => `,"tool_choice":"required","tools":[{"type":"function","function":{"name":"x","parameters":${schema()}}}]`,
    ),
  ]
}

export const schemaInputs: readonly WorstInput[] = [
  ...schemas(
    'of very many properties',
    () =>
      `{"type":"object","properties":{${times(wide, (at) => `"p${at}":{"type":"string","description":"${'x'.repeat(900)}"}`)}}}`,
  ),
  ...schemas(
    'of very many required names',
    () =>
      `{"type":"object","required":[${times(wide, (at) => `"p${at}"`)}],"properties":{${times(wide, (at) => `"p${at}":{"type":"string"}`)}}}`,
  ),
  ...schemas('that is deep', () => nested(27, '{"type":"object","properties":{"a":', '{"type":"string"}', '}}')),
  ...schemas(
    'of very many references',
    () =>
      `{"type":"object","properties":{${times(wide, (at) => `"p${at}":{"$ref":"#/$defs/a"}`)}},"$defs":{"a":{"type":"object","required":[${times(wide, (at) => `"n${at}"`)}]}}}`,
  ),
  ...schemas('of a long reference', () => `{"allOf":[${times(480, () => `{"$ref":"#${'/a'.repeat(20_000)}"}`)}]}`),
  ...schemas(
    'that doubles at each step',
    () =>
      `{"$ref":"#/$defs/a0","$defs":{${times(60, (at) => `"a${at}":{"type":"object","properties":{"x":{"$ref":"#/$defs/a${at + 1}"},"y":{"$ref":"#/$defs/a${at + 1}"}},"required":["x","y"]}`)},"a60":{"type":"string"}}}`,
  ),
  ...schemas(
    'of very many alternatives',
    () => `{"anyOf":[${times(wide, (at) => `{"type":"object","properties":{"a${at}":{"const":${at}}}}`)}]}`,
  ),
  ...schemas(
    'of a large list of constants',
    () =>
      `{"type":"array","minItems":990,"items":{"const":[${times(wide, () => '"0123456789"')},"${'x'.repeat(50_000)}"]}}`,
  ),
  ...schemas('of a long pattern', () => `{"type":"string","pattern":"${'(a|b){99}'.repeat(large / 9)}"}`),
  ...schemas(
    'of a large choice',
    () => `{"type":"array","minItems":990,"items":{"enum":[${times(wide, (at) => `"c${at}"`)}]}}`,
  ),
]
