/** The OpenAPI document, made of the table of routes and the schemas that requests are checked by. */
import * as z from 'zod'
import { version } from '../../http/version.ts'
import { writeHeader } from './origin.ts'
import type { Route } from './route.ts'
import { createdKey, key, keyChange, newKey, rotatedKey } from './schemas/key.ts'
import { model } from './schemas/model.ts'
import { account, cap, entry, invoiceItem } from './schemas/money.ts'
import {
  groupChange,
  modelChange,
  newGroup,
  newModel,
  newPrice,
  registryGroup,
  registryModel,
  registryPrice,
} from './schemas/registry.ts'
import { request, usageRow } from './schemas/usage.ts'
import { errorBody } from './schemas/values.ts'
import { video } from './schemas/video.ts'

/** The schemas that have a name of their own. */
const components = new Map<z.ZodType, string>([
  [key, 'Key'],
  [newKey, 'NewKey'],
  [keyChange, 'KeyChange'],
  [createdKey, 'CreatedKey'],
  [rotatedKey, 'RotatedKey'],
  [account, 'Account'],
  [entry, 'Entry'],
  [cap, 'Cap'],
  [invoiceItem, 'InvoiceItem'],
  [usageRow, 'UsageRow'],
  [request, 'Request'],
  [video, 'Video'],
  [model, 'Model'],
  [registryModel, 'RegistryModel'],
  [newModel, 'NewRegistryModel'],
  [modelChange, 'RegistryModelChange'],
  [registryGroup, 'RegistryGroup'],
  [newGroup, 'NewRegistryGroup'],
  [groupChange, 'RegistryGroupChange'],
  [registryPrice, 'RegistryPrice'],
  [newPrice, 'NewRegistryPrice'],
  [errorBody, 'Error'],
])

/** The document for a table of routes. */
export function openApi(routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const each of routes) (paths[each.path] ??= {})[each.method.toLowerCase()] = operation(each)
  return {
    openapi: '3.1.0',
    info: {
      title: 'modelhatch admin API',
      version,
      description:
        'Times are milliseconds since the epoch, amounts decimal strings. Whatever the identity may not reach is a 404.',
    },
    servers: [{ url: '.', description: 'The folder of this document.' }],
    paths,
    components: {
      schemas: Object.fromEntries([...components].map(([schema, name]) => [name, schemaOf(schema)])),
      responses: {
        Error: {
          description: 'An error. The header `x-request-id` identifies the request.',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
        },
      },
      parameters: {
        Write: {
          name: writeHeader,
          in: 'header',
          required: true,
          schema: { type: 'string' },
          description: 'Any value, such as `1`. Pages of other origins cannot send it.',
        },
      },
    },
  }
}

function operation(each: Route): object {
  const { name, summary, description, role, body, method } = each
  const note = role === 'admin' ? 'For the operator only.' : undefined
  const text = [description, note].filter((part) => part !== undefined).join(' ')
  return {
    operationId: name,
    summary,
    ...(text !== '' && { description: text }),
    parameters: [
      ...pathParameters(each),
      ...queryParameters(each),
      ...(method === 'GET' ? [] : [{ $ref: '#/components/parameters/Write' }]),
    ],
    ...(body !== undefined && {
      requestBody: { required: true, content: { 'application/json': { schema: referring(body) } } },
    }),
    responses: { ...success(each), default: { $ref: '#/components/responses/Error' } },
  }
}

function pathParameters({ path }: Route): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

function queryParameters({ query }: Route): object[] {
  return Object.entries(query?.shape ?? {}).map(([name, field]) => {
    const { description, ...schema } = schemaOf(field as z.ZodType)
    const isRequired = !(field instanceof z.ZodOptional)
    const isList = schema['type'] === 'array'
    return {
      name,
      in: 'query',
      ...(isRequired && { required: true }),
      ...(isList && { style: 'form', explode: false }),
      ...(description !== undefined && { description }),
      schema,
    }
  })
}

const text = { schema: { type: 'string' } }

function success(each: Route): object {
  switch (each.produces) {
    case 'json': {
      const content = { 'application/json': { schema: referring(each.response) } }
      return each.status === 201
        ? { 201: { description: 'Created.', content } }
        : { 200: { description: 'The result.', content } }
    }
    case 'csv':
      return { 200: { description: 'A CSV file with a header line.', content: { 'text/csv': text } } }
    case 'jsonl':
      return { 200: { description: 'One JSON object a line.', content: { 'application/jsonl': text } } }
    case 'bytes':
      return {
        200: { description: 'The whole file.', content: { 'application/octet-stream': {} } },
        206: { description: 'The part in the header `range`.', content: { 'application/octet-stream': {} } },
        302: { description: 'Where the file can be downloaded.' },
      }
  }
}

/** The schema, or a reference if it has a name. */
function referring(schema: z.ZodType): object {
  const name = components.get(schema)
  return name === undefined ? schemaOf(schema) : { $ref: `#/components/schemas/${name}` }
}

/** As JSON Schema, with references to the schemas inside that have a name. */
function schemaOf(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...found } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema, path }) {
      const name = components.get(zodSchema as unknown as z.ZodType)
      if (name === undefined || path.length === 0) return
      for (const field of Object.keys(jsonSchema)) delete jsonSchema[field as keyof typeof jsonSchema]
      jsonSchema.$ref = `#/components/schemas/${name}`
    },
  })
  return found
}
