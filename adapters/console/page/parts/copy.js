import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { t } from '../words.js'
import { announce } from './announce.js'
import { Button } from './button.js'

/** @param {{ text: string, label?: string, named?: boolean }} properties `named`: with its label as text. */
export function CopyButton({ text, label = t('copy'), named = false }) {
  const [copied, setCopied] = useState('')
  const copy = async () => {
    const done = await written(text)
    announce(done ? t('copied') : t('copyFailed'))
    if (done) setCopied(text)
  }
  const icon = copied === text ? 'check' : 'copy'
  return named ? h(Button, { icon, onClick: copy }, label) : h(Button, { kind: 'quiet', icon, label, onClick: copy })
}

/** Pages on plain HTTP have no clipboard but the one of selected text. @param {string} text */
async function written(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const { activeElement: focused } = document
    const area = document.createElement('textarea')
    area.value = text
    const parent = document.querySelector('dialog[open]') ?? document.body
    parent.append(area)
    area.select()
    const done = document.execCommand('copy')
    area.remove()
    if (focused instanceof HTMLElement) focused.focus()
    return done
  }
}
