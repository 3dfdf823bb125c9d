import { anthropic, gemini, openai } from 'modelhatch/providers'
import { anthropicDialect, geminiDialect, openaiDialect, testProvider } from 'modelhatch/testing'
import { describe, test } from 'vitest'

describe('openai', () => testProvider(test, (baseUrl) => openai({ baseUrl, apiKey: 'k' }), openaiDialect))

describe('anthropic', () => testProvider(test, (baseUrl) => anthropic({ baseUrl, apiKey: 'k' }), anthropicDialect))

describe('gemini', () => testProvider(test, (baseUrl) => gemini({ baseUrl, apiKey: 'k' }), geminiDialect))
