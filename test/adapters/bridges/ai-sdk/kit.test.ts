/** Real packages of the AI SDK as providers, held to the contract of a provider. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { fromAiSdk } from 'modelhatch/ai-sdk'
import { anthropicDialect, geminiDialect, testProvider, type TestFunction } from 'modelhatch/testing'
import { describe, test } from 'vitest'

/** Bytes are the SDK's own affair: once through them is enough. */
const once: TestFunction = (name, body) => void (name.includes('cut at every byte') || test(name, body))

describe('@ai-sdk/anthropic', () => {
  const make = (baseURL: string) => fromAiSdk(createAnthropic({ baseURL, apiKey: 'k' })(anthropicDialect.model))
  testProvider(once, make, anthropicDialect)
})

describe('@ai-sdk/google, the whole provider', () => {
  const make = (baseURL: string) =>
    fromAiSdk(createGoogleGenerativeAI({ baseURL: baseURL.replace('/v1', '/v1beta'), apiKey: 'k' }))
  testProvider(once, make, geminiDialect)
})
