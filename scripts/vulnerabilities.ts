// Queries the registry for known vulnerabilities. One in a production dependency fails the check; one in a development
// dependency is only printed.
import { NOT_CHECKED, run } from './run-command.mjs'

type Advisory = {
  title: string
  severity: string
  url: string
  module_name: string
  findings: { version: string; paths: string[]; dev: boolean }[]
}

const args = ['audit', '--json', '--config.fetch-retries=0', '--config.fetch-timeout=10000']
const { stdout, output } = await run('pnpm', args, { quiet: true })
const advisories = advisoriesIn(stdout)
if (advisories === undefined) {
  console.log(`The registry is unavailable, so vulnerabilities were not checked.\n${output.trim()}`)
  process.exitCode = NOT_CHECKED
} else {
  for (const { severity, title, url, module_name, findings } of advisories) {
    for (const { version, paths, dev } of findings) {
      console.log(`${severity}${dev ? ', in development only' : ''}: ${module_name}@${version}, ${title}, ${url}`)
      console.log(`  ${paths.join('\n  ')}`)
      if (!dev) process.exitCode = 1
    }
  }
}

function advisoriesIn(text: string): Advisory[] | undefined {
  try {
    return Object.values(JSON.parse(text).advisories)
  } catch {
    return undefined
  }
}
