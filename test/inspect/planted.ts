/** Values that no vendor may get, made at random: cards, bank accounts, e-mail addresses, phone numbers, keys. */

type Random = () => number

function digits(random: Random, length: number): string {
  return Array.from({ length }, () => String(Math.floor(random() * 10))).join('')
}

function pick<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T
}

function letters(random: Random, length: number, from = 'abcdefghijklmnopqrstuvwxyz'): string {
  return Array.from({ length }, () => pick(random, Array.from(from))).join('')
}

function grouped(text: string, size: number, by: string): string {
  return (text.match(new RegExp(`.{1,${size}}`, 'g')) ?? []).join(by)
}

function card(random: Random): string {
  const [prefix, length] = pick(random, [
    ['4', 16],
    ['51', 16],
    ['2221', 16],
    ['34', 15],
    ['36', 14],
    ['6011', 16],
    ['3528', 16],
    ['4', 13],
    ['62', 19],
  ] as const)
  const body = prefix + digits(random, length - prefix.length - 1)
  let sum = 0
  for (let at = 0; at < body.length; at++) {
    const digit = Number(body[body.length - 1 - at])
    sum += at % 2 === 1 ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit
  }
  return grouped(body + String((10 - (sum % 10)) % 10), 4, pick(random, ['', ' ', '-']))
}

function iban(random: Random): string {
  const [country, length] = pick(random, [
    ['DE', 18],
    ['GB', 18],
    ['NL', 14],
    ['FR', 23],
    ['MT', 27],
    ['NO', 11],
  ] as const)
  const body = letters(random, 4, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789') + digits(random, length - 4)
  const plain = Array.from(`${body}${country}00`, (each) => Number.parseInt(each, 36)).join('')
  const check = 98n - (BigInt(plain) % 97n)
  return grouped(country + String(check).padStart(2, '0') + body, 4, pick(random, ['', ' ']))
}

function email(random: Random): string {
  const local = pick(random, [
    () => letters(random, 8),
    () => `${letters(random, 4)}.${letters(random, 5)}+${digits(random, 2)}`,
    () => `${letters(random, 3, 'äöüéñ日本')}_${letters(random, 3)}`,
  ])()
  return `${local}@${pick(random, ['example.org', 'mail.example.co.uk', 'bücher.example', 'a-b.example'])}`
}

function phone(random: Random): string {
  return pick(random, [
    () => `+49 ${digits(random, 3)} ${digits(random, 7)}`,
    () => `+1 (${digits(random, 3)}) ${digits(random, 3)}-${digits(random, 4)}`,
    () => `0${1 + Math.floor(random() * 9)}${digits(random, 2)}/${digits(random, 7)}`,
    () => `(0${digits(random, 3)}) ${digits(random, 6)}`,
    () => `00${1 + Math.floor(random() * 9)}${digits(random, 10)}`,
  ])()
}

function key(random: Random): string {
  const word = (length: number) =>
    letters(random, length, 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789')
  return pick(random, [
    () => `sk-proj-${word(48)}`,
    () => `sk-ant-api03-${word(80)}-AA`,
    () => `AIza${word(35)}`,
    () => `AKIA${letters(random, 16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}`,
    () => `ghp_${word(36)}`,
    () => `xoxb-${digits(random, 12)}-${word(24)}`,
    () => `sk_live_${word(24)}`,
    () => `eyJ${word(20)}.eyJ${word(30)}.${word(40)}`,
  ])()
}

export function plantedValue(random: Random): string {
  return pick(random, [card, iban, email, phone, key])(random)
}
