/** The OpenAPI document, made of the table of routes and the schemas that requests are checked by. */
import * as z from 'zod'
import { version } from '../../http/version.ts'
import { writeHeader } from './origin.ts'
import type { Route } from './route.ts'
import { componentName, errorBody } from './schemas/values.ts'

/** The document for a table of routes. */
export function openApi(routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {}
  const components = new Components()
  for (const each of routes) (paths[each.path] ??= {})[each.method.toLowerCase()] = operation(each, components)
  const error = components.referring(errorBody)
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
      schemas: components.schemas,
      responses: {
        Error: {
          description: 'An error. The header `x-request-id` identifies the request.',
          content: { 'application/json': { schema: error } },
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

function operation(each: Route, components: Components): object {
  const { name, summary, description, role, isContent, body, method } = each
  const note = role === 'admin' ? 'For the operator only.' : undefined
  const content = isContent === true ? 'For identities with `content` only, and noted in the audit log.' : undefined
  const text = [description, note, content].filter((part) => part !== undefined).join(' ')
  return {
    operationId: name,
    summary,
    ...(text !== '' && { description: text }),
    parameters: [
      ...pathParameters(each),
      ...queryParameters(each, components),
      ...(method === 'GET' ? [] : [{ $ref: '#/components/parameters/Write' }]),
    ],
    ...(body !== undefined && {
      requestBody: { required: true, content: { 'application/json': { schema: components.referring(body) } } },
    }),
    responses: { ...success(each, components), default: { $ref: '#/components/responses/Error' } },
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

function queryParameters({ query }: Route, components: Components): object[] {
  return Object.entries(query?.shape ?? {}).map(([name, field]) => {
    const { description, ...schema } = components.schemaOf(field as z.ZodType)
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

function success(each: Route, components: Components): object {
  switch (each.produces) {
    case 'json': {
      const content = { 'application/json': { schema: components.referring(each.response) } }
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

/** The schemas that have a name of their own, of those that are used. */
class Components {
  readonly schemas: Record<string, object> = {}

  /** The schema, or a reference if it has a name. */
  referring(schema: z.ZodType): object {
    return this.#reference(schema) ?? this.schemaOf(schema)
  }

  /** As JSON Schema, with references to the schemas inside that have a name. */
  schemaOf(schema: z.ZodType): Record<string, unknown> {
    const { $schema: _, ...found } = z.toJSONSchema(schema, {
      io: 'input',
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema, path }) => {
        const reference = path.length === 0 ? undefined : this.#reference(zodSchema as unknown as z.ZodType)
        if (reference === undefined) return
        for (const field of Object.keys(jsonSchema)) delete jsonSchema[field as keyof typeof jsonSchema]
        Object.assign(jsonSchema, reference)
      },
    })
    return found
  }

  #reference(schema: z.ZodType): { readonly $ref: string } | undefined {
    const name = componentName(schema)
    if (name === undefined) return undefined
    if (this.schemas[name] === undefined) {
      this.schemas[name] = {}
      this.schemas[name] = this.schemaOf(schema)
    }
    return { $ref: `#/components/schemas/${name}` }
  }
}
