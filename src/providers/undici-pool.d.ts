/** Types of undici's `Pool` where it stands alone. */
declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici'
  export = Pool
}
