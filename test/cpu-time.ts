/** Milliseconds of CPU this process has used: unlike a clock, unaffected by whatever else the machine is doing. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
