/** `modelhatch/providers/demo`: models without a vendor, for tests and first steps. Loads no vendor. */
export { demo, type DemoOptions, type DemoProvider } from './demo.ts'
