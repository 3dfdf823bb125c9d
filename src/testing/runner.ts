/** The runner of a kit's tests: `test` of vitest, node:test, mocha (`it`) and others fits as it is. */
export type TestFunction = (name: string, body: () => Promise<void>) => unknown
