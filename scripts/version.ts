const VERSION = /^(\d+)\.(\d+)\.(\d+)$/

/**
 * Why a version cannot follow another; undefined if it can.
 *
 * @param breaking the number of breaking changes to the API since the last release
 */
export function faultOf(version: string, before: string, breaking: number): string | undefined {
  const [next, last] = [version, before].map((text) => VERSION.exec(text)?.slice(1).map(Number))
  if (next === undefined || last === undefined) {
    return `"${version}" must be a version such as 2.0.0: npm run release 2.0.0`
  }
  const at = next.findIndex((part, index) => part !== last[index])
  if (at === -1 || (next[at] as number) < (last[at] as number)) return `${version} must be above ${before}.`
  if (breaking > 0 && at > 0) {
    return `The API has ${breaking} breaking ${breaking === 1 ? 'change' : 'changes'} since the last release, so the version must be at least ${(last[0] as number) + 1}.0.0.`
  }
  return undefined
}

/** A changelog whose unreleased changes, if there are any, belong to `version`. */
export function dated(changelog: string, version: string, day: string): string {
  return changelog.replace(/^(## Unreleased\n)(?=\n+[^\n#]|\n+###)/m, `$1\n## ${version} (${day})\n`)
}
