/** Validation of embedding requests. Source of the fields: OpenAI's CreateEmbeddingRequest. */
import * as z from 'zod'
import { invalid } from '../../errors.ts'
import type { EmbeddingInput, EmbeddingRequest } from '../../wire/embeddings.ts'
import { jsonReader, type ReadOrder } from '../json-reader.ts'
import { lazy } from '../../records/lazy.ts'

/** Inputs of one request. */
export const maxInputs = 2048

const schema = lazy(() =>
  z.looseObject({
    model: z.string().min(1),
    encoding_format: z.enum(['float', 'base64']).nullish(),
    dimensions: z.int().min(1).nullish(),
    user: z.string().nullish(),
  }),
)

/** Reads and validates an embedding request. */
export const readEmbedding: ReadOrder<EmbeddingRequest> = jsonReader(schema, {
  stream: false,
  more: (body) => checkInput(body.get('input')),
})

/** The single inputs, each a text or a list of tokens. */
export function inputsOf(input: EmbeddingInput): readonly (string | readonly number[])[] {
  return typeof input === 'string' || isTokens(input) ? [input] : input
}

function checkInput(input: unknown): void {
  if (input === undefined || input === null) throw invalid('Missing required parameter: "input".', 'input')
  if (input === '') throw invalid('Invalid value for "input": must not be an empty string.', 'input')
  if (typeof input === 'string' || isTokens(input)) return
  if (!Array.isArray(input) || input.length === 0) throw wrong('input')
  if (input.length > maxInputs) {
    throw invalid(`Invalid value for "input": must have at most ${maxInputs} inputs.`, 'input')
  }
  const texts = typeof input[0] === 'string'
  const wrongAt = input.findIndex((each) => (texts ? typeof each !== 'string' : !isTokens(each)))
  if (wrongAt >= 0) throw wrong(`input[${wrongAt}]`)
}

function isTokens(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => Number.isInteger(each))
}

function wrong(param: string) {
  const what = 'must be a string, an array of strings, an array of tokens, or an array of arrays of tokens'
  return invalid(`Invalid value for "${param}": ${what}.`, param)
}
