import { expect, test } from 'vitest'
import { anthropic, gemini, openai, openaiVideo, seedanceVideo } from '../../src/providers/index.ts'

const makers = { anthropic, gemini, openai, openaiVideo, seedanceVideo }

test.each(Object.entries(makers))('%s rejects an invalid base URL without repeating it', (_, make) => {
  for (const baseURL of ['api.example.com/v1', 'ftp://example.com', 'https://user:secret@example.com/v1', '']) {
    expect(() => make({ baseURL })).toThrow(/^baseURL must be an http\(s\) URL without credentials/)
  }
})
