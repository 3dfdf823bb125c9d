import { h, render } from './preact.js'
import { App } from './app.js'
import { preferred, setLanguage } from './words.js'

const root = document.getElementById('console')
await setLanguage(preferred())
if (root !== null) render(h(App, null), root)
