/** What stores do with rows that cannot be read. */
export { keyIn } from '../../src/callers/key-in.ts'
export { listIn, objectIn, valueIn } from '../../src/records/unreadable.ts'
