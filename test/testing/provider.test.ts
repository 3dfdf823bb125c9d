import { geminiDialect } from '../../src/testing/dialects/gemini.ts'
import { anthropic, gemini, openai } from 'modelhatch/providers'
import { anthropicDialect, openaiDialect, testProvider } from 'modelhatch/testing'
import { describe, test } from 'vitest'

describe('openai', () => testProvider(test, (baseURL) => openai({ baseURL, apiKey: 'k' }), openaiDialect))

describe('anthropic', () => testProvider(test, (baseURL) => anthropic({ baseURL, apiKey: 'k' }), anthropicDialect))

describe('gemini', () => testProvider(test, (baseURL) => gemini({ baseURL, apiKey: 'k' }), geminiDialect))
