import { h } from './preact.js'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { get } from './api.js'
import { useLoad } from './load.js'
import { usePlace } from './location.js'
import { Navigation } from './navigation.js'
import { Announcements } from './parts/announce.js'
import { Palette, useShortcuts } from './parts/palette.js'
import { Empty, ErrorNotice, Loading } from './parts/notice.js'
import { entries } from './routes.js'
import { metaOf, Session } from './session.js'
import { chooseLanguage, language, t } from './words.js'

/** @import { Me } from './shapes.d.ts' */
/** @import { Language } from './words.js' */

export function App() {
  const { data: me, error, reload } = useLoad(whoAmI, [])
  const [, setShown] = useState(language())
  const changeLanguage = async (/** @type {Language} */ code) => {
    await chooseLanguage(code)
    setShown(code)
  }
  if (error !== undefined) return h('main', { class: 'alone' }, h(ErrorNotice, { error, retry: reload }))
  if (me === undefined) return h('main', { class: 'alone' }, h(Loading, null))
  return h(Session.Provider, { value: me }, h(Shell, { me, changeLanguage }))
}

/** @param {AbortSignal} signal @returns {Promise<Me>} */
async function whoAmI(signal) {
  const me = await get('me', {}, signal)
  return { ...me, isBilled: me.currency !== undefined }
}

/** @param {{ me: Me, changeLanguage: (code: Language) => unknown }} properties */
function Shell({ me, changeLanguage }) {
  const { path } = usePlace()
  const offered = entries.filter(({ isOffered }) => isOffered(me))
  const entry = path.length === 0 ? offered[0] : offered.find(({ name }) => name === path[0])
  const name = entry === undefined ? t('notFound') : t(`page_${entry.name}`)
  const title = path[1] === undefined ? name : `${path[1]} · ${name}`
  const main = useFocus(path.join('/'))
  const [isSearching, setSearching] = useState(false)
  const search = useCallback(() => setSearching(true), [])
  useShortcuts(search)
  useEffect(() => {
    document.title = `${title} · ${metaOf('application-name')}`
  }, [title])
  const skip = (/** @type {Event} */ event) => {
    event.preventDefault()
    main.current?.focus()
  }
  return h(
    'div',
    { class: 'shell' },
    h('a', { class: 'skip', href: '#main', onClick: skip }, t('skipToContent')),
    h(Navigation, { offered, current: entry?.name, me, changeLanguage, search }),
    h(
      'main',
      { id: 'main', ref: main, tabIndex: -1 },
      entry === undefined ? h(Empty, { title: t('notFound') }) : entry.page(me, path[1]),
    ),
    isSearching && h(Palette, { offered, onClose: () => setSearching(false) }),
    h(Announcements, null),
  )
}

/** After a change of the page, the focus is at its beginning, and a screen reader reads the heading. @param {string} address */
function useFocus(address) {
  const main = useRef(/** @type {HTMLElement | null} */ (null))
  const before = useRef(address)
  useEffect(() => {
    if (before.current === address) return
    before.current = address
    main.current?.querySelector('h1')?.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [address])
  return main
}
