/** Throws a `TypeError` on a Node.js that lacks what the gateway needs: later it would show as a 500 of some calls only. */
export function requireNode(version: string): void {
  if (Number.parseInt(version, 10) >= 22) return
  throw new TypeError(`createGateway: needs Node.js 22.19 or newer, and this is ${version}.`)
}
