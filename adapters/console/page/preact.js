// With types of its own beside it.
export { createContext, h, render } from 'preact'
