/** Real packages of the AI SDK as providers, tested against the provider contract. */
import { geminiDialect } from '../../../../src/testing/dialects/gemini.ts'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { fromAiSdk } from 'modelhatch/ai-sdk'
import { anthropicDialect, testProvider, type TestFunction } from 'modelhatch/testing'
import { describe, test } from 'vitest'

/** Skips the slow test that splits the stream at each byte: the SDK reads the bytes, not the bridge. */
const quick: TestFunction = (name, body) => void (name.includes('split in two at any byte') || test(name, body))

describe('@ai-sdk/anthropic', () => {
  const make = (baseURL: string) => fromAiSdk(createAnthropic({ baseURL, apiKey: 'k' })(anthropicDialect.model))
  testProvider(quick, make, anthropicDialect)
})

describe('@ai-sdk/google, the whole provider', () => {
  const make = (baseURL: string) =>
    fromAiSdk(createGoogleGenerativeAI({ baseURL: baseURL.replace('/v1', '/v1beta'), apiKey: 'k' }))
  testProvider(quick, make, geminiDialect)
})
