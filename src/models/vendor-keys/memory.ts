import type { VendorKeyName, VendorKeyRecord, VendorKeyStore } from './contract.ts'

/** Accounts' own keys at vendors in the memory of this process, which are lost on restart. */
export function memoryVendorKeyStore(): VendorKeyStore {
  const records = new Map<string, VendorKeyRecord>()
  let revision = 0
  return {
    put(record) {
      records.set(placeOf(record), record)
      revision++
    },
    reseal(record, before) {
      const place = placeOf(record)
      const known = records.get(place)
      if (known?.sealed !== before) return false
      records.set(place, { ...known, sealed: record.sealed })
      return true
    },
    list: (account) => [...records.values()].filter((record) => record.account === account),
    page(after, limit) {
      const from = after === undefined ? '' : placeOf(after)
      const places = [...records.keys()].filter((place) => place > from).sort()
      return places.slice(0, limit).map((place) => records.get(place) as VendorKeyRecord)
    },
    delete(name) {
      records.delete(placeOf(name))
      revision++
    },
    deleteAll(account) {
      for (const [place, record] of records) if (record.account === account) records.delete(place)
      revision++
    },
    revision: () => String(revision),
  }
}

function placeOf({ account, provider }: VendorKeyName): string {
  return JSON.stringify([account, provider])
}
