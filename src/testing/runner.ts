/** Registers a test: the `test` of vitest, node:test or jest, or mocha's `it`. */
export type TestFunction = (name: string, body: () => Promise<void>) => unknown
