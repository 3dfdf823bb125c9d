/** `modelhatch/providers/rerank`: vendors that rank documents alone. Loads no other vendor. */
export { cohereRerank, jinaRerank, teiRerank, voyageRerank } from './rerank.ts'
export type { SimpleVendorOptions } from '../simple-vendor.ts'
