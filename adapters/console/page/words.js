/** The language of the page. Only the one that is chosen is loaded. */
import { setPreference, preference } from './preferences.js'

/** @import { en } from './words/en.js' */
/** @typedef {keyof typeof en} Word */
/** @typedef {Readonly<Record<Word, string>>} Dictionary */

/** Languages by their code, each in its own words. */
export const languages = { en: 'English', zh: '中文' }

/** @typedef {keyof typeof languages} Language */

/** @type {Dictionary} */
let dictionary
/** @type {Language} */
let current = 'en'

/** The code of the language, for `Intl`. */
export const language = () => current

/** The language chosen before, or else the browser's. @returns {Language} */
export function preferred() {
  const asked = [preference('language') ?? '', ...navigator.languages].map((each) => each.slice(0, 2).toLowerCase())
  return /** @type {Language} */ (asked.find((each) => Object.hasOwn(languages, each)) ?? 'en')
}

/** @param {Language} code */
export async function setLanguage(code) {
  dictionary = code === 'zh' ? (await import('./words/zh.js')).zh : (await import('./words/en.js')).en
  current = code
  document.documentElement.lang = code === 'zh' ? 'zh-Hans' : code
}

/** @param {Language} code */
export function chooseLanguage(code) {
  setPreference('language', code)
  return setLanguage(code)
}

/**
 * A text in the current language. `{name}` is replaced with a value.
 * @param {Word} word
 * @param {Readonly<Record<string, string | number>>} [values]
 */
export function t(word, values) {
  const text = dictionary[word]
  return values === undefined ? text : text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ''))
}

/**
 * The text of a value that the API names, such as an outcome; the value itself if it is a new one.
 * @param {string} prefix @param {string} value @param {string} [otherwise]
 */
export function named(prefix, value, otherwise = value) {
  const word = `${prefix}_${value}`
  return Object.hasOwn(dictionary, word) ? dictionary[/** @type {Word} */ (word)] : otherwise
}
