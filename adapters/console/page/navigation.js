import { h } from './preact.js'
import { useState } from 'preact/hooks'
import { signOut } from './api.js'
import { useAction } from './load.js'
import { linkTo } from './location.js'
import { Button, segments } from './parts/button.js'
import { Icon } from './parts/icon.js'
import { ErrorNotice } from './parts/notice.js'
import { metaOf } from './session.js'
import { setTheme, theme } from './theme.js'
import { language, languages, t } from './words.js'

/** @import { Me } from './shapes.d.ts' */
/** @import { Entry, PageName } from './routes.js' */
/** @import { Language } from './words.js' */
/** @import { Theme } from './theme.js' */

/** @param {{ offered: readonly Entry[], current: PageName | undefined, me: Me, changeLanguage: (code: Language) => unknown, search: () => unknown }} properties */
export function Navigation({ offered, current, me, changeLanguage, search }) {
  const [open, setOpen] = useState(false)
  const ending = useAction(signOut)
  return h(
    'header',
    { class: open ? 'side open' : 'side' },
    h(
      'div',
      { class: 'brand' },
      h(Mark, null),
      h('span', null, metaOf('application-name')),
      h(
        'span',
        { class: 'menu' },
        h(Button, { kind: 'quiet', icon: 'menu', label: t('menu'), pressed: open, onClick: () => setOpen(!open) }),
      ),
    ),
    h('button', { type: 'button', class: 'find', onClick: search }, t('goTo'), h('kbd', null, 'Ctrl K')),
    h(
      'nav',
      { 'aria-label': t('pages'), onClick: () => setOpen(false) },
      ...offered.map(({ name }) =>
        h(
          'a',
          { href: linkTo([name]), key: name, 'aria-current': name === current ? 'page' : undefined },
          h(Icon, { name }),
          name === 'accounts' && me.role === 'account' ? t('by_account') : t(`page_${name}`),
        ),
      ),
    ),
    h(
      'div',
      { class: 'foot' },
      h(
        'p',
        { class: 'who' },
        h('span', null, me.role === 'admin' ? t('operator') : t('by_account')),
        me.account !== undefined && h('strong', null, me.account),
        me.readOnly && h('em', null, t('readOnly')),
        metaOf('sign-out') &&
          h('button', { type: 'button', class: 'link', onClick: () => void ending.run() }, t('signOut')),
      ),
      h(ErrorNotice, { error: ending.error }),
      h(Preferences, { changeLanguage }),
      h('p', { class: 'fine' }, `modelhatch ${me.version}`),
    ),
  )
}

/** @param {{ changeLanguage: (code: Language) => unknown }} properties */
function Preferences({ changeLanguage }) {
  const [shown, setShown] = useState(theme)
  const choose = (/** @type {Theme} */ chosen) => {
    setTheme(chosen)
    setShown(chosen)
  }
  return h(
    'div',
    { class: 'preferences' },
    segments({
      label: t('theme'),
      choices: /** @type {const} */ (['system', 'light', 'dark']),
      chosen: shown,
      onChoose: choose,
      nameOf: (name) => t(`theme_${name}`),
      iconOf: (name) => name,
    }),
    h(
      'select',
      {
        'aria-label': t('language'),
        value: language(),
        onChange: (event) => changeLanguage(/** @type {Language} */ (event.currentTarget.value)),
      },
      ...Object.entries(languages).map(([code, name]) => h('option', { value: code, lang: code }, name)),
    ),
  )
}

function Mark() {
  return h(
    'svg',
    { class: 'mark', viewBox: '0 0 24 24', width: 24, height: 24, 'aria-hidden': 'true' },
    h('path', { d: 'M4 20V8.5L12 3l8 5.5V20h-4.5v-8.6L12 9l-3.5 2.4V20z', fill: 'currentColor' }),
  )
}
