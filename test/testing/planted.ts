/** Runs a kit against a faulty store and tells which of its tests failed. */
import type { TestFunction } from '../../src/testing/runner.ts'

export async function failuresOf(kit: (test: TestFunction) => void): Promise<string[]> {
  const tests: { name: string; body: () => Promise<void> }[] = []
  kit((name, body) => tests.push({ name, body }))
  const failed: string[] = []
  for (const { name, body } of tests) {
    try {
      await body()
    } catch {
      failed.push(name)
    }
  }
  return failed
}
