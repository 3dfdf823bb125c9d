/** Types for the import of undici's `Pool` without the rest of undici. */
declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici'
  export = Pool
}
