/** The Interactions API as a format of `gemini()`, by the kit for providers. */
import { gemini } from 'modelhatch/providers'
import { testProvider, type TestFunction } from 'modelhatch/testing'
import { test } from 'vitest'
import { interactionsDialect } from '../../src/testing/dialects/interactions.ts'

/** How the API reports what its filter stops is not documented. */
const documented: TestFunction = (name, body) => void (name.includes('content_filter') || test(name, body))

testProvider(documented, (baseURL) => gemini({ baseURL, apiKey: 'k' }), interactionsDialect)
