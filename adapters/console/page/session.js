import { createContext } from './preact.js'
import { useContext } from 'preact/hooks'

/** @import { Me } from './shapes.d.ts' */

export const Session = createContext(/** @type {Me} */ ({}))

/** Who uses the page, and what the gateway offers. */
export const useSession = () => useContext(Session)

/** @param {string} name */
export const metaOf = (name) => document.querySelector(`meta[name="${name}"]`)?.getAttribute('content') ?? ''
