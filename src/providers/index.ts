/** `modelhatch/providers`: all of `modelhatch/providers/…` in one import: the vendors, and what a custom provider is made of. */
export * from './anthropic/index.ts'
export * from './custom.ts'
export * from './demo/index.ts'
export * from './gemini/index.ts'
export * from './openai/index.ts'
export * from './videos/index.ts'
